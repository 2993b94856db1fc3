"""Frontends: each slot's cell in the table, and its move, behind the quorum's guard.

A wanted frontend that nobody registered is added; one that lost its metadata is dropped, so that it can be added
anew. One that is no longer wanted leaves, one at a time, dead ones first (`departure`). One that was dropped and is
wanted again gets a new volume (`meta_volume`). While one joins, no other is added.
"""

from __future__ import annotations

from datetime import datetime

from starrocks_operator.decision import Finding
from starrocks_operator.membership.departure import leave, release
from starrocks_operator.membership.frontend_table import (
    ORDER,
    TABLE,
    Case,
    FrontendSlot,
    Ground,
    Move,
    Standing,
    Wish,
    wish_of,
)
from starrocks_operator.membership.joining import add, frontend_wait
from starrocks_operator.membership.lost_volume import added_at, lost_its_volume
from starrocks_operator.membership.meta_volume import renew, was_dropped
from starrocks_operator.membership.observers import drop_observer
from starrocks_operator.membership.outlook import Outlook
from starrocks_operator.membership.quorum import VOTING_ROLES, objection_to_drop
from starrocks_operator.membership.slots import Roster
from starrocks_operator.observed import FrontendRow, FrontendView, Outcome
from starrocks_operator.step import Step, StepKind

__all__ = ["TABLE", "Case", "Ground", "Move", "Standing", "Wish", "plan", "standing_of", "wish_of"]


def standing_of(slot: FrontendSlot, ground: Ground) -> Standing:
    row = slot.row
    if row is None:
        if was_dropped(slot, ground):
            return Standing.DROPPED
        overdue = slot.overdue(ground.now, grace=ground.grace, since=_since(ground))
        return Standing.OVERDUE if overdue else Standing.ABSENT
    if row.role == "OBSERVER":
        return Standing.OTHER_ROLE
    if not row.joined:
        return Standing.JOINING
    if row.alive:
        return Standing.ALIVE
    if slot.pod is not None and lost_its_volume(
        row, slot.pod, ground.claims, ground.workload, meta_dir=ground.meta_dir
    ):
        return Standing.VOLUME_LOST
    return Standing.DEAD


def _since(ground: Ground) -> datetime | None:
    """From when on nothing kept a frontend from registering itself: it waits for those that were added before it."""
    added = (at for row in ground.view.frontends or () if (at := added_at(row.name)) is not None and at <= ground.now)
    return None if ground.since is None else max((ground.since, *added))


def plan(roster: Roster[FrontendRow], ground: Ground) -> Outlook:
    """The frontends' next step, waits and findings: moves in their ORDER, those that leave from the highest ordinal."""
    cases = [Case(slot=slot, wish=wish_of(slot), standing=standing_of(slot, ground)) for slot in roster.slots]
    outlook = Outlook()
    for case in sorted(cases, key=_turn):
        outlook = outlook.then(_outlook(case, cases, roster, ground))
    return outlook


def _turn(case: Case) -> tuple[int, int]:
    ordinal = case.slot.ordinal
    return ORDER.index(case.move), ordinal if case.wish == Wish.MEMBER else -ordinal


def _outlook(case: Case, cases: list[Case], roster: Roster[FrontendRow], ground: Ground) -> Outlook:
    slot = case.slot
    match case.move:
        case Move.REST:
            return Outlook()
        case Move.WAIT:
            wanted, dead = case.wish == Wish.MEMBER, case.standing == Standing.DEAD
            return Outlook(waits=(frontend_wait(slot, word="frontend", wanted=wanted, dead=dead),))
        case Move.ADD:
            return _add(slot, roster)
        case Move.DROP:
            return _drop(case, roster, ground)
        case Move.RENEW:
            return renew(slot, roster, ground)
        case Move.LEAVE:
            return leave(slot, cases, roster, ground)
        case Move.SHRINK:
            return release(slot, roster)
        case Move.FORGET:
            return _forget(slot)
        case Move.REPORT:
            return Outlook(findings=(_report(slot),))


def _add(slot: FrontendSlot, roster: Roster[FrontendRow]) -> Outlook:
    joining = [s.name for s in roster.slots if s.row and s.row.role in VOTING_ROLES and not s.row.joined]
    if joining:
        return Outlook(waits=(f"frontend {slot.name} is added when {', '.join(joining)} has joined",))
    return add(slot, kind=StepKind.ADD_FOLLOWER, word="frontend")


def _drop(case: Case, roster: Roster[FrontendRow], ground: Ground) -> Outlook:
    """One that is dead in everybody's eyes, and that leaves or can come back only as a new member."""
    slot, row = case.slot, case.slot.row
    if row is None:  # not reachable through the table; said for the type checker
        return Outlook()
    rows = ground.view.frontends or ()
    objection = objection_to_drop(row, rows, leader=ground.view.leader) or _disagreement(row, roster, ground.view)
    returns = case.wish == Wish.MEMBER
    if objection:
        wait = "lost its metadata volume and cannot be replaced yet" if returns else "is dead and cannot be dropped yet"
        return Outlook(
            waits=(f"frontend {slot.name} {wait}: {objection}",),
            findings=(_lost(slot, objection),) if returns else (),
        )
    why = "lost its metadata volume: it is dropped, and added anew after that" if returns else "is leaving and dead"
    wait = "lost its metadata volume: it is dropped and added anew" if returns else "is leaving: it is dropped"
    return Outlook(
        step=Step(
            kind=StepKind.DROP_FOLLOWER,
            target=row.target,
            reason=f"Frontend {slot.name} {why}.",
            reversible=False,
            expects=(("name", row.name), ("alive", "false"), ("role", "FOLLOWER")),
        ),
        waits=(f"frontend {slot.name} {wait}",),
    )


def _lost(slot: FrontendSlot, objection: str) -> Finding:
    return Finding(
        reason="FrontendVolumeLost",
        message=f"Frontend {slot.name} lost its metadata volume. It is not dropped and added anew: {objection}.",
        degraded=True,
    )


def _disagreement(row: FrontendRow, roster: Roster[FrontendRow], view: FrontendView) -> str:
    """Every member that answers must see this one as dead. One that was dropped itself does not count."""
    members = {slot.name for slot in roster.slots if slot.rows}
    for answer in view.answers:
        if answer.outcome != Outcome.ANSWERED or answer.pod not in members:
            continue
        seen = next((other for other in answer.rows if other.name == row.name), None)
        if seen is None:
            return f"{answer.pod} does not know it"
        if seen.alive:
            return f"{answer.pod} still sees it alive"
    return ""


def _forget(slot: FrontendSlot) -> Outlook:
    """An observer beyond the wish: it has no vote, so it is dropped as soon as its pod is gone and FE sees it dead."""
    row = slot.row
    if row is None or row.alive or slot.pod is not None:
        return Outlook(waits=(f"observer {slot.name} is leaving: {slot.pod_words}",))
    return drop_observer(slot, "is no longer wanted, and its pod is gone", wait="has left: FE is told to forget it")


def _report(slot: FrontendSlot) -> Finding:
    return Finding(
        reason="UnexpectedRole",
        message=f"Frontend {slot.name} is registered as an observer; a follower is wanted. Drop it by hand "
        f'(ALTER SYSTEM DROP OBSERVER "{slot.row.target if slot.row else slot.target}"), delete its metadata '
        "volume and its pod, and it is added as a follower.",
        degraded=True,
    )
