"""Claims that are to grow: how large each is, shall be, and how far Kubernetes and the driver are with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from starrocks_operator.model import ComponentSpec, StarRocksCluster
from starrocks_operator.model.quantity import parse_quantity
from starrocks_operator.objects.names import pod_name, stateful_set_name
from starrocks_operator.objects.volumes import claims_of
from starrocks_operator.observed import Children, Raw

PATIENCE = timedelta(minutes=10)
"""So long a driver may take to grow a volume until a person is told."""

_PENDING = "FileSystemResizePending"
_ERRORS = ("ControllerResizeError", "NodeResizeError")
_INFEASIBLE = "Infeasible"


@dataclass(frozen=True, kw_only=True)
class Growing:
    """One claim of a pod that stays, smaller than its spec asks for, or on its way there.

    asked: its size in the spec. requested: whether that, or more, is already asked of its driver.
    """

    name: str
    pod: str
    asked: str
    raw: Raw
    requested: bool

    @property
    def uid(self) -> str:
        return str(self.raw["metadata"].get("uid", ""))

    @property
    def has(self) -> str:
        return _storage((self.raw.get("spec") or {}).get("resources"), "requests")

    @property
    def storage_class(self) -> str:
        return str((self.raw.get("spec") or {}).get("storageClassName") or "")

    @property
    def pending(self) -> bool:
        """Whether only its file system has yet to grow, which happens where it is mounted."""
        return any(item.get("type") == _PENDING and item.get("status") == "True" for item in self._conditions)

    def trouble(self, now: datetime) -> str:
        """What the driver says against it, as the end of a sentence; empty: nothing, or not for long."""
        told = (self.raw.get("status") or {}).get("allocatedResourceStatuses") or {}
        failed = next((item for item in self._conditions if item.get("type") in _ERRORS), None)
        said = str((failed or {}).get("message") or "no reason given")[:300]
        if str(told.get("storage", "")).endswith(_INFEASIBLE):
            return f"its driver cannot make it so large ({said})"
        if failed is not None and failed.get("status") == "True":
            return f"its driver fails to ({said})"
        since = min((at for item in self._conditions if (at := _instant(item.get("lastTransitionTime")))), default=None)
        if since is None or now - since < PATIENCE:
            return ""
        if self.pending:
            return f"its file system has not grown since {since:%H:%M} UTC: some drivers need pod {self.pod} restarted"
        return f"its driver has not grown it since {since:%H:%M} UTC"

    @property
    def _conditions(self) -> tuple[Mapping[str, Any], ...]:
        return tuple((self.raw.get("status") or {}).get("conditions") or ())


def growing(
    cluster: StarRocksCluster, name: str, spec: ComponentSpec, children: Children, *, pods: int
) -> Iterator[Growing]:
    """The claims of the first so many pods that are smaller than asked for."""
    for claim in claims_of(spec):
        asked = parse_quantity(claim.size)
        if asked is None:
            continue
        for ordinal in range(pods):
            pod = pod_name(cluster, name, ordinal)
            raw = children.get("PersistentVolumeClaim", f"{claim.name}-{pod}")
            if raw is None or raw["metadata"].get("deletionTimestamp"):
                continue
            requests, has = _storage((raw.get("spec") or {}).get("resources"), "requests"), _capacity(raw)
            if requests == has == claim.size:  # as it nearly always is
                continue
            requested, capacity = parse_quantity(requests), parse_quantity(has)
            if requested is None or (requested >= asked and (capacity is None or capacity >= asked)):
                continue
            yield Growing(
                name=raw["metadata"]["name"], pod=pod, asked=claim.size, raw=raw, requested=requested >= asked
            )


def classes_needed(cluster: StarRocksCluster, children: Children) -> tuple[str, ...]:
    """The StorageClasses of the claims that are still to be told to grow."""
    found = {
        claim.storage_class
        for name, spec in cluster.spec.components.items()
        for claim in growing(cluster, name, spec, children, pods=min(spec.replicas, _live(cluster, name, children)))
        if not claim.requested
    }
    return tuple(sorted(found - {""}))


def _live(cluster: StarRocksCluster, name: str, children: Children) -> int:
    """The replicas that the component has."""
    live = children.get("StatefulSet", stateful_set_name(cluster, name))
    return int((live.get("spec") or {}).get("replicas", 1)) if live is not None else 0


def _capacity(raw: Raw) -> str:
    return _storage(raw.get("status"), "capacity")


def _storage(value: Any, field: str) -> str:
    return str(((value or {}).get(field) or {}).get("storage", ""))


def _instant(text: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text))
    except ValueError:
        return None
