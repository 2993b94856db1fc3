"""Gauges that add up over everything looked after: resources by phase, members by kind and state, tablets to move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from starrocks_operator.model import GROUP_KIND, KIND, WAREHOUSE_KIND, Key
from watcher.metrics import CLUSTERS, GROUPS, MEMBERS, TABLETS_LEFT, WAREHOUSES

_GAUGES = {KIND: CLUSTERS, WAREHOUSE_KIND: WAREHOUSES, GROUP_KIND: GROUPS}
_Counted = tuple[str, str, dict[tuple[str, str], int], int]


class Fleet:
    """Keeps the gauges right while clusters, warehouses and groups change and go."""

    def __init__(self) -> None:
        self._counted: dict[Key, _Counted] = {}

    def set(self, key: Key, status: Mapping[str, Any], *, kind: str = KIND) -> None:
        listed = status.get("members") or ()
        members = Counter((str(member.get("kind") or "computeNode"), _state(member)) for member in listed)
        left = sum(int(member.get("tabletsLeft") or 0) for member in listed)
        counted = (kind, str(status.get("phase", "")), dict(members), left)
        if self._counted.get(key) == counted:
            return
        self.forget(key)
        self._counted[key] = counted
        _add(counted, 1)

    def forget(self, key: Key) -> None:
        if (counted := self._counted.pop(key, None)) is not None:
            _add(counted, -1)


def _state(member: Mapping[str, Any]) -> str:
    """In the words of a cluster's members; a group says apart whether a node that has joined is alive."""
    state = str(member.get("state") or "unknown")
    if state == "joined":
        return "alive" if member.get("alive") else "dead"
    return "dropped" if state == "gone" else state


def _add(counted: _Counted, sign: int) -> None:
    kind, phase, members, left = counted
    TABLETS_LEFT.inc(sign * left)
    _GAUGES[kind].labels(phase=phase).inc(sign)
    for (member, state), count in members.items():
        MEMBERS.labels(kind=member, state=state).inc(sign * count)
