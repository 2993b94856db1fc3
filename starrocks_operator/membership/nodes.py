"""Backends and compute nodes: how FE and Kubernetes see one, and how a table's moves become an outlook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from starrocks_operator.decision import Finding
from starrocks_operator.membership.outlook import Outlook
from starrocks_operator.membership.slots import DEFAULT_GRACE, Roster, Slot
from starrocks_operator.observed import ComputeRow
from starrocks_operator.step import Step, StepKind

NodeSlot = Slot[ComputeRow]


class Wish(StrEnum):
    """What the spec wants of a slot."""

    MEMBER = "member"
    LEAVING = "leaving"


class Standing(StrEnum):
    """How FE and Kubernetes see it."""

    ALIVE = "alive"
    JOINING = "joining"  # registered, never heard of
    DEAD = "dead"
    DECOMMISSIONED = "decommissioned"  # somebody ordered it to give its tablets away
    ABSENT = "absent"  # not registered; its own start may still do it
    OVERDUE = "overdue"  # not registered although it has been running for long
    GONE = "gone"  # registered, dead, and its pod does not exist


class Move(StrEnum):
    """What to do about it."""

    REST = "rest"
    WAIT = "wait"
    ADD = "add"
    DROP = "drop"
    REPORT = "report"


Table = Mapping[tuple[Wish, Standing], Move]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What sets backends and compute nodes apart."""

    word: str
    table: Table
    add: StepKind
    drop: StepKind | None


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What the tables stand on besides the slots. since: when the founding was recorded."""

    now: datetime
    since: datetime | None
    grace: timedelta = DEFAULT_GRACE


def wish_of(slot: NodeSlot) -> Wish:
    return Wish.MEMBER if slot.wanted else Wish.LEAVING


def standing_of(slot: NodeSlot, ground: Ground) -> Standing:
    row = slot.row
    if row is None:
        overdue = slot.overdue(ground.now, grace=ground.grace, since=ground.since)
        return Standing.OVERDUE if overdue else Standing.ABSENT
    if row.decommissioned:
        return Standing.DECOMMISSIONED
    if row.alive:
        return Standing.ALIVE
    if slot.pod is None:
        return Standing.GONE
    return Standing.DEAD if row.last_start_time else Standing.JOINING


def plan(roster: Roster[ComputeRow], kind: Kind, ground: Ground) -> Outlook:
    """The nodes' next step, waits and findings, in the order of their ordinals; drops from the highest one down."""
    outlook = Outlook()
    standings = [(slot, standing_of(slot, ground)) for slot in roster.slots]
    moves = [(slot, standing, kind.table[wish_of(slot), standing]) for slot, standing in standings]
    drops = [item for item in reversed(moves) if item[2] == Move.DROP]
    for slot, standing, move in [item for item in moves if item[2] != Move.DROP] + drops:
        match move:
            case Move.WAIT:
                outlook = outlook.then(Outlook(waits=(_wait(slot, standing, kind),)))
            case Move.ADD:
                outlook = outlook.then(_add(slot, kind))
            case Move.DROP:
                outlook = outlook.then(_drop(slot, kind))
            case Move.REPORT:
                outlook = outlook.then(Outlook(findings=(_report(slot, standing, kind),)))
            case Move.REST:
                pass
    return outlook


def _wait(slot: NodeSlot, standing: Standing, kind: Kind) -> str:
    name = f"{kind.word} {slot.name}"
    if not slot.wanted:
        return f"{name} is leaving: {slot.pod_words}" if slot.pod else f"{name} is leaving: FE still counts it as alive"
    if standing in (Standing.DEAD, Standing.GONE):
        return f"{name} is not alive: {slot.pod_words}"
    error = slot.row.error if slot.row else ""
    return f"{name} has not joined: {slot.pod_words}" + (f" (FE says: {error})" if error else "")


def _add(slot: NodeSlot, kind: Kind) -> Outlook:
    return Outlook(
        step=Step(
            kind=kind.add,
            target=slot.target,
            reason=f"{kind.word.capitalize()} {slot.name} runs and did not register itself.",
            reversible=True,
            expects=(("role", "absent"),),
        ),
        waits=(f"{kind.word} {slot.name} has not joined: it is being added",),
    )


def _drop(slot: NodeSlot, kind: Kind) -> Outlook:
    row = slot.row
    if row is None or kind.drop is None:  # not reachable through the tables; said for the type checker
        return Outlook()
    return Outlook(
        step=Step(
            kind=kind.drop,
            target=row.target,
            reason=f"{kind.word.capitalize()} {slot.name} is no longer wanted, and its pod is gone.",
            reversible=True,
            expects=(("id", row.id), ("alive", "false")),
        ),
        waits=(f"{kind.word} {slot.name} has left: FE is told to forget it",),
    )


def _report(slot: NodeSlot, standing: Standing, kind: Kind) -> Finding:
    if standing == Standing.DECOMMISSIONED:
        return Finding(
            reason="ForeignDecommission",
            message=f"Somebody decommissions {kind.word} {slot.name}; the operator did not order it and leaves it "
            f'alone. To take it back: CANCEL DECOMMISSION BACKEND "{slot.row.target if slot.row else slot.target}".',
        )
    return Finding(
        reason=f"Surplus{kind.word.title().replace(' ', '')}",
        message=f"{kind.word.capitalize()} {slot.name} is registered ({standing}) beyond the replicas of its "
        "StatefulSet; it is not dropped yet.",
        degraded=standing != Standing.ALIVE,
    )
