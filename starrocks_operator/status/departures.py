"""What status.members tells of nodes on their way out: the intent, written before FE is told, and how they get on.

What is written here is what the next decision remembers (`membership.memory`): times change only when what they tell
of changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from starrocks_operator.decision import Decision
from starrocks_operator.membership import Rosters
from starrocks_operator.membership.auto_drop import AUTO_DROP
from starrocks_operator.membership.memory import US, Memory
from starrocks_operator.membership.node_ground import backend_kind, node_ground
from starrocks_operator.membership.node_table import Case, Ground, Kind, Standing, Wish, blacklisted
from starrocks_operator.membership.nodes import cases_of
from starrocks_operator.membership.pods import instant
from starrocks_operator.membership.warehouses import kind_of
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.observed import ComputeRow, Observed
from starrocks_operator.rollout.settings import FORCED
from starrocks_operator.step import HOLDING_STEPS, Step, StepKind

Entry = dict[str, Any]

GIVEN_UP = "given-up"

_ORDERS = (StepKind.DECOMMISSION_BACKEND, StepKind.BLACKLIST_COMPUTE_NODE)
_STATES = {Standing.DRAINING: "draining", Standing.DRAINED: "drained", Standing.GIVEN_UP: GIVEN_UP}


@dataclass(frozen=True)
class Departures:
    """By the row's id: what is to be added to its entry."""

    entries: dict[tuple[str, str], Entry]

    def of(self, row: ComputeRow) -> Entry:
        return self.entries.get((row.host, row.id), {})


def departures_of(
    cluster: StarRocksCluster, observed: Observed, decision: Decision, rosters: Rosters, *, since: datetime | None
) -> Departures:
    """Of the backends and compute nodes of this cluster; nothing is told of those that are to stay and do."""
    ground = node_ground(cluster, observed, since=since)
    found: dict[tuple[str, str], Entry] = {}
    for roster, kind in ((rosters.be, backend_kind(decision.context)), (rosters.cn, kind_of(cluster))):
        for case in cases_of(roster, kind, ground):
            if case.row is not None:
                found[case.row.host, case.row.id] = dict(_entry(case, case.row, kind, ground, decision))
    return Departures(found)


def _entry(case: Case, row: ComputeRow, kind: Kind, ground: Ground, decision: Decision) -> Iterator[tuple[str, Any]]:
    memory, now = ground.memory, ground.now
    if case.wish != Wish.MEMBER:
        yield "leavingSince", written(memory.leaving_since(row) or now)
    # Who does not answer may have it on its list, and is told when it does.
    shows = row.decommissioned if kind.holds_tablets else blacklisted(row, ground) or ground.unheard
    if (at := _ordered_at(row, decision.step, memory, now, shows=shows)) is not None:
        yield "orderedBy", US
        yield "orderedAt", written(at)
    going = case.standing in _STATES
    if going or case.wish != Wish.MEMBER:
        yield "state", _state(case, row, kind, ground)
    if going and kind.holds_tablets and row.tablets is not None:
        progress = memory.progress(row, now)
        yield "tablets", None
        yield "tabletsLeft", progress.left
        yield "progressAt", written(progress.at)
        yield "tabletsPerMinute", progress.per_minute
        yield "estimatedEnd", written(progress.end) if progress.end and progress.left else None


def _state(case: Case, row: ComputeRow, kind: Kind, ground: Ground) -> str:
    if case.standing in (Standing.FOREIGN, Standing.FOREIGN_DRAINED):
        return "decommissioning"
    if case.standing == Standing.DRAINING and kind.holds_tablets:
        stalled = ground.now - ground.memory.progress(row, ground.now).at >= ground.stall
        return "stalled" if stalled and not case.slot.wanted else "draining"
    return _STATES.get(case.standing, "leaving")


def _ordered_at(row: ComputeRow, step: Step | None, memory: Memory, now: datetime, *, shows: bool) -> datetime | None:
    """When the order was written down; None: there is none of ours, or it never arrived and cannot any more.

    shows: whether FE shows it.
    """
    member = memory.member(row)
    before = instant(member.ordered_at) if member and member.ordered_by == US else None
    if step and step.kind in _ORDERS and step.fact("id") == row.id:
        return before or now
    if before is None or shows:
        return before
    return before if memory.may_arrive(row, now) else None  # if FE showed it, and does no more, it was taken back


def held_settings(
    cluster: StarRocksCluster, observed: Observed, decision: Decision, members: list[Entry]
) -> list[Entry]:
    """The old values of settings that are held, noted before they are changed, until they are what they were."""
    noted = dict(Memory.of(cluster, observed.children).held)
    since = {held.name: held.since for held in (cluster.status.held_settings if cluster.status else ())}
    step, values = decision.step, (observed.view.settings if observed.view else None) or {}
    if step and step.kind in HOLDING_STEPS:
        noted.setdefault(step.target, step.fact("value"))
    kept = []
    for name, was in noted.items():
        value = values.get(name)
        needed = any(member.get("orderedBy") for member in members) if name == AUTO_DROP else bool(decision.rollout)
        forced = value is None or (value.lower() == FORCED[name] if name in FORCED else value != was)
        if needed or forced or _is_about(step, name):
            kept.append({"name": name, "was": was, "since": since.get(name) or written(observed.now)})
    return kept


def _is_about(step: Step | None, setting: str) -> bool:
    return step is not None and step.target == setting


def written(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
