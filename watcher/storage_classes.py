"""Whether a StorageClass lets volumes grow: asked only when one is to, and remembered for a while."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from watcher.kube import ApiError, Kube

GOOD = 20.0  # seconds that an answer is good for


class StorageClasses:
    """One answer for all clusters."""

    def __init__(self, kube: Kube, *, clock: Callable[[], float]) -> None:
        self._kube, self._clock = kube, clock
        self._kept: dict[str, tuple[bool | None, float]] = {}

    async def of(self, names: Iterable[str]) -> dict[str, bool | None]:
        """By name; None: we may not look."""
        return {name: await self._one(name) for name in names}

    async def _one(self, name: str) -> bool | None:
        kept = self._kept.get(name)
        if kept is None or self._clock() >= kept[1]:
            kept = self._kept[name] = (await self._read(name), self._clock() + GOOD)
        return kept[0]

    async def _read(self, name: str) -> bool | None:
        try:
            found = await self._kube.get(f"/apis/storage.k8s.io/v1/storageclasses/{name}")
        except ApiError as error:
            if error.status == 403:
                return None
            if error.status == 404:
                return False
            raise
        return bool(found.get("allowVolumeExpansion"))
