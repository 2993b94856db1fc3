"""Which of the operator's own configurations nothing refers to any more: no pod, no template, no revision, no wish.

A StatefulSet keeps some former revisions, and goes back to one when its spec does: their ConfigMaps must be there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.inline_configuration import CONFIGURATION_LABEL
from starrocks_operator.observed import Children, ObjectKey, Raw


def candidates(children: Children) -> frozenset[str]:
    """Configurations that neither a pod nor a live template mounts. Only for these it is worth asking for revisions."""
    made = {
        raw["metadata"]["name"]
        for raw in children.of_kind("ConfigMap")
        if CONFIGURATION_LABEL in (raw["metadata"].get("labels") or {})
    }
    if not made:
        return frozenset()
    used = set[str]()
    for raw in children.of_kind("Pod"):
        used |= mounted(raw)
    for raw in children.of_kind("StatefulSet"):
        used |= mounted((raw.get("spec") or {}).get("template") or {})
    return frozenset(made - used)


def mounted(template: Raw) -> set[str]:
    """The ConfigMaps that a pod, or a template of pods, mounts."""
    volumes = (template.get("spec") or {}).get("volumes") or ()
    return {str(volume["configMap"].get("name", "")) for volume in volumes if volume.get("configMap")}


def mentioned_in(revisions: Iterable[Raw]) -> frozenset[str]:
    """The ConfigMaps that ControllerRevisions mount."""
    found = set[str]()
    for raw in revisions:
        template: dict[str, Any] = ((raw.get("data") or {}).get("spec") or {}).get("template") or {}
        found |= mounted(template)
    return frozenset(found)


def collectable(
    cluster: StarRocksCluster, children: Children, mentioned: frozenset[str] | None, wanted: Iterable[ObjectKey]
) -> tuple[ObjectKey, ...]:
    """Those to be deleted. mentioned: by ControllerRevisions; None: nobody looked, so everything may be."""
    if mentioned is None:
        return ()
    kept = {key.name for key in wanted if key.kind == "ConfigMap"} | mentioned
    keys = (ObjectKey("ConfigMap", name) for name in sorted(candidates(children) - kept))
    return tuple(key for key in keys if _ours(cluster, children.get(key.kind, key.name)))


def _ours(cluster: StarRocksCluster, live: Raw | None) -> bool:
    owners = ((live or {}).get("metadata") or {}).get("ownerReferences") or ()
    mine = any(owner.get("controller") and owner.get("uid") == cluster.uid for owner in owners)
    return mine and not (live or {})["metadata"].get("deletionTimestamp")
