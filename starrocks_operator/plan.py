"""Plan before act: `starrocks.com/plan: "required"` has everything written down first, and done when it is approved.

The plan's hash is that of the goal: what the objects shall be when all is done, how many members there shall be, and
what its owner ordered by annotations. So it stays the same while the plan is carried out, and another spec has another.
The steps are what is still between the cluster and its goal: while they are carried out, they become fewer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from starrocks_operator.decision import Context, Decision, Finding
from starrocks_operator.due import due, prunable
from starrocks_operator.membership import Rosters
from starrocks_operator.membership.slots import Roster, Slot
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects import build
from starrocks_operator.objects.metadata import APPLIED_HASH, TEMPLATE_HASH, content_hash
from starrocks_operator.objects.names import marker_name
from starrocks_operator.observed import ObjectKey, Observed
from starrocks_operator.quiet.hibernation import BEDTIME, HIBERNATE
from starrocks_operator.quiet.still import held_still
from starrocks_operator.recall import Recall
from starrocks_operator.rollout.order import Turn, turns
from starrocks_operator.rollout.restart import requested
from starrocks_operator.rollout.roll import Roll
from starrocks_operator.rollout.versions import version_course
from starrocks_operator.step import Step

REQUIRED, APPROVED = "starrocks.com/plan", "starrocks.com/approve-plan"
_NO_GOAL = frozenset(
    {REQUIRED, APPROVED, "starrocks.com/paused", "starrocks.com/skip-rollout-gates", "starrocks.com/accept-template"}
)
"""Annotations that say how and when, not what; the last one shows in the templates."""
LONGEST = 200  # steps that are written out
_MINOR = frozenset({"PersistentVolumeClaim"})  # marks of ours, which follow the pods

_goals: Recall[str] = Recall(256)


@dataclass(frozen=True, kw_only=True)
class Planned:
    """One entry. step: Apply, Delete, ReplacePod, RestartPod, AddMember, RemoveMember, SleepStatefulSet, or the kind
    of a step that serves none of these. restart: whether a pod goes for it."""

    step: str
    object: str
    reason: str
    restart: bool = False
    reversible: bool = True

    @property
    def name(self) -> str:
        return f"{self.step} {self.object}"


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What a plan is made from. context: with every component, and as if nothing were being rolled."""

    cluster: StarRocksCluster
    observed: Observed
    context: Context
    rolls: Mapping[str, Roll]
    rosters: Rosters


def planned(decision: Decision, draft: Draft) -> Decision:
    """The decision with the plan; and nothing to be done unless the plan is approved."""
    cluster = draft.cluster
    if cluster.annotations.get(REQUIRED, "").strip().lower() != "required":
        return decision
    steps = tuple(steps_of(draft)) if not decision.asleep else ()
    steps += tuple(_more(decision, steps))
    if not steps:
        return decision
    told = goal_of(draft)
    approved = cluster.annotations.get(APPROVED, "").strip() == told
    document = _document(steps, told, approved=approved, decision=decision)
    if approved:
        return replace(decision, plan=document)
    return replace(held_still(decision, _waiting(told, len(steps))), plan=document)


def goal_of(draft: Draft) -> str:
    """The hash of what there shall be when all is done."""
    cluster, context = draft.cluster, draft.context
    goal = Context(
        profile=context.profile,
        components=context.components,
        replicas=dict(context.wished),
        properties=context.properties,
        domain=context.domain,
        customs=context.customs,
        restarts=context.restarts,
    )
    orders = {
        name: value
        for name, value in cluster.annotations.items()
        if name.startswith("starrocks.com/") and name not in _NO_GOAL
    }
    kept = {name: (shape.get("annotations") or {}).get(TEMPLATE_HASH, "") for name, shape in context.kept.items()}
    given = (cluster.key, cluster.spec, goal, orders, kept)
    return _goals.get(cluster.uid, given, lambda: _hash(cluster, goal, orders, kept))


def steps_of(draft: Draft) -> Iterator[Planned]:
    """What is still to be done, in the order in which it is begun."""
    cluster, children = draft.cluster, draft.observed.children
    if cluster.annotations.get(HIBERNATE, "").strip().lower() == "true":
        yield from _sleep(draft)
        return
    wanted = build(cluster, replace(draft.context, shapes={}))
    for name in draft.context.components:
        items = [item for item in wanted[name] if _counts(cluster, item)]
        for change in due(cluster, items, children).changes:
            key, _, reason = change.partition(": ")
            yield Planned(step="Apply", object=key, reason=reason)
    everything = [item for items in wanted.values() for item in items]
    for unwanted in prunable(cluster, everything, children, components={*wanted, "hpa", "fe_proxy"}):
        yield Planned(step="Delete", object=str(unwanted), reason="it is no longer wanted", reversible=True)
    yield from _joining(draft)
    yield from _leaving(draft)
    yield from _replaced(draft)
    for pod in requested(cluster, draft.rolls, draft.observed.now):
        yield Planned(step="RestartPod", object=pod, reason="its owner asked for it", restart=True)


def covers(entry: Planned, step: Step) -> bool:
    """Whether a step that is taken is a part of this entry of the plan."""
    target = step.target.partition(".")[0].partition(":")[0]
    if entry.step in ("ReplacePod", "RestartPod"):
        return entry.object == target
    if entry.step in ("AddMember", "RemoveMember"):
        ordinal = entry.object.rpartition("-")[2]
        workload = entry.object.rpartition("-")[0]
        shrunk = target == workload and step.fact("to") == ordinal
        return entry.object == target or shrunk or target.endswith(f"-{entry.object}")
    return entry.step == str(step.kind) and entry.object in (step.target, target)


def _replaced(draft: Draft) -> Iterator[Planned]:
    begun = set()
    for turn in _turns(draft):
        roll, stays = turn.roll, draft.context.wished.get(turn.roll.component, 0)
        if roll.component not in begun and roll.changing:
            for ordinal in reversed(range(roll.replicas, stays)):  # these are made as the others still are
                yield _replacement(f"{roll.name}-{ordinal}")
        begun.add(roll.component)
        if turn.target.ordinal < stays:
            yield _replacement(turn.target.name)


def _replacement(pod: str) -> Planned:
    return Planned(step="ReplacePod", object=pod, reason="its template has changed", restart=True)


def _turns(draft: Draft) -> Iterator[Turn]:
    cluster, observed = draft.cluster, draft.observed
    versions = version_course(cluster, observed.children, draft.rosters, draft.rolls)
    yield from turns(
        draft.rolls,
        draft.rosters,
        observed.view,
        now=observed.now,
        direction=versions.direction,
        frontends_first=cluster.spec.wait_for_full_rollout,
    )


def _joining(draft: Draft) -> Iterator[Planned]:
    """Whom no StatefulSet has a place for yet. A compute node that is being replaced may be no member for a moment."""
    for roster in _rosters(draft):
        for slot in roster.wanted:
            if not slot.rows and not slot.placed:
                yield Planned(step="AddMember", object=slot.name, reason="it is wanted and no member yet")


def _leaving(draft: Draft) -> Iterator[Planned]:
    """Its data is moved away first; what is dropped cannot be taken back."""
    for roster in _rosters(draft):
        for slot in roster.leaving:
            if _is_there(slot):
                why = "it is no longer wanted"
                yield Planned(step="RemoveMember", object=slot.name, reason=why, restart=True, reversible=False)


def _is_there(slot: Slot[Any]) -> bool:
    return bool(slot.rows or slot.placed or slot.pod is not None)


def _rosters(draft: Draft) -> tuple[Roster[Any], ...]:
    rosters = draft.rosters
    return (rosters.fe, rosters.observers, rosters.be, rosters.cn)


def _sleep(draft: Draft) -> Iterator[Planned]:
    for name in BEDTIME:
        roll = draft.rolls.get(name)
        if roll is not None and roll.replicas:
            yield Planned(step="SleepStatefulSet", object=roll.name, reason="the cluster hibernates", restart=True)


def _more(decision: Decision, steps: tuple[Planned, ...]) -> Iterator[Planned]:
    """What would be done just now and serves none of the entries: marks, settings of FE, accounts."""
    known, deleted = {entry.name for entry in steps}, {str(key) for key in decision.prune}
    for change in decision.changes:
        key, _, reason = change.partition(": ")
        if not {f"Apply {key}", f"Delete {key}"} & known:
            yield Planned(step="Delete" if key in deleted else "Apply", object=key, reason=reason)
    step = decision.step
    if step is not None and not any(covers(entry, step) for entry in steps):
        yield Planned(step=str(step.kind), object=step.target, reason=step.reason, reversible=step.reversible)


def _counts(cluster: StarRocksCluster, item: Mapping[str, Any]) -> bool:
    """Not what the operator notes for itself on the way."""
    return item["kind"] not in _MINOR and item["metadata"]["name"] != marker_name(cluster)


def _hash(cluster: StarRocksCluster, goal: Context, orders: Mapping[str, str], kept: Mapping[str, str]) -> str:
    objects = {}
    for name, items in build(cluster, goal).items():
        for item in items:
            if not _counts(cluster, item):
                continue
            annotations = item["metadata"]["annotations"]
            said = annotations[APPLIED_HASH]
            if item["kind"] == "StatefulSet":
                rest = {field: value for field, value in item["spec"].items() if field != "template"}
                said = f"{content_hash(rest)} {kept.get(name) or annotations[TEMPLATE_HASH]}"
            objects[str(ObjectKey.of(item))] = said
    return content_hash({"objects": objects, "orders": dict(orders), "members": dict(goal.replicas)})


def _document(steps: tuple[Planned, ...], told: str, *, approved: bool, decision: Decision) -> dict[str, Any]:
    blocked = [] if approved else [f"{name}: {why}" for name, why in sorted(decision.held.items())]
    found = {
        "hash": told,
        "approved": approved,
        "steps": [asdict(entry) for entry in steps[:LONGEST]],
        "more": max(len(steps) - LONGEST, 0),
        "blockedBy": blocked,
    }
    return {name: value for name, value in found.items() if value not in (0, [])} | {"approved": approved}


def _waiting(told: str, count: int) -> Finding:
    return Finding(
        reason="PlanNotApproved",
        message=f"There is a plan of {count} step{'' if count == 1 else 's'} (status.plan), and nothing is done before "
        f'it is approved with the annotation {APPROVED}: "{told}".',
    )
