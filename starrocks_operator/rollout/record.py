"""What the status remembers of a roll: whose turn it is, what it waits for, and how things stood when it began.

A lost record costs time and never safety: without it a roll that has begun counts on no unhealthy tablets from
before, and a new generation has to prove itself by its age.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from starrocks_operator.membership.pods import instant
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.rollout.image import Image
from starrocks_operator.rollout.roll import Roll


@dataclass(frozen=True, kw_only=True)
class Record:
    """component, pod: whose turn it is, or was last. gate: the gate that objects; empty: none.

    since: when a pod was replaced last, or the roll began. done, total: pods that are as wanted, and all of them.
    baseline: tablets that were unhealthy before; None: not known. uid: of the pod whose turn it was, before it was
    replaced; started: when its process had started, in FE's words. seen: when FE was first seen to count its successor
    as alive. minor: whether a minor release changes. quiet: whom we keep queries from, see `quiet`. began: when the
    first pod was to be replaced. image: of the metadata, see `image`.
    """

    component: str = ""
    pod: str = ""
    gate: str = ""
    since: datetime
    done: int = 0
    total: int = 0
    baseline: int | None = None
    generation: int = 0
    started: str = ""
    uid: str = ""
    seen: datetime | None = None
    minor: bool = False
    quiet: tuple[str, ...] = ()
    began: datetime | None = None
    image: Image | None = None

    def document(self) -> dict[str, Any]:
        """The form in `status.rollout`."""
        found: dict[str, Any] = {
            "component": self.component,
            "pod": self.pod,
            "gate": self.gate,
            "since": _written(self.since),
            "done": self.done,
            "total": self.total,
            "baseline": self.baseline,
            "generation": self.generation,
            "started": self.started,
            "uid": self.uid,
            "minor": self.minor,
            "quiet": list(self.quiet),
            "seen": self.seen and self.seen.astimezone(UTC).isoformat(),
            "began": self.began and _written(self.began),
            "image": self.image and self.image.document(),
        }
        return {key: value for key, value in found.items() if not (value in ("", None, []) or value is False)}

    @classmethod
    def of(cls, cluster: StarRocksCluster) -> Record | None:
        """What the status tells; None: of no roll."""
        told = (cluster.status.rollout if cluster.status else None) or {}
        since = instant(told.get("since"))
        if since is None:
            return None
        return cls(
            component=str(told.get("component", "")),
            pod=str(told.get("pod", "")),
            gate=str(told.get("gate", "")),
            since=since,
            done=_number(told, "done") or 0,
            total=_number(told, "total") or 0,
            baseline=_number(told, "baseline"),
            generation=_number(told, "generation") or 0,
            started=str(told.get("started", "")),
            uid=str(told.get("uid", "")),
            seen=instant(told.get("seen")),
            minor=told.get("minor") is True,
            quiet=tuple(map(str, told.get("quiet") or ())),
            began=instant(told.get("began")),
            image=Image.of(told.get("image")),
        )

    def turned_to(self, component: str, pod: str, *, uid: str, started: str) -> Record:
        """When another pod's turn has come: what is remembered of the one before is over."""
        if (component, pod, uid) == (self.component, self.pod, self.uid):
            return self
        return replace(self, component=component, pod=pod, uid=uid, started=started, seen=None)


def record_of(cluster: StarRocksCluster, rolls: Iterable[Roll], now: datetime, *, unhealthy: int | None) -> Record:
    """The record as it stands now, before anything is decided. Time goes on from the last pod that was replaced."""
    rolls = tuple(rolls)
    before = Record.of(cluster)
    done = sum(pod.new and pod.pod.ready for roll in rolls for pod in roll.pods)
    total = sum(len(roll.pods) for roll in rolls)
    begun = any(pod.new for roll in rolls if roll.old for pod in roll.pods)
    if before is None:
        baseline = 0 if begun else unhealthy
        return Record(since=now, done=done, total=total, baseline=baseline, generation=cluster.generation)
    moved = (before.done, before.generation) != (done, cluster.generation)
    baseline = before.baseline
    if baseline is None and not begun:
        baseline = unhealthy
    if baseline is not None and unhealthy is not None:
        baseline = min(baseline, unhealthy)  # what has healed meanwhile is an excuse no more
    return replace(
        before,
        since=now if moved else before.since,
        done=done,
        total=total,
        baseline=baseline,
        generation=cluster.generation,
    )


def _number(told: Mapping[str, Any], key: str) -> int | None:
    value = told.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
