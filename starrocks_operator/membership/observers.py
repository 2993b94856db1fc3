"""Observers: frontends without a vote. Wish x standing -> move, and what each move says.

They are in no count of the quorum, so any number may come and go, the highest ordinal first: its pod goes, and when FE
sees it dead it is dropped. Until then it can be had back as it is. One that was dropped and is wanted again gets a new
volume, as followers do. A follower in an observer's place is never touched: it has a vote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from starrocks_operator.decision import Finding
from starrocks_operator.membership.departure import release
from starrocks_operator.membership.frontend_table import FrontendSlot, Ground, Move, Standing, Wish, wish_of
from starrocks_operator.membership.joining import add, frontend_wait
from starrocks_operator.membership.lost_volume import lost_its_volume
from starrocks_operator.membership.meta_volume import renew, was_dropped
from starrocks_operator.membership.outlook import Outlook
from starrocks_operator.membership.quorum import VOTING_ROLES
from starrocks_operator.membership.slots import Roster
from starrocks_operator.observed import FrontendRow
from starrocks_operator.step import Step, StepKind

TABLE: Mapping[Wish, Mapping[Standing, Move]] = {
    Wish.MEMBER: {
        Standing.ALIVE: Move.REST,
        Standing.JOINING: Move.WAIT,
        Standing.DEAD: Move.WAIT,
        Standing.VOLUME_LOST: Move.DROP,
        Standing.OTHER_ROLE: Move.REPORT,
        Standing.ABSENT: Move.WAIT,
        Standing.OVERDUE: Move.ADD,
        Standing.DROPPED: Move.RENEW,
    },
    # Nothing needs it, alive or dead. Only a voter is another matter.
    Wish.LEAVING: dict.fromkeys(Standing, Move.SHRINK) | {Standing.OTHER_ROLE: Move.REPORT},
    Wish.RELEASED: {
        Standing.ALIVE: Move.WAIT,
        Standing.JOINING: Move.FORGET,
        Standing.DEAD: Move.FORGET,
        Standing.VOLUME_LOST: Move.FORGET,
        Standing.OTHER_ROLE: Move.REPORT,
        Standing.ABSENT: Move.REST,
        Standing.OVERDUE: Move.REST,
        Standing.DROPPED: Move.REST,
    },
}

ORDER = (
    Move.SHRINK,
    Move.DROP,
    Move.FORGET,
    Move.RENEW,
    Move.ADD,
    Move.WAIT,
    Move.REPORT,
    Move.REST,
)


def standing_of(slot: FrontendSlot, ground: Ground) -> Standing:
    row = slot.row
    if row is None:
        if was_dropped(slot, ground):
            return Standing.DROPPED
        overdue = slot.overdue(ground.now, grace=ground.grace, since=ground.since)
        return Standing.OVERDUE if overdue else Standing.ABSENT
    if row.role in VOTING_ROLES:
        return Standing.OTHER_ROLE
    if not row.joined:
        return Standing.JOINING
    if row.alive:
        return Standing.ALIVE
    pod = slot.pod
    lost = pod is not None and lost_its_volume(row, pod, ground.claims, ground.workload, meta_dir=ground.meta_dir)
    return Standing.VOLUME_LOST if lost else Standing.DEAD


def plan(roster: Roster[FrontendRow], frontends: Roster[FrontendRow], ground: Ground) -> Outlook:
    """The observers' next step, waits and findings. frontends: the other group, whose members list them, too."""
    everybody = replace(frontends, slots=(*frontends.slots, *roster.slots))
    cases = [(slot, wish_of(slot), standing_of(slot, ground)) for slot in roster.slots]
    outlook = Outlook()
    for move in ORDER:
        found = [case for case in cases if TABLE[case[1]][case[2]] == move]
        for slot, wish, standing in found if move in (Move.ADD, Move.WAIT, Move.REPORT) else reversed(found):
            outlook = outlook.then(_act(move, slot, wish, standing, roster=roster, everybody=everybody, ground=ground))
    return outlook


def _act(
    move: Move,
    slot: FrontendSlot,
    wish: Wish,
    standing: Standing,
    *,
    roster: Roster[FrontendRow],
    everybody: Roster[FrontendRow],
    ground: Ground,
) -> Outlook:
    match move:
        case Move.ADD:
            return add(slot, kind=StepKind.ADD_OBSERVER, word="observer")
        case Move.RENEW:
            return renew(slot, everybody, ground)
        case Move.SHRINK:
            return release(slot, roster)
        case Move.DROP:
            return drop_observer(slot, "lost its metadata volume: it is dropped, and added anew after that")
        case Move.FORGET if slot.pod is not None:
            return Outlook(waits=(f"observer {slot.name} is leaving: {slot.pod_words}",))
        case Move.FORGET:
            return drop_observer(slot, "is no longer wanted, and its pod is gone")
        case Move.WAIT:
            wanted, dead = wish == Wish.MEMBER, standing == Standing.DEAD
            return Outlook(waits=(frontend_wait(slot, word="observer", wanted=wanted, dead=dead),))
        case Move.REPORT:
            return Outlook(findings=(_report(slot),))
        case _:
            return Outlook()


def drop_observer(slot: FrontendSlot, why: str, *, wait: str = "") -> Outlook:
    """Drops one that is dead; it has no vote, so nothing else is asked. wait: what is said, if not why."""
    row = slot.row
    if row is None:  # not reachable through the table; said for the type checker
        return Outlook()
    return Outlook(
        step=Step(
            kind=StepKind.DROP_OBSERVER,
            target=row.target,
            reason=f"Observer {slot.name} {why}.",
            reversible=False,
            expects=(("name", row.name), ("alive", "false"), ("role", "OBSERVER")),
        ),
        waits=(f"observer {slot.name} {wait or why}",),
    )


def _report(slot: FrontendSlot) -> Finding:
    target = slot.row.target if slot.row else slot.target
    return Finding(
        reason="UnexpectedRole",
        message=f"Frontend {slot.name} is registered as a follower; an observer is wanted, or none. As it has a vote, "
        f'it is left alone. Drop it by hand when the others are alive (ALTER SYSTEM DROP FOLLOWER "{target}"), delete '
        "its metadata volume and its pod, and it is added as an observer.",
        degraded=True,
    )
