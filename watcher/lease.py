"""The Lease: of all processes that run this operator, one is at work.

Compare-and-swap on resourceVersion, so two can never both win. Another's Lease counts as expired only when it was
seen unchanged for its whole duration by our own clock; clocks of other machines are not believed. The library's
elector could do the taking, but neither the giving back at the end nor telling us at once that it was taken from us.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from watcher.kube import ApiError, Json, Kube
from watcher.logs import logger
from watcher.metrics import LEADER

log = logger(__name__)


class Lease:
    """Acquire, hold until lost, release."""

    def __init__(
        self,
        kube: Kube,
        *,
        namespace: str,
        name: str,
        identity: str,
        seconds: float,
        clock: Callable[[], float],
    ) -> None:
        self._kube, self._identity, self._seconds, self._clock = kube, identity, seconds, clock
        self._namespace, self._name = namespace, name
        self._seen: tuple[str, float] = ("", 0.0)  # another's resourceVersion, and since when we know it
        self._told = ""
        self.held = False
        self._renewed = clock()

    def lasts(self) -> bool:
        """Whether nobody else can have taken the Lease yet, by our own clock, which goes on while we are frozen."""
        return self.held and self._clock() < self._renewed + self._seconds

    @property
    def _collection(self) -> str:
        return f"/apis/coordination.k8s.io/v1/namespaces/{self._namespace}/leases"

    async def acquire(self) -> None:
        """Returns once the Lease is ours."""
        begun = self._clock()
        while not await self._attempt():
            await asyncio.sleep(self._seconds / 7)
            begun = self._clock()
        self.held, self._renewed = True, begun
        LEADER.set(1)
        log.info("lease acquired", lease=f"{self._namespace}/{self._name}", identity=self._identity)

    async def hold(self) -> None:
        """Renew; returns when the Lease is lost: taken, or not renewed in time for others to take it."""
        while True:
            await asyncio.sleep(self._seconds / 5)
            begun, deadline = self._clock(), self._renewed + self._seconds * 2 / 3
            try:
                async with asyncio.timeout(max(0.1, deadline - begun)):
                    mine = await self._attempt(renewing=True)
            except TimeoutError:
                mine = False
            if mine:
                self._renewed = begun
            elif not self.held or self._clock() >= deadline:
                break
        self.held = False
        LEADER.set(0)
        log.error("lease lost", lease=f"{self._namespace}/{self._name}")

    async def release(self) -> None:
        """Give it back, so that the next one need not wait."""
        if not self.held:
            return
        self.held = False
        LEADER.set(0)
        try:
            lease = await self._kube.get(f"{self._collection}/{self._name}")
            if lease["spec"].get("holderIdentity") == self._identity:
                lease["spec"] |= {"holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": _now()}
                await self._kube.request("PUT", f"{self._collection}/{self._name}", body=lease, timeout=2.0)
        except ApiError as error:
            log.debug("could not release the lease", error=str(error))

    async def _attempt(self, *, renewing: bool = False) -> bool:
        """Take or renew the Lease if that is our right now."""
        try:
            return await self._take(renewing)
        except ApiError as error:
            if error.status != 409:  # that is only somebody who was quicker
                self._tell(f"The Lease cannot be had: {error}")
            return False

    async def _take(self, renewing: bool) -> bool:
        path = f"{self._collection}/{self._name}"
        try:
            lease = await self._kube.get(path)
        except ApiError as error:
            if error.status != 404:
                raise
            await self._kube.request("POST", self._collection, body=self._new())
            return True
        spec: dict[str, Any] = lease.setdefault("spec", {})
        holder = spec.get("holderIdentity") or ""
        if holder != self._identity:
            if renewing and holder:
                self.held = False  # taken from us: not a moment longer
                return False
            if not self._expired(lease):
                self._tell(f"{holder} holds the Lease; waiting.")
                return False
            spec["leaseTransitions"] = int(spec.get("leaseTransitions") or 0) + 1
            spec["acquireTime"] = _now()
        spec |= {"holderIdentity": self._identity, "leaseDurationSeconds": round(self._seconds), "renewTime": _now()}
        await self._kube.request("PUT", path, body=lease)
        return True

    def _expired(self, lease: Json) -> bool:
        spec = lease["spec"]
        if not spec.get("holderIdentity"):
            return True
        version, now = str(lease["metadata"]["resourceVersion"]), self._clock()
        if self._seen[0] != version:
            self._seen = (version, now)
        return now - self._seen[1] > float(spec.get("leaseDurationSeconds") or self._seconds)

    def _new(self) -> Json:
        return {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": self._name, "namespace": self._namespace},
            "spec": {
                "holderIdentity": self._identity,
                "leaseDurationSeconds": round(self._seconds),
                "acquireTime": _now(),
                "renewTime": _now(),
                "leaseTransitions": 0,
            },
        }

    def _tell(self, sentence: str) -> None:
        if sentence != self._told:
            self._told = sentence
            log.info(sentence)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
