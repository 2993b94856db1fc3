"""Which row of FE's belongs to a pod."""

from __future__ import annotations

from starrocks_operator.membership import Roster, Rosters, Slot
from starrocks_operator.observed import ComputeRow, FrontendRow
from starrocks_operator.rollout.roll import RollPod

Row = FrontendRow | ComputeRow


def roster_of(rosters: Rosters, component: str) -> Roster[FrontendRow] | Roster[ComputeRow]:
    """The slots of one component."""
    if component == "be":
        return rosters.be
    if component == "cn":
        return rosters.cn
    return rosters.observers if component == "fe-observer" else rosters.fe


def row_of(rosters: Rosters, component: str, target: RollPod) -> Row | None:
    """None: FE knows none, or has not been heard."""
    slots: tuple[Slot[FrontendRow] | Slot[ComputeRow], ...] = roster_of(rosters, component).slots
    return next((slot.row for slot in slots if slot.ordinal == target.ordinal), None)


def has_joined(row: Row | None) -> bool:
    """Whether FE counts it as a living member."""
    return row is not None and row.alive and getattr(row, "joined", True)


def started(row: Row | None) -> str:
    """When it last started, in FE's own words: they can be compared, and not be told the time from."""
    if row is None:
        return ""
    return row.start_time if isinstance(row, FrontendRow) else row.last_start_time
