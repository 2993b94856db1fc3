"""Which components are held, and by what: nothing of them is applied until that has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starrocks_operator.case import Case
from starrocks_operator.components import COMPONENTS
from starrocks_operator.decision import Finding
from starrocks_operator.membership.warehouses import obstacle
from starrocks_operator.rollout import WAITS_FOR_ROLLOUT, Direction, is_rolled_out
from starrocks_operator.rollout.order import ORDER
from starrocks_operator.storage import Scene as StorageScene
from starrocks_operator.storage import guarded, stateful_sets

NO_LEADER = "held until a frontend leads"
OTHERS = {"hpa": "the autoscaler", "fe_proxy": "the frontend proxy"}

Objects = Mapping[str, Sequence[Mapping[str, Any]]]


def held_components(case: Case) -> dict[str, str]:
    """Four gates. A warehouse needs a cluster that can have warehouses. Backends, compute nodes and autoscaler: a
    frontend leads, shown by SQL and not by readiness; on request all frontends have been rolled out. And every
    component whose ports are unknown, because a configuration file is missing: defaults would move all pods."""
    missing = {
        name: f"held until {configuration.missing} exists"
        for name, configuration in case.observed.configurations.items()
        if configuration.missing
    }
    if "fe" in missing:  # the others are told the frontends' ports
        missing = dict.fromkeys((*case.context.components,), missing["fe"]) | missing
    missing |= {name: one.refusal for name, one in case.settled.items() if one.held}
    view = case.observed.view
    if reason := obstacle(case.cluster, case.observed):
        return dict.fromkeys(case.context.components, reason)
    if view is not None and view.leader is not None:
        return _waiting_for_rollout(case) | _waiting_for_releases(case) | missing
    urgent = case.course.formers if case.course.urgent else ()
    return {name: NO_LEADER for name in case.context.components if name != "fe" and name not in urgent} | missing


def _waiting_for_rollout(case: Case) -> dict[str, str]:
    """As the official operator's: asked for by the spec, and of backends and compute nodes. Where a release changes,
    the order that it needs goes first."""
    frontends = case.rolls.get("fe")
    if frontends is None or not case.cluster.spec.wait_for_full_rollout or case.course.direction == Direction.UPGRADE:
        return {}
    if is_rolled_out(frontends):
        return {}
    return {name: WAITS_FOR_ROLLOUT for name in case.context.components if name in ("be", "cn")}


def _waiting_for_releases(case: Case) -> dict[str, str]:
    """One that is new in the middle of an upgrade waits, as its pods would, for those whose release comes first."""
    order = ORDER[case.course.direction] if case.course.direction in (Direction.UPGRADE, Direction.DOWNGRADE) else ()
    held = {}
    for place, name in enumerate(order):
        before = [other for other in order[:place] if other in case.rolls and case.rolls[other].open]
        if before and name in case.context.components and name not in case.workloads:
            held[name] = f"held until the {COMPONENTS[before[0]].title}s have their release"
    return held


def guards_of(case: Case, wanted: Objects) -> tuple[tuple[str, Finding], ...]:
    """What stands between a changed spec and the data or the quorum, by component."""
    desired = stateful_sets(wanted) | {name: roll.desired for name, roll in case.rolls.items()}
    return guarded(
        StorageScene(
            cluster=case.cluster,
            wanted=desired,
            live=case.disks.resting(case.workloads),
            properties=case.context.properties,
            view=case.observed.view,
            now=case.observed.now,
            founded=case.may_be_founded,
        )
    )


def waits_of(held: Mapping[str, str]) -> tuple[str, ...]:
    by_reason: dict[str, list[str]] = {}
    for name, reason in held.items():
        by_reason.setdefault(reason, []).append(f"{COMPONENTS[name].title}s" if name in COMPONENTS else OTHERS[name])
    return tuple(f"{', '.join(names)}: {reason}" for reason, names in by_reason.items())
