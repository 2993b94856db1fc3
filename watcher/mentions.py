"""Which ConfigMaps the former revisions of a cluster's StatefulSets mount: looked up only when one might be deleted."""

from __future__ import annotations

from urllib.parse import quote

from starrocks_operator.components import COMPONENTS
from starrocks_operator.config import candidates, mentioned_in
from starrocks_operator.model import Key
from starrocks_operator.observed import Children
from watcher.keys import OWNER_LABEL
from watcher.kube import Kube

_Known = tuple[frozenset[str], tuple[tuple[str, str], ...]]


class Mentions:
    """Asked again only when another ConfigMap or another revision is there."""

    def __init__(self, kube: Kube) -> None:
        self._kube = kube
        self._kept: dict[Key, tuple[_Known, frozenset[str]]] = {}

    def forget(self, key: Key) -> None:
        self._kept.pop(key, None)

    async def of(self, key: Key, children: Children) -> frozenset[str] | None:
        """None: there is nothing that might be deleted."""
        doubtful = candidates(children)
        if not doubtful:
            self.forget(key)
            return None
        workloads = children.of_kind("StatefulSet")
        revisions = tuple(
            (raw["metadata"]["name"], str((raw.get("status") or {}).get("updateRevision", ""))) for raw in workloads
        )
        kept = self._kept.get(key)
        if kept is None or kept[0] != (doubtful, revisions):
            kept = self._kept[key] = ((doubtful, revisions), await self._read(key))
        return kept[1]

    async def _read(self, key: Key) -> frozenset[str]:
        owners = ",".join(f"{key.name}-{component}" for component in COMPONENTS)
        selector = quote(f"{OWNER_LABEL} in ({owners})")
        path = f"/apis/apps/v1/namespaces/{key.namespace}/controllerrevisions?labelSelector={selector}"
        return mentioned_in((await self._kube.get(path)).get("items") or ())
