"""Backends and compute nodes: what is wanted of one, how FE sees it, and what a table makes of the two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from starrocks_operator.membership.memory import Memory
from starrocks_operator.membership.named_loss import NamedLoss
from starrocks_operator.membership.slots import DEFAULT_GRACE, Slot
from starrocks_operator.observed import ComputeRow
from starrocks_operator.step import StepKind

NodeSlot = Slot[ComputeRow]

SCHEDULING = "tablet_sched_max_scheduling_tablets"
"""FE's setting; at 0 it moves no tablets."""

DEFAULT_DRAIN = timedelta(seconds=300)
DEFAULT_STALL = timedelta(seconds=600)


class Wish(StrEnum):
    """What is wanted of a slot, and how far Kubernetes is with it."""

    MEMBER = "member"
    LEAVING = "leaving"  # the spec does not want it, and it still has its place in the StatefulSet
    STOPPING = "stopping"  # its place is gone, its pod is not
    RELEASED = "released"  # its pod is gone, too


class Standing(StrEnum):
    """How FE sees it."""

    ABSENT = "absent"  # not registered, and nothing runs that could do it
    STARTING = "starting"  # not registered; its own start may do it at any moment
    OVERDUE = "overdue"  # not registered although it has been running for long
    JOINING = "joining"  # registered, never heard of
    ALIVE = "alive"
    DEAD = "dead"
    DRAINING = "draining"  # we told it to leave: it gives its tablets away, or finishes its queries
    DRAINED = "drained"  # nothing is left on it
    GIVEN_UP = "given-up"  # it gets nowhere with that, and its owner named the loss of what is left
    FOREIGN = "foreign"  # somebody else decommissions it
    FOREIGN_DRAINED = "foreign-drained"


class Move(StrEnum):
    """What to do about it."""

    REST = "rest"
    WAIT = "wait"
    ADD = "add"
    ORDER = "order"  # tell FE that it leaves
    WATCH = "watch"  # it is getting empty
    CANCEL = "cancel"  # take our order back
    SHRINK = "shrink"  # take its place in the StatefulSet away
    DROP = "drop"  # let FE forget it
    FORFEIT = "forfeit"  # let FE forget it with what is left on it
    REPORT = "report"


Table = Mapping[Wish, Mapping[Standing, Move]]

MEMBER: Mapping[Standing, Move] = {
    Standing.ABSENT: Move.WAIT,
    Standing.STARTING: Move.WAIT,
    Standing.OVERDUE: Move.ADD,
    Standing.JOINING: Move.WAIT,
    Standing.ALIVE: Move.REST,
    Standing.DEAD: Move.WAIT,
    Standing.DRAINING: Move.CANCEL,
    Standing.DRAINED: Move.CANCEL,
    Standing.GIVEN_UP: Move.CANCEL,
    Standing.FOREIGN: Move.REPORT,
    Standing.FOREIGN_DRAINED: Move.REPORT,
}
"""Of those that are wanted, all tables say the same."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What sets backends and compute nodes apart.

    holds_tablets: whether it may go only when FE counts no tablet on it; else when its queries are done.
    order, cancel: None: FE is not told that it leaves.
    forfeit: None: nothing is ever lost with it.
    warehouse: the one in which they work, if it is not FE's default one.
    """

    word: str
    table: Table
    holds_tablets: bool
    add: StepKind
    drop: StepKind
    forfeit: StepKind | None = None
    order: StepKind | None = None
    cancel: StepKind | None = None
    warehouse: str = ""


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What the tables stand on besides the slots.

    since: when the founding was recorded.
    settings: FE's settings as the leader has them; None: they were not asked.
    replication: the most replicas that any partition has; None: unknown.
    blacklists: by frontend, ids of the compute nodes that it sends no queries; empty: FE has no such lists; None:
        unknown.
    unheard: whether a frontend was asked and did not answer: its list is as it was.
    drain: how long a leaving node may take to finish its queries.
    stall: how long without progress until a person is told.
    named: the backend whose loss its owner named.
    """

    now: datetime
    since: datetime | None
    grace: timedelta = DEFAULT_GRACE
    memory: Memory = field(default_factory=Memory)
    settings: Mapping[str, str] | None = None
    replication: int | None = None
    blacklists: Mapping[str, frozenset[str]] | None = None
    unheard: bool = False
    drain: timedelta = DEFAULT_DRAIN
    stall: timedelta = DEFAULT_STALL
    named: NamedLoss = field(default_factory=NamedLoss)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One cell of a table, with the slot and the row that are in it. A slot with two rows makes two cases."""

    slot: NodeSlot
    row: ComputeRow | None
    wish: Wish
    standing: Standing
    move: Move


def case_of(slot: NodeSlot, row: ComputeRow | None, kind: Kind, ground: Ground) -> Case:
    wish, standing = wish_of(slot), standing_of(slot, row, kind, ground)
    return Case(slot=slot, row=row, wish=wish, standing=standing, move=kind.table[wish][standing])


def wish_of(slot: NodeSlot) -> Wish:
    if slot.wanted:
        return Wish.MEMBER
    if slot.placed:
        return Wish.LEAVING
    return Wish.RELEASED if slot.pod is None else Wish.STOPPING


def standing_of(slot: NodeSlot, row: ComputeRow | None, kind: Kind, ground: Ground) -> Standing:
    if row is None:
        if slot.overdue(ground.now, grace=ground.grace, since=ground.since):
            return Standing.OVERDUE
        return Standing.STARTING if slot.runs else Standing.ABSENT
    if kind.holds_tablets and row.decommissioned:
        if ground.memory.ordered(row):
            if row.tablets == 0:
                return Standing.DRAINED
            return Standing.GIVEN_UP if _is_given_up(slot, row, ground) else Standing.DRAINING
        return Standing.FOREIGN_DRAINED if row.tablets == 0 else Standing.FOREIGN
    if not row.alive:
        return Standing.DEAD if row.last_start_time else Standing.JOINING
    if row.decommissioned:
        return Standing.FOREIGN
    if kind.holds_tablets or not _is_shut_off(slot, row, kind, ground):
        return Standing.ALIVE
    return Standing.DRAINING if _is_busy(row, ground) else Standing.DRAINED


def _is_given_up(slot: NodeSlot, row: ComputeRow, ground: Ground) -> bool:
    """Its owner named it, and FE, free to move tablets, has moved none of it for long."""
    if slot.wanted or slot.name != ground.named.pod or not row.tablets:
        return False
    free = (ground.settings or {}).get(SCHEDULING, "0") != "0"
    return free and ground.now - ground.memory.progress(row, ground.now).at >= ground.stall


def blacklisted(row: ComputeRow, ground: Ground) -> bool:
    """Whether any frontend was told to send it no queries."""
    return any(row.id in ids for ids in (ground.blacklists or {}).values())


def _is_shut_off(slot: NodeSlot, row: ComputeRow, kind: Kind, ground: Ground) -> bool:
    """Whether it gets no new queries, by our order. Where FE has no lists for that, the pod's own stop takes care."""
    if slot.wanted:
        return ground.memory.ordered(row) and blacklisted(row, ground)
    if kind.order is None or ground.blacklists == {}:
        return True
    return ground.blacklists is not None and all(row.id in ids for ids in ground.blacklists.values())


def _is_busy(row: ComputeRow, ground: Ground) -> bool:
    since = ground.memory.leaving_since(row)
    in_time = since is None or ground.now - since < ground.drain
    return bool(row.running_queries) and in_time
