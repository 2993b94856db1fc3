"""status.members: each member as FE sees it, with the pod that runs it; and each wanted pod that is not one yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from starrocks_operator.membership import Rosters, Slot
from starrocks_operator.observed import ComputeRow, FrontendRow, FrontendView
from starrocks_operator.status.departures import Departures
from starrocks_operator.status.frontend_departures import FrontendDepartures

Entry = dict[str, Any]


def members_of(
    rosters: Rosters, view: FrontendView, departures: Departures, frontend_departures: FrontendDepartures
) -> list[Entry]:
    """Frontends, backends, compute nodes; ours by ordinal, then those that others run."""
    frontends = (
        _frontend(row, slot) | frontend_departures.of(slot)
        if row
        else frontend_departures.dropped.get(slot.name) or _absent("frontend", slot)
        for slot, row in _rows((*rosters.fe.slots, *rosters.observers.slots))
    )
    backends = (
        _node("backend", row, slot) | departures.of(row) if row else _absent("backend", slot)
        for slot, row in _rows(rosters.be.slots)
    )
    nodes = (
        _node("computeNode", row, slot) | departures.of(row) if row else _absent("computeNode", slot)
        for slot, row in _rows(rosters.cn.slots)
    )
    found: list[Entry | None] = [
        *frontends,
        *(_frontend(row, None) for row in rosters.fe.foreign),
        *(backends if view.backends is not None else ()),
        *(_node("backend", row, None) for row in rosters.be.foreign),
        *(nodes if view.compute_nodes is not None else ()),
        *(_node("computeNode", row, None) for row in rosters.cn.foreign),
    ]
    return [{key: value for key, value in entry.items() if value not in ("", None)} for entry in found if entry]


def _rows(slots: Iterable[Slot[Any]]) -> Iterator[tuple[Slot[Any], Any]]:
    for slot in slots:
        yield from ((slot, row) for row in slot.rows or (None,))


def _frontend(row: FrontendRow, slot: Slot[FrontendRow] | None) -> Entry:
    return {
        "kind": "frontend",
        "name": slot.name if slot else "",
        "host": row.host,
        "id": row.name,
        "role": row.role,
        "alive": row.alive,
        "joined": row.joined,
        "version": row.version,
        "startTime": row.start_time,
        "state": _state(alive=row.alive, known=row.joined),
        "message": "" if row.alive else _message(slot, row.error),
    }


def _node(kind: str, row: ComputeRow, slot: Slot[ComputeRow] | None) -> Entry:
    """Tablets are told only while they matter: in a settled cluster their number changes all the time."""
    return {
        "kind": kind,
        "name": slot.name if slot else "",
        "host": row.host,
        "id": row.id,
        "alive": row.alive,
        "joined": True,
        "version": row.version,
        "startTime": row.last_start_time,
        "tablets": row.tablets if row.decommissioned else None,
        "state": "decommissioning" if row.decommissioned else _state(alive=row.alive, known=bool(row.last_start_time)),
        "message": "" if row.alive else _message(slot, row.error),
    }


def _absent(kind: str, slot: Slot[Any]) -> Entry | None:
    if not slot.wanted:
        return None
    return {
        "kind": kind,
        "name": slot.name,
        "host": slot.host,
        "alive": False,
        "joined": False,
        "state": "absent",
        "message": _message(slot, ""),
    }


def _state(*, alive: bool, known: bool) -> str:
    if alive:
        return "alive"
    return "dead" if known else "joining"


def _message(slot: Slot[Any] | None, error: str) -> str:
    words = slot.pod_words if slot and slot.pod_words != "its pod is ready" else ""
    return "; ".join(part for part in (words, error) if part)
