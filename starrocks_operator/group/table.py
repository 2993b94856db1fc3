"""The truth table of a group's compute nodes: what is wanted, times what FE lists at a pod's address.

A pod has another address after every start, so a row is ours if a pod of ours has its address now, or if the status
recorded it, with FE's number, while one had.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from starrocks_operator.components import GRACE_PERIOD_SECONDS
from starrocks_operator.model import GroupMember
from starrocks_operator.observed import ComputeRow

DRAIN = timedelta(seconds=GRACE_PERIOD_SECONDS)
"""How long queries that run on a leaving compute node are waited for."""
FOREIGN = timedelta(minutes=5)
"""A row of ours that FE reaches for so long after its pod has gone is somebody else's: addresses are used again."""


class Found(StrEnum):
    """What FE lists at the address."""

    ABSENT = "absent"
    ALIVE = "alive"
    DEAD = "dead"


class Move(StrEnum):
    """What follows."""

    ADD = "add"
    WAIT = "wait"
    STAY = "stay"
    SHUN = "shun"  # no new queries
    WELCOME = "welcome"  # queries again
    DROP = "drop"
    GONE = "gone"  # nothing in FE any more: the pod may go
    FORGET = "forget"  # not ours any more, or no longer there


class Place(StrEnum):
    """What we have at the address."""

    WANTED = "wanted"  # a pod that shall stay
    UNREADY = "unready"  # a pod that shall stay, and does not run yet or is being replaced
    UNWANTED = "unwanted"  # a pod that shall go
    LEFT = "left"  # no pod any more, only our record


TABLE: dict[tuple[Place, Found], Move] = {
    (Place.WANTED, Found.ABSENT): Move.ADD,
    (Place.WANTED, Found.ALIVE): Move.STAY,
    (Place.WANTED, Found.DEAD): Move.WAIT,
    (Place.UNREADY, Found.ABSENT): Move.WAIT,
    (Place.UNREADY, Found.ALIVE): Move.STAY,
    (Place.UNREADY, Found.DEAD): Move.WAIT,
    (Place.UNWANTED, Found.ABSENT): Move.GONE,
    (Place.UNWANTED, Found.ALIVE): Move.SHUN,
    (Place.UNWANTED, Found.DEAD): Move.DROP,
    (Place.LEFT, Found.ABSENT): Move.FORGET,
    (Place.LEFT, Found.ALIVE): Move.WAIT,
    (Place.LEFT, Found.DEAD): Move.DROP,
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One address: the pod that has it (empty: none any more), what FE lists there, our record of it, and the move."""

    place: Place
    pod: str
    address: str
    row: ComputeRow | None
    record: GroupMember | None
    move: Move
    since: str = ""  # since when it leaves


def found_in(row: ComputeRow | None) -> Found:
    if row is None:
        return Found.ABSENT
    return Found.ALIVE if row.alive else Found.DEAD


def judged(
    place: Place,
    row: ComputeRow | None,
    record: GroupMember | None,
    *,
    shunned: bool | None,
    now: datetime,
) -> Move:
    """The table's move, with what time and the frontends' blacklists add.

    shunned: whether every frontend that we can ask keeps queries off it; None: this release has no such list.
    """
    if place == Place.LEFT and row is not None and record is not None and record.id not in ("", row.id):
        return Move.FORGET  # another node took the address
    move = TABLE[place, found_in(row)]
    if place == Place.LEFT and move == Move.WAIT and _over(record, now, FOREIGN):
        return Move.FORGET
    if move == Move.STAY and shunned and record is not None and record.state == "leaving":
        return Move.WELCOME
    if move == Move.SHUN and shunned is not False:
        idle = row is not None and row.running_queries == 0
        return Move.DROP if idle or _over(record, now, DRAIN) else Move.WAIT
    return move


def _over(record: GroupMember | None, now: datetime, span: timedelta) -> bool:
    if record is None or not record.since:
        return False
    try:
        return now - datetime.fromisoformat(record.since) >= span
    except (ValueError, TypeError):
        return True  # written by somebody else; it must not hold anything for ever
