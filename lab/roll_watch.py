"""What may never be while pods are replaced by the operator, or by Kubernetes on its behalf (I11).

One backend at a time, one frontend at a time; no pod while a copy is still behind; the leader after all the others. A
pod that was broken already may always be replaced: that is how a fix gets in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from lab.audit import OPERATOR, Write
from lab.roll_order import CONTROLLER, Lives, Replacement, Stop

GRACE = 10.0  # seconds for which the operator may not know what befell a node that it did not stop itself
_ONE_AT_A_TIME = ("be", "fe")
Key = tuple[str, str]  # a namespace and a cluster
Rows = dict[str, Mapping[str, Any]]  # members by the name of their pod


class RollWatch:
    """Hears the logs in the order of time, as the judge does, and says what was wrong."""

    def __init__(self) -> None:
        self._lives = Lives()
        self._truth: dict[Key, Mapping[str, Any]] = {}
        self._at_stop: dict[Key, Mapping[str, Any]] = {}  # by namespace and pod: what was so when it was told to go
        self._away: defaultdict[Key, dict[str, float]] = defaultdict(dict)  # pods that we stopped, and when
        self._unrepaired: defaultdict[Key, dict[str, float]] = defaultdict(dict)  # of those, until they lack nothing
        self._behind_since: defaultdict[Key, dict[str, float]] = defaultdict(dict)

    def learn(self, truth: Mapping[str, Any]) -> None:
        key = (truth["namespace"], truth["cluster"])
        self._truth[key] = truth
        rows, now = _rows(truth), truth["time"]
        for stopped in (self._away[key], self._unrepaired[key]):
            for pod, moment in list(stopped.items()):
                row = rows.get(pod)
                repaired = stopped is self._away[key] or (row is not None and not row.get("lagging"))
                if row is None or (_runs(row) and row.get("started", 0) > moment and repaired):
                    del stopped[pod]
        since = self._behind_since[key]
        lagging = {pod for pod, row in rows.items() if row.get("lagging")}
        self._behind_since[key] = {pod: since.get(pod, now) for pod in lagging}

    def hear(self, write: Write) -> Iterator[str]:
        heard = self._lives.hear(write)
        if isinstance(heard, Stop):
            key = (heard.namespace, heard.made.cluster)
            self._at_stop[heard.namespace, heard.pod] = self._truth.get(key, {})
            if heard.by in (OPERATOR, CONTROLLER):
                yield from self._stopped(key, heard)
        elif isinstance(heard, Replacement):
            truth = self._at_stop.pop((heard.namespace, heard.pod), {})
            if heard.by in (OPERATOR, CONTROLLER) and heard.changed:
                yield from self._leader_last(truth, heard)

    def _stopped(self, key: Key, stop: Stop) -> Iterator[str]:
        truth = self._truth.get(key, {})
        row, component = _rows(truth).get(stop.pod), stop.made.component
        if row is not None and _runs(row):
            others = [pod for pod in self._away[key] if pod != stop.pod and _component_of(pod, key[1]) == component]
            if component in _ONE_AT_A_TIME and others:
                yield f"I11: {stop.pod} was told to go while {', '.join(sorted(others))} was not back"
            for pod, since in self._behind_since[key].items():
                if pod in self._unrepaired[key] or stop.at - since > GRACE:
                    count = _rows(truth)[pod]["lagging"]
                    yield f"I11: {stop.pod} was told to go while {count} tablets on {pod} were behind"
        self._away[key][stop.pod] = self._unrepaired[key][stop.pod] = stop.at

    def _leader_last(self, truth: Mapping[str, Any], replacement: Replacement) -> Iterator[str]:
        rows = _rows(truth)
        row = rows.get(replacement.pod)
        if row is None or not _runs(row) or row.get("name") != truth["leader"]:
            return
        old = [
            pod
            for pod, made in self._lives.others(replacement)
            if made.revision != replacement.new and pod in rows and _runs(rows[pod])
        ]
        if replacement.gained:  # pods get new volumes from the lowest ordinal upwards: Kubernetes makes no others
            old = [pod for pod in old if _ordinal(pod) < _ordinal(replacement.pod)]
        if old:
            yield f"I11: {replacement.pod} led and was replaced before {', '.join(sorted(old))}"


def _rows(truth: Mapping[str, Any]) -> Rows:
    members = (*truth.get("frontends", ()), *truth.get("nodes", ()))
    return {row["host"].split(".")[0]: row for row in members}


def _runs(row: Mapping[str, Any]) -> bool:
    return bool(row["alive"]) and bool(row.get("answers", True))


def _component_of(pod: str, cluster: str) -> str:
    return pod.removeprefix(f"{cluster}-").rpartition("-")[0]


def _ordinal(pod: str) -> int:
    return int(pod.rpartition("-")[2])
