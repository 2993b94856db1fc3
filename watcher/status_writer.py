"""The one writer of `.status`: the whole of it, only when it differs, and only on the very object that was judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from watcher.kinds import CLUSTER, RESOURCES
from watcher.kube import JSON_PATCH, ApiError, Kube
from watcher.trim import Raw, trim


class GoneError(Exception):
    """The StarRocksCluster was deleted meanwhile, or made anew under the same name: nothing to say about it."""


class StatusWriter:
    """Writes status documents."""

    def __init__(self, kube: Kube) -> None:
        self._kube = kube

    async def write(self, raw: Raw, status: Mapping[str, Any]) -> Raw | None:
        """Make `status` the object's status. Returns the object as it is now; None: it was so already."""
        if (raw.get("status") or {}) == status:
            return None
        metadata = raw["metadata"]
        path = f"{RESOURCES.get(raw.get('kind', ''), CLUSTER).path(metadata['namespace'])}/{metadata['name']}/status"
        patch = [
            {"op": "test", "path": "/metadata/uid", "value": metadata["uid"]},
            {"op": "add", "path": "/status", "value": status},
        ]
        try:
            answer = await self._kube.request("PATCH", path, body=patch, content=JSON_PATCH)
        except ApiError as error:
            if error.status == 404 or (error.status == 422 and "test" in str(error).lower()):
                raise GoneError from error
            raise
        return trim(answer)
