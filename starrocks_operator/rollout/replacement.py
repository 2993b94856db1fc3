"""The step that replaces one pod, or brings that a step nearer; all of them say which very pod they are about."""

from __future__ import annotations

from starrocks_operator.rollout.roll import Method, Roll, RollPod
from starrocks_operator.step import Step, StepKind


def replacement(roll: Roll, target: RollPod, *, reason: str) -> Step | None:
    """None: nothing but waiting is left to do. reason: a sentence for a person."""
    if target.pod.deleting or roll.lagging or (roll.changing and roll.method == Method.PARTITION):
        return None
    if roll.strategy.get("type") == "OnDelete" and not roll.changing:
        return _deleted(roll, target, reason)
    if roll.method == Method.PARTITION and target.ordinal >= roll.partition:
        return _deleted(roll, target, reason)  # its controller waits for another pod
    if roll.method == Method.PARTITION and not _between(roll, target):
        to = str(target.ordinal)
        return _step(StepKind.REPLACE_POD, roll, target, reason, (("from", str(roll.partition)), ("to", to)))
    return _step(StepKind.OFFER_TEMPLATE, roll, target, reason)


def _between(roll: Roll, target: RollPod) -> bool:
    """Whether lowering the partition that far would replace others, too."""
    return any(target.ordinal < pod.ordinal < roll.partition for pod in roll.old)


def _deleted(roll: Roll, target: RollPod, reason: str) -> Step:
    return _step(StepKind.DELETE_POD, roll, target, reason)


def _step(kind: StepKind, roll: Roll, target: RollPod, reason: str, facts: tuple[tuple[str, str], ...] = ()) -> Step:
    about = (("component", roll.component), ("uid", target.pod.uid), ("template", roll.wanted_hash))
    return Step(kind=kind, target=target.name, reason=reason, reversible=True, expects=(*about, *facts))
