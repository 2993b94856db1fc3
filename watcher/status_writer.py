"""The one writer of `.status`: the whole of it, only when it differs, and only on the very object that was judged.

And of a finalizer, where a realm has one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from watcher.kube import JSON_PATCH, ApiError, Kube
from watcher.realm import CLUSTERS, Realm
from watcher.trim import Raw, trim


class GoneError(Exception):
    """The StarRocksCluster was deleted meanwhile, or made anew under the same name: nothing to say about it."""


class StatusWriter:
    """Writes status documents."""

    def __init__(self, kube: Kube, realm: Realm = CLUSTERS) -> None:
        self._kube, self._realm = kube, realm

    async def write(self, raw: Raw, status: Mapping[str, Any]) -> Raw | None:
        """Make `status` the object's status. Returns the object as it is now; None: it was so already."""
        if (raw.get("status") or {}) == status:
            return None
        return await self._patch(raw, "/status", {"op": "add", "path": "/status", "value": status})

    async def hold(self, raw: Raw) -> Raw | None:
        """Give a resource the finalizer that its realm asks for; None: nothing is to be done."""
        held = raw["metadata"].get("finalizers") or []
        if not self._realm.finalizer or self._realm.finalizer in held or raw["metadata"].get("deletionTimestamp"):
            return None
        return await self._patch(raw, "", self._finalizers([*held, self._realm.finalizer]), version=True)

    async def release(self, raw: Raw) -> None:
        """Take the finalizer away: what it was for is done."""
        held = raw["metadata"].get("finalizers") or []
        if self._realm.finalizer in held:
            left = [name for name in held if name != self._realm.finalizer]
            await self._patch(raw, "", self._finalizers(left), version=True)

    def _finalizers(self, names: list[str]) -> dict[str, Any]:
        return {"op": "add", "path": "/metadata/finalizers", "value": names}

    async def _patch(self, raw: Raw, subresource: str, change: dict[str, Any], *, version: bool = False) -> Raw:
        """version: only if the object is as we know it."""
        metadata = raw["metadata"]
        resource = self._realm.resources.get(raw.get("kind", ""), self._realm.resource)
        path = f"{resource.path(metadata['namespace'])}/{metadata['name']}{subresource}"
        patch = [{"op": "test", "path": "/metadata/uid", "value": metadata["uid"]}]
        if version:
            version_known = metadata["resourceVersion"]
            patch.append({"op": "test", "path": "/metadata/resourceVersion", "value": version_known})
        try:
            answer = await self._kube.request("PATCH", path, body=[*patch, change], content=JSON_PATCH)
        except ApiError as error:
            if error.status == 404 or (error.status == 422 and "test" in str(error).lower()):
                raise GoneError from error
            raise
        return trim(answer)
