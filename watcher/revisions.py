"""The former templates that StatefulSets are to have again while their pods are replaced: read once, by name."""

from __future__ import annotations

from starrocks_operator.model import Key
from starrocks_operator.observed import Children
from starrocks_operator.rollout import revisions_needed
from watcher.kube import ApiError, Kube
from watcher.trim import Raw


class Revisions:
    """A ControllerRevision never changes, so it is kept for as long as it is needed."""

    def __init__(self, kube: Kube) -> None:
        self._kube = kube
        self._kept: dict[Key, dict[str, Raw]] = {}

    def forget(self, key: Key) -> None:
        self._kept.pop(key, None)

    async def of(self, key: Key, children: Children) -> dict[str, Raw]:
        """Those that are needed now, by name; without those that are gone."""
        needed = revisions_needed(children)
        if not needed:
            self.forget(key)
            return {}
        kept = self._kept.setdefault(key, {})
        for name in needed:
            if name not in kept and (found := await self._read(key.namespace, name)) is not None:
                kept[name] = found
        return {name: kept[name] for name in needed if name in kept}

    async def _read(self, namespace: str, name: str) -> Raw | None:
        try:
            return await self._kube.get(f"/apis/apps/v1/namespaces/{namespace}/controllerrevisions/{name}")
        except ApiError as error:
            if error.status == 404:
                return None
            raise
