"""What is to be done for one ComputeNodeGroup now: a pure function of the group and of what was seen of it.

Pods come first and go last: a compute node is registered when its process runs, and its pod goes only when FE has
forgotten it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from starrocks_operator.components import CN_GROUP
from starrocks_operator.decision import Context, Decision, Finding
from starrocks_operator.due import Due, Object, due, owner_uid
from starrocks_operator.group.cases import COMPONENT, cases_of, pods_of, stateful_set_of, wished_of
from starrocks_operator.group.faults import standing
from starrocks_operator.group.table import Case, Move
from starrocks_operator.model import ComputeNodeGroup
from starrocks_operator.objects.compute_node_group import PART, build_group
from starrocks_operator.objects.names import autoscaler_name
from starrocks_operator.observed import ObjectKey, Observed
from starrocks_operator.quiet.pause import is_paused, paused
from starrocks_operator.step import Step, StepKind

IGNORED = "starrocks.com/ignored"
PACE = 2.0  # seconds between looks at FE while compute nodes leave

_STEPS: dict[Move, tuple[StepKind, str, bool]] = {
    Move.ADD: (StepKind.ADD_COMPUTE_NODE, "{pod} runs at {address}: FE is told of it.", True),
    Move.WELCOME: (StepKind.UNBLACKLIST_COMPUTE_NODE, "{pod} is wanted again: it gets queries again.", True),
    Move.DROP: (StepKind.DROP_COMPUTE_NODE, "{address} of {pod} is no longer wanted: FE forgets it.", False),
    Move.SHUN: (StepKind.BLACKLIST_COMPUTE_NODE, "{pod} is no longer wanted: it gets no new queries.", True),
}


def decide_group(group: ComputeNodeGroup, observed: Observed, *, default_profile: str = "") -> Decision:
    """The one decision. default_profile: groups have none; it is there because clusters' decisions take it."""
    del default_profile
    cases = cases_of(group, observed)
    context = Context(
        profile="upstream",
        components=(PART,),
        replicas={COMPONENT: replicas_of(group, observed, cases)},
        properties=_properties(observed),
        live={COMPONENT: live} if (live := live_replicas(group, observed)) is not None else {},
    )
    findings = standing(group, observed)
    step = None if is_ignored(group) else next_step(cases)
    waits = tuple(wait for case in cases if (wait := _wait(case)))
    if group.is_deleted or is_ignored(group):
        released = group.is_deleted and _nothing_left(observed, cases)
        return Decision(
            context=context,
            step=step,
            waits=waits or (("it is deleted: its compute nodes are being removed from FE",) if not released else ()),
            findings=findings,
            fingerprint=_fingerprint((), (), step),
            pace=PACE,
            released=released,
        )
    decision = _applied(group, observed, context, step, waits, findings)
    return paused(decision) if is_paused(group.annotations) else decision


def is_ignored(group: ComputeNodeGroup) -> bool:
    """Whether its owner told operators to leave it alone."""
    return group.annotations.get(IGNORED, "").lower() == "true"


def live_replicas(group: ComputeNodeGroup, observed: Observed) -> int | None:
    live = observed.children.get("StatefulSet", stateful_set_of(group))
    return None if live is None else int((live.get("spec") or {}).get("replicas", 1))


def replicas_of(group: ComputeNodeGroup, observed: Observed, cases: Sequence[Case]) -> int:
    """As many as wished for, and those pods above that FE still knows; all of them while FE cannot be asked."""
    live, wished = live_replicas(group, observed), wished_of(group)
    if live is None or live <= wished:
        return wished
    if observed.view is None or observed.view.compute_nodes is None:
        return live
    pods, by_pod = pods_of(group, observed), {case.pod: case for case in cases}
    for ordinal in range(live - 1, wished - 1, -1):
        case = by_pod.get(pods[ordinal]["metadata"]["name"]) if ordinal in pods else None
        if case is not None and case.move != Move.GONE:
            return ordinal + 1
    return wished


def next_step(cases: Sequence[Case]) -> Step | None:
    """The one step to take in FE: those that join before those that leave."""
    for move, (kind, reason, reversible) in _STEPS.items():
        for case in cases:
            if case.move == move:
                expects = (("id", case.row.id),) if case.row is not None else ()
                if move == Move.DROP and case.row is not None and not case.row.alive:
                    expects = (*expects, ("alive", "false"))
                said = reason.format(pod=case.pod or "a pod that is gone", address=case.address)
                return Step(kind=kind, target=case.address, reason=said, reversible=reversible, expects=expects)
    return None


def _applied(
    group: ComputeNodeGroup,
    observed: Observed,
    context: Context,
    step: Step | None,
    waits: tuple[str, ...],
    findings: tuple[Finding, ...],
) -> Decision:
    cluster = group.as_cluster()
    missing = next((item.missing for item in observed.configurations.values() if item.missing), "")
    if missing:  # the ports are in it
        held = f"held until {missing} exists"
        return Decision(
            context=context, waits=(held,), findings=findings, held={PART: held}, fingerprint=_fingerprint((), (), None)
        )
    objects = build_group(group, replicas=context.replicas[COMPONENT], properties=context.properties.get(COMPONENT, {}))
    found: Due = due(cluster, objects, observed.children)
    scaler = ObjectKey("HorizontalPodAutoscaler", autoscaler_name(cluster))
    unwanted = observed.children.get(scaler.kind, scaler.name)
    prune: tuple[ObjectKey, ...] = ()
    if unwanted is not None and group.spec.auto_scaling_policy is None and owner_uid(unwanted) == group.uid:
        prune = (scaler,)
    return Decision(
        context=context,
        apply={PART: found.objects} if found.objects else {},
        prune=prune,
        step=step,
        waits=found.waits + waits + _pods(group, observed),
        findings=findings,
        held={PART: found.waits[0]} if found.waits else {},
        changes=found.changes,
        fingerprint=_fingerprint(found.objects, prune, step),
        pace=PACE if waits and step is None else None,
    )


def _pods(group: ComputeNodeGroup, observed: Observed) -> tuple[str, ...]:
    """Pods that are to come or to go. One without an address is on its way: FE cannot be told of it."""
    pods, wished = pods_of(group, observed), wished_of(group)
    there = len(pods)
    words = f"{there} of {wished} pods are there" if there < wished else f"{there - wished} pods are to go"
    waits: tuple[str, ...] = (words,) if there != wished else ()
    if coming := [pod["metadata"]["name"] for pod in pods.values() if not (pod.get("status") or {}).get("podIP")]:
        waits += (f"{', '.join(coming)} on the way, without an address yet",)
    if observed.view is None or observed.view.compute_nodes is None:
        return (*waits, "no frontend has told its compute nodes yet")
    return waits


def _wait(case: Case) -> str:
    name = case.pod or case.address
    if case.move == Move.STAY or case.move == Move.FORGET:
        return ""
    if case.move in _STEPS:
        return _STEPS[case.move][1].format(pod=case.pod or "a pod that is gone", address=case.address).rstrip(".")
    if case.move == Move.GONE:
        return f"{name} may go: FE does not know it any more"
    if not case.since:
        return f"{name} is not alive in FE yet"
    queries = case.row.running_queries if case.row else None
    return f"{name} is leaving: {queries or 0} queries still run on it"


def _nothing_left(observed: Observed, cases: Sequence[Case]) -> bool:
    """Whether FE, asked, knows nothing any more that is ours."""
    told = observed.view is not None and observed.view.compute_nodes is not None
    return told and all(case.move in (Move.GONE, Move.FORGET) for case in cases)


def _properties(observed: Observed) -> dict[str, dict[str, str]]:
    configuration = observed.configurations.get(CN_GROUP.name)
    return {COMPONENT: dict(configuration.properties)} if configuration else {}


def _fingerprint(objects: Sequence[Object], prune: Sequence[ObjectKey], step: Step | None) -> str:
    written = [[str(ObjectKey.of(item)), item["metadata"].get("annotations")] for item in objects]
    content = json.dumps([written, [str(key) for key in prune], step.hash if step else ""], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:16]
