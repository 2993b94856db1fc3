"""What /metrics tells of everything looked after: sums over all of it, and a few lines about each resource.

No line is about a single pod: how many series there are depends on how many clusters there are, not on their size.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from prometheus_client import Gauge

from starrocks_operator.model import GROUP_KIND, KIND, WAREHOUSE_KIND, Key
from starrocks_operator.model.warehouse import SUFFIX
from watcher import metrics

Status = Mapping[str, Any]
Series = dict[tuple[Gauge, tuple[str, ...]], float]

_SUMS = {KIND: metrics.CLUSTERS, WAREHOUSE_KIND: metrics.WAREHOUSES, GROUP_KIND: metrics.GROUPS}
_TRUTH = {"True": 1.0, "False": 0.0}


@dataclass(frozen=True)
class _Counted:
    """sums: what a resource adds to the gauges of all. own: the series that are its alone."""

    labels: tuple[str, str, str]
    sums: Series
    own: Series


class Fleet:
    """Keeps the gauges right while clusters, warehouses and groups change and go."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._counted: dict[Key, _Counted] = {}
        self._looked: dict[Key, float] = {}

    def set(self, key: Key, status: Status, *, kind: str = KIND, findings: Iterable[str] = ()) -> None:
        """findings: the reasons of what a person should know."""
        labels = (kind, key.namespace, key.name.removesuffix(SUFFIX if kind == WAREHOUSE_KIND else ""))
        counted = _Counted(labels, dict(_sums(kind, status)), dict(_own(labels, status, findings)))
        before = self._counted.get(key)
        if before == counted:
            return
        self._counted[key] = counted
        _replace(before, counted)
        self._show(key)

    def looked(self, key: Key) -> None:
        """Its frontends have just been asked; at first that is before anything else is known of it."""
        self._looked[key] = self._clock()
        self._show(key)

    def _show(self, key: Key) -> None:
        if (counted := self._counted.get(key)) is not None and key in self._looked:
            metrics.LOOKED.labels(*counted.labels).set(self._looked[key])

    def forget(self, key: Key) -> None:
        self._looked.pop(key, None)
        if (counted := self._counted.pop(key, None)) is not None:
            _replace(counted, None)
            metrics.LOOKED.remove(*counted.labels)


def _sums(kind: str, status: Status) -> Iterator[tuple[tuple[Gauge, tuple[str, ...]], float]]:
    yield (_SUMS[kind], (str(status.get("phase", "")),)), 1
    yield (metrics.TABLETS_LEFT, ()), _tablets_left(status)
    for member, count in _members(status).items():
        yield (metrics.MEMBERS, member), count


def _own(
    labels: tuple[str, ...], status: Status, findings: Iterable[str]
) -> Iterator[tuple[tuple[Gauge, tuple[str, ...]], float]]:
    phase, version = str(status.get("phase", "")), str(status.get("version") or "")
    yield (metrics.RESOURCE, (*labels, phase, version)), 1
    for condition in status.get("conditions") or ():
        if (value := _TRUTH.get(condition.get("status"))) is not None:
            yield (metrics.CONDITION, (*labels, str(condition.get("type")))), value
    for reason in findings:
        yield (metrics.FINDING, (*labels, reason)), 1
    for member, count in _members(status).items():
        yield (metrics.RESOURCE_MEMBERS, (*labels, *member)), count
    yield (metrics.RESOURCE_TABLETS, labels), _tablets_left(status)
    yield (metrics.FAILED_RUNS, labels), int((status.get("reconcile") or {}).get("failures") or 0)


def _members(status: Status) -> Counter[tuple[str, str]]:
    """How many, by kind and state."""
    listed = status.get("members") or ()
    return Counter((str(member.get("kind") or "computeNode"), _state(member)) for member in listed)


def _tablets_left(status: Status) -> int:
    return sum(int(member.get("tabletsLeft") or 0) for member in status.get("members") or ())


def _state(member: Mapping[str, Any]) -> str:
    """In the words of a cluster's members; a group says apart whether a node that has joined is alive."""
    state = str(member.get("state") or "unknown")
    if state == "joined":
        return "alive" if member.get("alive") else "dead"
    return "dropped" if state == "gone" else state


def _replace(before: _Counted | None, after: _Counted | None) -> None:
    for counted, sign in ((before, -1), (after, 1)):
        for (gauge, labels), value in counted.sums.items() if counted else ():
            _of(gauge, labels).inc(sign * value)
    own = after.own if after else {}
    for gauge, labels in before.own if before else ():
        if (gauge, labels) not in own:
            gauge.remove(*labels)
    for (gauge, labels), value in own.items():
        _of(gauge, labels).set(value)


def _of(gauge: Gauge, labels: tuple[str, ...]) -> Gauge:
    return gauge.labels(*labels) if labels else gauge
