"""Backends and compute nodes: how a table's moves become one step, the waits, and what a person should know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from starrocks_operator.decision import Finding
from starrocks_operator.membership.auto_drop import auto_drop_of
from starrocks_operator.membership.drain import (
    PATIENT,
    cancel,
    drained_word,
    forfeit,
    objection_to_leaving,
    order,
    stall,
    watch,
)
from starrocks_operator.membership.hosts import is_address
from starrocks_operator.membership.joining import add
from starrocks_operator.membership.node_table import Case, Ground, Kind, Move, NodeSlot, Standing, Wish, case_of
from starrocks_operator.membership.outlook import Outlook
from starrocks_operator.membership.shrink import shrink
from starrocks_operator.membership.slots import Roster
from starrocks_operator.observed import ComputeRow
from starrocks_operator.step import Step

__all__ = ["Ground", "cases_of", "plan"]

ORDER = (
    Move.CANCEL,
    Move.ADD,
    Move.SHRINK,
    Move.DROP,
    Move.FORFEIT,
    Move.WATCH,
    Move.ORDER,
    Move.WAIT,
    Move.REPORT,
    Move.REST,
)
"""Which move goes first: what is taken back, then who joins, then what was begun is ended. FE's hold goes before all
that empties a node, and is given up after everything else."""

UNNOTICED = timedelta(seconds=60)
"""So long at most FE takes a dead backend for alive."""


def cases_of(roster: Roster[ComputeRow], kind: Kind, ground: Ground) -> tuple[Case, ...]:
    """The cell of the table that each slot, and each row of it, is in."""
    return tuple(case_of(slot, row, kind, ground) for slot in roster.slots for row in (slot.rows or (None,)))


def plan(roster: Roster[ComputeRow], kind: Kind, ground: Ground) -> Outlook:
    """The nodes' next step, waits and findings. Among equal moves the highest ordinal leaves first, and joins last."""
    cases = cases_of(roster, kind, ground)
    objection = objection_to_leaving(cases, roster, kind, ground)
    hold = auto_drop_of(cases, kind, ground, objection=bool(objection))
    outlook = Outlook()
    for move in ORDER:
        if move == Move.ADD and hold.first is not None:
            outlook = outlook.then(Outlook(step=hold.first, waits=(hold.first.reason,)))
        found = [case for case in cases if case.move == move]
        for case in found if move in (Move.ADD, Move.WAIT, Move.REPORT) else reversed(found):
            outlook = outlook.then(_act(case, cases, roster, kind, ground, objection))
    if hold.last is not None:
        outlook = outlook.then(Outlook(step=hold.last, waits=(hold.last.reason,)))
    return outlook.then(Outlook(findings=tuple(dict.fromkeys((*_findings(cases, kind, ground), *objection)))))


def _findings(cases: Sequence[Case], kind: Kind, ground: Ground) -> tuple[Finding, ...]:
    stuck = (Standing.DRAINING, Standing.GIVEN_UP)
    found = [stall(case, cases, kind, ground) for case in cases if case.standing in stuck]
    if kind.holds_tablets:
        found.append(ground.named.remark({case.slot.name: case.slot.wanted for case in cases}))
    return tuple(finding for finding in found if finding is not None)


def _act(
    case: Case,
    cases: Sequence[Case],
    roster: Roster[ComputeRow],
    kind: Kind,
    ground: Ground,
    objection: Sequence[Finding],
) -> Outlook:
    if case.move == Move.SHRINK:
        return _shrink(case, cases, roster, kind, now=ground.now)
    if case.move == Move.ORDER:
        return order(case, kind, ground, objection=objection)
    simple: Mapping[Move, Callable[[], Outlook]] = {
        Move.CANCEL: lambda: cancel(case, kind),
        Move.WATCH: lambda: watch(case, kind, ground),
        Move.ADD: lambda: add(case.slot, kind=kind.add, word=kind.word, within=_within(kind)),
        Move.DROP: lambda: _drop(case, kind),
        Move.FORFEIT: lambda: forfeit(case, kind, ground),
        Move.WAIT: lambda: Outlook(waits=(_wait(case, kind),)),
        Move.REPORT: lambda: _report(case, kind),
        Move.REST: lambda: _rest(case, kind, ground),
    }
    return simple[case.move]()


def _shrink(case: Case, cases: Sequence[Case], roster: Roster[ComputeRow], kind: Kind, *, now: datetime) -> Outlook:
    slot = case.slot
    name = f"{kind.word} {slot.name}"
    if slot.ordinal != roster.live - 1:
        wait = f"{name} may leave; it goes when those with higher ordinals have gone"
        return Outlook(waits=(wait,), pace=PATIENT)
    if any(other.slot is slot and other.move != Move.SHRINK for other in cases):
        return Outlook(waits=(f"{name} is registered twice, and may not leave yet under its other id",))
    if case.row is None and kind.holds_tablets and (nameless := _nameless(roster, slot, now)):
        wait = f"{name} is not registered by its name: it leaves when {nameless} is known not to be it"
        return Outlook(waits=(wait,), pace=PATIENT)
    what = "is not registered" if case.row is None else drained_word(case, kind)
    stays = " Its volume stays." if kind.holds_tablets else ""
    return Outlook(
        step=shrink(
            roster,
            slot,
            member="+".join(sorted(row.id for row in slot.rows)) or "absent",
            reason=f"{name.capitalize()} is no longer wanted and {what}: its pod may go.{stays}",
        ),
        waits=(f"{name} is leaving: its pod goes",),
    )


def _nameless(roster: Roster[ComputeRow], slot: NodeSlot, now: datetime) -> str:
    """A backend that is registered by an address that no pod has any more: it may be any of ours.

    One that FE counts as alive may be one that has just died, unless our pod has run since before that.
    """
    began = slot.pod.running_since if slot.pod is not None else None
    fresh = began is None or now - began < UNNOTICED
    for row in roster.foreign:
        if is_address(row.host) and (not row.alive or (fresh and row.tablets != 0)):
            return f"{row.host}, which {'has tablets' if row.alive else 'is dead'},"
    return ""


def _drop(case: Case, kind: Kind) -> Outlook:
    row = case.row
    if row is None:  # not reachable through the tables; said for the type checker
        return Outlook()
    empty = (("decommissioned", "true"), ("tablets", "0")) if kind.holds_tablets else (("alive", "false"),)
    return Outlook(
        step=Step(
            kind=kind.drop,
            target=row.target,
            reason=f"{kind.word.capitalize()} {case.slot.name} is no longer wanted, and its pod is gone.",
            reversible=not kind.holds_tablets,
            expects=(("id", row.id), *empty, *_within(kind)),
        ),
        waits=(f"{kind.word} {case.slot.name} has left: FE is told to forget it",),
    )


def _within(kind: Kind) -> tuple[tuple[str, str], ...]:
    return (("within", kind.warehouse),) if kind.warehouse else ()


def _wait(case: Case, kind: Kind) -> str:
    slot, name = case.slot, f"{kind.word} {case.slot.name}"
    if case.wish == Wish.LEAVING:
        return f"{name} is leaving, and may register itself at any moment: {slot.pod_words}"
    if case.wish != Wish.MEMBER:
        return f"{name} is leaving: {slot.pod_words}" if slot.pod else f"{name} is leaving: FE still counts it as alive"
    if case.standing == Standing.DEAD:
        return f"{name} is not alive: {slot.pod_words}"
    error = case.row.error if case.row else ""
    return f"{name} has not joined: {slot.pod_words}" + (f" (FE says: {error})" if error else "")


def _rest(case: Case, kind: Kind, ground: Ground) -> Outlook:
    """Until an order of ours cannot arrive any more, it stays noted; it must not be taken for ours for ever after."""
    if case.row is None or not ground.memory.may_arrive(case.row, ground.now):
        return Outlook()
    return Outlook(waits=(f"{kind.word} {case.slot.name} is wanted again: an order that it leaves may still reach FE",))


def _report(case: Case, kind: Kind) -> Outlook:
    target = case.row.target if case.row else case.slot.target
    left = f" {case.row.tablets} tablets are left on it." if case.row and case.row.tablets else ""
    waits = () if case.wish == Wish.MEMBER else (f"{kind.word} {case.slot.name} is leaving, as somebody else ordered",)
    finding = Finding(
        reason="ForeignDecommission",
        message=f"Somebody decommissions {kind.word} {case.slot.name}; the operator did not order it and leaves it "
        f'alone.{left} To take it back: CANCEL DECOMMISSION BACKEND "{target}".',
    )
    return Outlook(waits=waits, findings=(finding,), pace=PATIENT)
