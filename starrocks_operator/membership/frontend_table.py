"""Frontends: wish x standing -> move, as one table, and what it stands on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from starrocks_operator.membership.slots import DEFAULT_GRACE, Slot
from starrocks_operator.observed import FrontendRow, FrontendView, Raw

FrontendSlot = Slot[FrontendRow]
DROPPED = "dropped"
"""The state, in status.members, of one that FE does not list any more and whose volume is still the old one."""


class Wish(StrEnum):
    """What is wanted of a slot."""

    MEMBER = "member"
    LEAVING = "leaving"  # the spec does not want it, and it still has its place in the StatefulSet
    RELEASED = "released"  # the StatefulSet does not want it either: its pod goes, or is gone


class Standing(StrEnum):
    """How FE and Kubernetes see it."""

    ALIVE = "alive"
    JOINING = "joining"  # registered, never joined
    DEAD = "dead"  # joined once; comes back when its pod does
    VOLUME_LOST = "volume-lost"  # joined once; cannot come back
    OTHER_ROLE = "other-role"  # registered as an observer
    ABSENT = "absent"  # not registered; its own start may still do it
    OVERDUE = "overdue"  # not registered although it has been running for long
    DROPPED = "dropped"  # not registered; what its volume holds is of a member that was dropped, and is refused


class Move(StrEnum):
    """What to do about it."""

    REST = "rest"
    WAIT = "wait"
    ADD = "add"
    DROP = "drop"
    RENEW = "renew"  # give it a new, empty volume
    LEAVE = "leave"  # take a live one out, in the order that the quorum allows
    SHRINK = "shrink"  # take its place in the StatefulSet away: FE does not know it
    FORGET = "forget"  # drop an observer that is gone
    REPORT = "report"


TABLE: Mapping[tuple[Wish, Standing], Move] = {
    (Wish.MEMBER, Standing.ALIVE): Move.REST,
    (Wish.MEMBER, Standing.JOINING): Move.WAIT,
    (Wish.MEMBER, Standing.DEAD): Move.WAIT,
    (Wish.MEMBER, Standing.VOLUME_LOST): Move.DROP,
    (Wish.MEMBER, Standing.OTHER_ROLE): Move.REPORT,
    (Wish.MEMBER, Standing.ABSENT): Move.WAIT,
    (Wish.MEMBER, Standing.OVERDUE): Move.ADD,
    (Wish.MEMBER, Standing.DROPPED): Move.RENEW,
    # Dead ones are dropped before their pods go: the count is then right for those that live.
    (Wish.LEAVING, Standing.ALIVE): Move.LEAVE,
    (Wish.LEAVING, Standing.JOINING): Move.DROP,
    (Wish.LEAVING, Standing.DEAD): Move.DROP,
    (Wish.LEAVING, Standing.VOLUME_LOST): Move.DROP,
    (Wish.LEAVING, Standing.OTHER_ROLE): Move.SHRINK,
    # Dropped, and perhaps still running on old data: its pod goes at once.
    (Wish.LEAVING, Standing.ABSENT): Move.SHRINK,
    (Wish.LEAVING, Standing.OVERDUE): Move.SHRINK,
    (Wish.LEAVING, Standing.DROPPED): Move.SHRINK,
    (Wish.RELEASED, Standing.ALIVE): Move.WAIT,
    (Wish.RELEASED, Standing.JOINING): Move.DROP,
    (Wish.RELEASED, Standing.DEAD): Move.DROP,
    (Wish.RELEASED, Standing.VOLUME_LOST): Move.DROP,
    (Wish.RELEASED, Standing.OTHER_ROLE): Move.FORGET,
    (Wish.RELEASED, Standing.ABSENT): Move.REST,
    (Wish.RELEASED, Standing.OVERDUE): Move.REST,
    (Wish.RELEASED, Standing.DROPPED): Move.REST,
}

ORDER = (
    Move.SHRINK,
    Move.DROP,
    Move.FORGET,
    Move.RENEW,
    Move.ADD,
    Move.LEAVE,
    Move.WAIT,
    Move.REPORT,
    Move.REST,
)
"""Which move goes first: what was begun is ended, the dead go before the living, who stays before who leaves."""


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What the frontends' table stands on besides the slots.

    since: when the founding was recorded; before, nobody is overdue.
    known: the name that FE last had for each pod's member, as the status tells.
    claims, workload: the PersistentVolumeClaims by name, and the frontends' StatefulSet.
    meta_dir: where frontends keep their metadata, if fe.conf says so.
    """

    now: datetime
    view: FrontendView
    since: datetime | None
    grace: timedelta = DEFAULT_GRACE
    known: Mapping[str, str] = field(default_factory=dict)
    claims: Mapping[str, Raw] = field(default_factory=dict)
    workload: Raw | None = None
    meta_dir: str = ""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One cell of the table, and the slot that is in it."""

    slot: FrontendSlot
    wish: Wish
    standing: Standing

    @property
    def move(self) -> Move:
        return TABLE[self.wish, self.standing]


def wish_of(slot: FrontendSlot) -> Wish:
    if slot.wanted:
        return Wish.MEMBER
    return Wish.LEAVING if slot.placed else Wish.RELEASED
