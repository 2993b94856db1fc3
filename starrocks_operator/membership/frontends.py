"""Frontends: wish x standing -> move, behind the quorum's guard.

A wanted frontend that nobody registered is added; one that lost its metadata is dropped, so that it can be added
anew; all else waits or is reported. One frontend at a time: while one joins, no other is added.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from starrocks_operator.decision import Finding
from starrocks_operator.membership.lost_volume import lost_its_volume
from starrocks_operator.membership.outlook import Outlook
from starrocks_operator.membership.quorum import VOTING_ROLES, objection_to_drop
from starrocks_operator.membership.slots import DEFAULT_GRACE, Roster, Slot
from starrocks_operator.observed import FrontendRow, FrontendView, Outcome, Raw
from starrocks_operator.step import Step, StepKind

FrontendSlot = Slot[FrontendRow]


class Wish(StrEnum):
    """What the spec wants of a slot."""

    MEMBER = "member"
    LEAVING = "leaving"


class Standing(StrEnum):
    """How FE and Kubernetes see it."""

    ALIVE = "alive"
    JOINING = "joining"  # registered, never joined
    DEAD = "dead"  # joined once; comes back when its pod does
    VOLUME_LOST = "volume-lost"  # joined once; cannot come back
    OTHER_ROLE = "other-role"  # registered as an observer
    ABSENT = "absent"  # not registered; its own start may still do it
    OVERDUE = "overdue"  # not registered although it has been running for long


class Move(StrEnum):
    """What to do about it."""

    REST = "rest"
    WAIT = "wait"
    ADD = "add"
    DROP = "drop"
    REPORT = "report"


TABLE: Mapping[tuple[Wish, Standing], Move] = {
    (Wish.MEMBER, Standing.ALIVE): Move.REST,
    (Wish.MEMBER, Standing.JOINING): Move.WAIT,
    (Wish.MEMBER, Standing.DEAD): Move.WAIT,
    (Wish.MEMBER, Standing.VOLUME_LOST): Move.DROP,
    (Wish.MEMBER, Standing.OTHER_ROLE): Move.REPORT,
    (Wish.MEMBER, Standing.ABSENT): Move.WAIT,
    (Wish.MEMBER, Standing.OVERDUE): Move.ADD,
    # Frontends are not scaled in yet: what is beyond the wish is shown, and left alone.
    (Wish.LEAVING, Standing.ALIVE): Move.REPORT,
    (Wish.LEAVING, Standing.JOINING): Move.REPORT,
    (Wish.LEAVING, Standing.DEAD): Move.REPORT,
    (Wish.LEAVING, Standing.VOLUME_LOST): Move.REPORT,
    (Wish.LEAVING, Standing.OTHER_ROLE): Move.REPORT,
    (Wish.LEAVING, Standing.ABSENT): Move.REST,
    (Wish.LEAVING, Standing.OVERDUE): Move.REST,
}


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What the frontends' table stands on besides the slots.

    since: when the founding was recorded; before, nobody is overdue.
    claims, workload: the PersistentVolumeClaims by name, and the frontends' StatefulSet.
    meta_dir: where frontends keep their metadata, if fe.conf says so.
    """

    now: datetime
    view: FrontendView
    since: datetime | None
    grace: timedelta = DEFAULT_GRACE
    claims: Mapping[str, Raw] = field(default_factory=dict)
    workload: Raw | None = None
    meta_dir: str = ""


def wish_of(slot: FrontendSlot) -> Wish:
    return Wish.MEMBER if slot.wanted else Wish.LEAVING


def standing_of(slot: FrontendSlot, ground: Ground) -> Standing:
    row = slot.row
    if row is None:
        overdue = slot.overdue(ground.now, grace=ground.grace, since=ground.since)
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


def plan(roster: Roster[FrontendRow], ground: Ground) -> Outlook:
    """The frontends' next step, waits and findings. Lost members go before missing ones."""
    outlook = Outlook()
    standings = [(slot, standing_of(slot, ground)) for slot in roster.slots]
    moves = [(slot, standing, TABLE[wish_of(slot), standing]) for slot, standing in standings]
    for slot, standing, move in sorted(moves, key=lambda item: item[2] != Move.DROP):
        match move:
            case Move.WAIT:
                outlook = outlook.then(Outlook(waits=(_wait(slot, standing),)))
            case Move.ADD:
                outlook = outlook.then(_add(slot, roster))
            case Move.DROP:
                outlook = outlook.then(_drop(slot, ground))
            case Move.REPORT:
                outlook = outlook.then(Outlook(findings=(_report(slot, standing),)))
            case Move.REST:
                pass
    return outlook


def _wait(slot: FrontendSlot, standing: Standing) -> str:
    if standing == Standing.DEAD:
        return f"frontend {slot.name} is not alive: {slot.pod_words}"
    error = slot.row.error if slot.row else ""
    return f"frontend {slot.name} has not joined: {slot.pod_words}" + (f" (FE says: {error})" if error else "")


def _add(slot: FrontendSlot, roster: Roster[FrontendRow]) -> Outlook:
    joining = [s.name for s in roster.slots if s.row and s.row.role in VOTING_ROLES and not s.row.joined]
    if joining:
        return Outlook(waits=(f"frontend {slot.name} is added when {', '.join(joining)} has joined",))
    return Outlook(
        step=Step(
            kind=StepKind.ADD_FOLLOWER,
            target=slot.target,
            reason=f"Frontend {slot.name} runs and did not register itself.",
            reversible=True,
            expects=(("role", "absent"),),
        ),
        waits=(f"frontend {slot.name} has not joined: it is being added",),
    )


def _drop(slot: FrontendSlot, ground: Ground) -> Outlook:
    row = slot.row
    if row is None:  # not reachable through the table; said for the type checker
        return Outlook()
    rows = ground.view.frontends or ()
    objection = objection_to_drop(row, rows, leader=ground.view.leader) or _disagreement(row, ground.view)
    if objection:
        return Outlook(
            waits=(f"frontend {slot.name} lost its metadata volume and cannot be replaced yet: {objection}",),
            findings=(
                Finding(
                    reason="FrontendVolumeLost",
                    message=f"Frontend {slot.name} lost its metadata volume. It is not dropped and added anew: "
                    f"{objection}.",
                    degraded=True,
                ),
            ),
        )
    return Outlook(
        step=Step(
            kind=StepKind.DROP_FOLLOWER,
            target=row.target,
            reason=f"Frontend {slot.name} lost its metadata volume: it is dropped, and added anew after that.",
            reversible=False,
            expects=(("name", row.name), ("alive", "false"), ("role", "FOLLOWER")),
        ),
        waits=(f"frontend {slot.name} lost its metadata volume: it is dropped and added anew",),
    )


def _disagreement(row: FrontendRow, view: FrontendView) -> str:
    """Every frontend that answers must see this member as dead; a dead view of one is no proof."""
    for answer in view.answers:
        if answer.outcome != Outcome.ANSWERED:
            continue
        seen = next((other for other in answer.rows if other.name == row.name), None)
        if seen is None:
            return f"{answer.pod} does not know it"
        if seen.alive:
            return f"{answer.pod} still sees it alive"
    return ""


def _report(slot: FrontendSlot, standing: Standing) -> Finding:
    if slot.wanted:
        return Finding(
            reason="UnexpectedRole",
            message=f"Frontend {slot.name} is registered as an observer; a follower is wanted. Drop it by hand "
            f'(ALTER SYSTEM DROP OBSERVER "{slot.row.target if slot.row else slot.target}"), delete its metadata '
            "volume and its pod, and it is added as a follower.",
            degraded=True,
        )
    return Finding(
        reason="SurplusFrontend",
        message=f"Frontend {slot.name} is registered ({standing}) beyond the replicas of its StatefulSet. It counts in "
        "the quorum; it is not dropped yet.",
        degraded=standing != Standing.ALIVE,
    )
