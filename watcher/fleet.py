"""Gauges that add up over all clusters: clusters by phase, members by kind and state, tablets that have to move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from starrocks_operator.model import Key
from watcher.metrics import CLUSTERS, MEMBERS, TABLETS_LEFT

_Counted = tuple[str, dict[tuple[str, str], int], int]


class Fleet:
    """Keeps the gauges right while clusters change and go."""

    def __init__(self) -> None:
        self._counted: dict[Key, _Counted] = {}

    def set(self, key: Key, status: Mapping[str, Any]) -> None:
        listed = status.get("members") or ()
        members = Counter((str(member.get("kind", "")), str(member.get("state") or "unknown")) for member in listed)
        left = sum(int(member.get("tabletsLeft") or 0) for member in listed)
        counted = (str(status.get("phase", "")), dict(members), left)
        if self._counted.get(key) == counted:
            return
        self.forget(key)
        self._counted[key] = counted
        _add(counted, 1)

    def forget(self, key: Key) -> None:
        if (counted := self._counted.pop(key, None)) is not None:
            _add(counted, -1)


def _add(counted: _Counted, sign: int) -> None:
    phase, members, left = counted
    TABLETS_LEFT.inc(sign * left)
    CLUSTERS.labels(phase=phase).inc(sign)
    for (kind, state), count in members.items():
        MEMBERS.labels(kind=kind, state=state).inc(sign * count)
