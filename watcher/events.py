"""Kubernetes Events (events.k8s.io/v1), on transitions only; one that recurs becomes a series, not another Event."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from watcher.domain import Transition
from watcher.kube import MERGE_PATCH, ApiError, Kube
from watcher.logs import logger
from watcher.metrics import FAILURES

log = logger(__name__)
CONTROLLER = "starrocks.com/operator"
MEMORY = 600.0  # seconds within which the same thing is a recurrence
REMEMBERED = 2000
LONGEST_NOTE = 1000


@dataclass
class _Posted:
    path: str
    count: int
    at: float


class Events:
    """Posts Events about clusters. A lost Event is no failure: what is so stands in status."""

    def __init__(self, kube: Kube, *, identity: str, clock: Callable[[], float]) -> None:
        self._kube, self._identity, self._clock = kube, identity[:128], clock
        self._posted: dict[tuple[str, str, str], _Posted] = {}

    async def post(self, cluster: Mapping[str, Any], transitions: Iterable[Transition]) -> None:
        for transition in transitions:
            try:
                await self._post(cluster, transition)
            except ApiError as error:
                FAILURES.labels(reason="EventLost").inc()
                log.warning("an event was lost", error=str(error))

    async def _post(self, cluster: Mapping[str, Any], transition: Transition) -> None:
        metadata, now = cluster["metadata"], self._clock()
        what = (str(metadata["uid"]), transition.reason, transition.message)
        posted = self._posted.get(what)
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        if posted is not None and now - posted.at < MEMORY:
            posted.count, posted.at = posted.count + 1, now
            series = {"series": {"count": posted.count, "lastObservedTime": stamp}}
            await self._kube.request("PATCH", posted.path, body=series, content=MERGE_PATCH)
            return
        namespace = metadata["namespace"]
        collection = f"/apis/events.k8s.io/v1/namespaces/{namespace}/events"
        body = _event(cluster, transition, stamp=stamp, identity=self._identity)
        answer = await self._kube.request("POST", collection, body=body)
        self._remember(what, _Posted(f"{collection}/{answer['metadata']['name']}", 1, now))

    def _remember(self, what: tuple[str, str, str], posted: _Posted) -> None:
        self._posted[what] = posted
        while len(self._posted) > REMEMBERED:
            del self._posted[next(iter(self._posted))]


def _event(cluster: Mapping[str, Any], transition: Transition, *, stamp: str, identity: str) -> dict[str, Any]:
    metadata = cluster["metadata"]
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": f"{metadata['name']}.{time.time_ns():x}", "namespace": metadata["namespace"]},
        "eventTime": stamp,
        "type": transition.type,
        "reason": transition.reason[:128],
        "action": "Reconcile",
        "note": transition.message[:LONGEST_NOTE],
        "reportingController": CONTROLLER,
        "reportingInstance": identity,
        "regarding": {
            "apiVersion": cluster["apiVersion"],
            "kind": cluster["kind"],
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "uid": metadata["uid"],
            "resourceVersion": metadata.get("resourceVersion", ""),
        },
    }
