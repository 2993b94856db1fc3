"""The official operator: two operators on the same resources would undo each other's work, so we step aside.

It is at work if its Lease was renewed within its duration. Where we may not look, we say so, once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from watcher.kube import ApiError, Json, Kube
from watcher.logs import logger
from watcher.metrics import RIVAL

log = logger(__name__)
LEASES = "/apis/coordination.k8s.io/v1"


@dataclass(frozen=True)
class Sighting:
    """active: step aside. message: a sentence for a person, empty if there is nothing to say."""

    active: bool
    message: str = ""


class Rival:
    """Looks for a fresh Lease of the official operator."""

    def __init__(
        self, kube: Kube, *, name: str, namespaces: Iterable[str], now: Callable[[], datetime] | None = None
    ) -> None:
        self._kube, self._name = kube, name
        self._namespaces = tuple(dict.fromkeys(namespaces))
        self._now = now or (lambda: datetime.now(UTC))
        self._told = ""
        self.message = ""

    async def look(self) -> Sighting:
        sighting = await self._look() if self._name else Sighting(False)
        RIVAL.set(sighting.active)
        self.message = sighting.message if sighting.active else ""
        if sighting.message != self._told:
            self._told = sighting.message
            log.warning(sighting.message or "The official operator is no longer at work.")
        return sighting

    async def _look(self) -> Sighting:
        try:
            leases, unseen = await self._leases()
        except ApiError as error:
            return Sighting(bool(self.message), f"Cannot look for the official operator: {error}")
        for lease in leases:
            if fresh(lease, self._now()):
                where = f"{lease['metadata']['namespace']}/{self._name}"
                holder = lease["spec"].get("holderIdentity", "somebody")
                return Sighting(
                    True,
                    f"The official StarRocks operator is at work: {holder} holds the Lease {where}. Stop it "
                    "(scale its Deployment to 0); this operator begins when that Lease is no longer renewed.",
                )
        if unseen:
            return Sighting(
                False,
                f"May not look for the official operator's Lease {self._name} in {', '.join(unseen)}: grant `list` "
                "on leases (coordination.k8s.io), or make sure that it does not run there.",
            )
        return Sighting(False)

    async def _leases(self) -> tuple[list[Json], list[str]]:
        """Those of that name: everywhere, or else in the namespaces that we know; and where we may not look."""
        try:
            everywhere = await self._kube.get(f"{LEASES}/leases?fieldSelector=metadata.name%3D{self._name}")
            return everywhere.get("items") or [], []
        except ApiError as error:
            if error.status != 403:
                raise
        found, unseen = [], ["other namespaces"]
        for namespace in self._namespaces:
            try:
                found.append(await self._kube.get(f"{LEASES}/namespaces/{namespace}/leases/{self._name}"))
            except ApiError as error:
                if error.status == 403:
                    unseen.append(namespace)
                elif error.status != 404:
                    raise
        return found, unseen


def fresh(lease: Json, now: datetime) -> bool:
    """Whether it was renewed within its own duration."""
    spec = lease.get("spec") or {}
    renewed, seconds = spec.get("renewTime"), spec.get("leaseDurationSeconds")
    if not (renewed and seconds and spec.get("holderIdentity")):
        return False
    return (now - datetime.fromisoformat(renewed)).total_seconds() <= float(seconds)
