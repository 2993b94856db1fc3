"""What a StatefulSet must have at this moment of a roll: its template, its update strategy, and what it remembers.

A shape replaces no pod by itself: applying it is always safe. Pods are replaced by steps (`replacement`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starrocks_operator.objects.metadata import TEMPLATE_HASH, content_hash
from starrocks_operator.objects.shape import AT_REST, Shape
from starrocks_operator.observed import Children, Raw
from starrocks_operator.rollout.roll import (
    FORMER_REVISION,
    OFFERED_TO,
    WANTED_REVISION,
    Method,
    Roll,
    annotation,
    partition_of,
    rolling_of,
)
from starrocks_operator.step import Step, StepKind
from starrocks_operator.storage.added import OFFERED_VOLUMES, live_templates

ON_DELETE: Mapping[str, Any] = {"type": "OnDelete"}
SHAPING_STEPS = frozenset({StepKind.REPLACE_POD, StepKind.OFFER_TEMPLATE})
_REMEMBERED = (OFFERED_TO, FORMER_REVISION, WANTED_REVISION, OFFERED_VOLUMES)


def shape_of(roll: Roll, revisions: Mapping[str, Raw], *, keep: bool = False, withdraw: bool = False) -> Shape:
    """The shape to be applied. keep: the template that is there stays, whatever is wanted. withdraw: what is offered
    to a pod that has not been deleted is taken back. revisions: see `revisions_needed`."""
    if roll.renews:
        return _renewing(roll)
    if roll.method == Method.OWNER and not keep:
        return AT_REST
    if keep and roll.changing:
        return _kept(roll, strategy=roll.strategy)
    if roll.changing:
        return _before(roll)
    name, uid = roll.offered_to
    if name:
        return _offered(roll, name, uid, revisions, withdraw=withdraw)
    if roll.rests or (not roll.old and not roll.lagging and _all_there(roll)):
        return AT_REST
    begun = roll.partition < roll.replicas  # the first pod was released
    if roll.method == Method.PARTITION and not begun and _all_of_them(roll) > roll.partition:
        return Shape(strategy=_partitioned(roll, _all_of_them(roll)), annotations=_remembered(roll))
    return Shape(strategy=roll.strategy, annotations=_remembered(roll))


def shape_of_step(step: Step, roll: Roll) -> Shape:
    """The shape that a step gives: the pod below the partition is replaced by its controller; or, out of order, the
    wanted template is there for whoever is made next."""
    if step.kind == StepKind.REPLACE_POD:
        return Shape(strategy=_partitioned(roll, int(step.fact("to"))), annotations=_remembered(roll))
    memory = {OFFERED_TO: f"{step.target}@{step.fact('uid')}"}
    if roll.changing:
        memory[FORMER_REVISION] = f"{hash_of(roll.live)}@{roll.update_revision}"
    return Shape(strategy=ON_DELETE, annotations=memory)


def is_shaped(step: Step, live: Raw) -> bool:
    """Whether the StatefulSet, looked at again, has the shape that the step gives."""
    if step.kind == StepKind.REPLACE_POD:
        strategy = (live.get("spec") or {}).get("updateStrategy") or {}
        return partition_of(strategy) <= int(step.fact("to"))
    return annotation(live, OFFERED_TO) == f"{step.target}@{step.fact('uid')}"


def revisions_needed(children: Children) -> tuple[str, ...]:
    """The ControllerRevisions whose templates StatefulSets are to have again."""
    found = (annotation(raw, FORMER_REVISION).partition("@")[2] for raw in children.of_kind("StatefulSet"))
    return tuple(name for name in found if name)


def _renewing(roll: Roll) -> Shape:
    """It stays as it is until it is made anew: see `new_volumes`. The last one of its shapes is the one at rest."""
    if roll.changing or roll.adding != roll.trial:
        return replace(_kept(roll, strategy=ON_DELETE), claims=live_templates(roll.live))
    if not roll.old and not roll.lagging and _all_there(roll):
        return AT_REST
    return Shape(strategy=ON_DELETE, annotations=_remembered(roll))


def _before(roll: Roll) -> Shape:
    """Another template is wanted than the one that is there."""
    if not roll.pods:
        return AT_REST
    if roll.method == Method.PARTITION:
        return Shape(strategy=_partitioned(roll, _all_of_them(roll)))
    if annotation(roll.live, TEMPLATE_HASH) == roll.wanted_hash:  # changed by hand: the pods have what is wanted
        return Shape(strategy=ON_DELETE)
    if not roll.old and _all_there(roll):
        return AT_REST
    memory = {WANTED_REVISION: annotation(roll.live, WANTED_REVISION)}
    return _kept(roll, strategy=ON_DELETE, memory={name: value for name, value in memory.items() if value})


def _offered(roll: Roll, name: str, uid: str, revisions: Mapping[str, Raw], *, withdraw: bool) -> Shape:
    """The wanted template is there for one pod: until that pod has been made anew."""
    found = next((pod for pod in roll.pods if pod.name == name), None)
    ordinal = name.rpartition("-")[2]  # by another hand it may be anything
    gone = found is None and not (ordinal.isdecimal() and int(ordinal[:9]) < roll.replicas)
    made = gone or (found is not None and (found.pod.uid != uid or (withdraw and not found.pod.deleting)))
    if not made or roll.lagging:
        return Shape(strategy=ON_DELETE, annotations=_remembered(roll))
    if not roll.old and _all_there(roll):
        return AT_REST
    former, _, revision = annotation(roll.live, FORMER_REVISION).partition("@")
    template = template_in(revisions.get(revision))
    if template is None:
        if roll.method == Method.PARTITION:
            return Shape(strategy=_partitioned(roll, _lowest_new_run(roll)))
        return Shape(strategy=ON_DELETE)
    memory = {TEMPLATE_HASH: former, WANTED_REVISION: f"{roll.wanted_hash}@{roll.update_revision}"}
    return Shape(template=template, strategy=ON_DELETE, annotations=memory)


def _lowest_new_run(roll: Roll) -> int:
    """The partition that replaces no pod: all from there on are new."""
    lowest = roll.replicas
    for pod in reversed(roll.pods):
        if not pod.new:
            break
        lowest = min(lowest, pod.ordinal)
    return lowest


def _kept(roll: Roll, *, strategy: Mapping[str, Any], memory: Mapping[str, str] | None = None) -> Shape:
    kept = _remembered(roll) if memory is None else memory
    return Shape(
        template=clean_template((roll.live.get("spec") or {}).get("template") or {}),
        strategy=strategy,
        annotations={TEMPLATE_HASH: hash_of(roll.live), **kept},
    )


def hash_of(live: Raw) -> str:
    """What is recorded of its template; of another operator's StatefulSet, a hash that is nobody's."""
    return annotation(live, TEMPLATE_HASH) or content_hash((live.get("spec") or {}).get("template") or {})


def _remembered(roll: Roll) -> dict[str, str]:
    return {name: value for name in _REMEMBERED if (value := annotation(roll.live, name))}


def _partitioned(roll: Roll, partition: int) -> dict[str, Any]:
    at_rest = roll.desired["spec"]["updateStrategy"]
    rolling = {**rolling_of(at_rest), "partition": partition}
    return {**at_rest, "type": "RollingUpdate", "rollingUpdate": rolling}


def _all_of_them(roll: Roll) -> int:
    """The partition under which none is new: also those that are only to be made come as the others still are."""
    return max(roll.replicas, int(roll.desired["spec"]["replicas"]))


def _all_there(roll: Roll) -> bool:
    return len([pod for pod in roll.pods if pod.ordinal < roll.replicas]) == roll.replicas


def template_in(revision: Raw | None) -> dict[str, Any] | None:
    template = (((revision or {}).get("data") or {}).get("spec") or {}).get("template")
    return clean_template(template) if template else None


def clean_template(template: Mapping[str, Any]) -> dict[str, Any]:
    """Without what the API server and the ControllerRevision add that is no part of it."""
    metadata = {name: value for name, value in (template.get("metadata") or {}).items() if value is not None}
    return {**{name: value for name, value in template.items() if name != "$patch"}, "metadata": metadata}
