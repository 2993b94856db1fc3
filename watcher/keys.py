"""Which cluster an object belongs to, from the object alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starrocks_operator.components import COMPONENTS, FE_PROXY
from starrocks_operator.model import GROUP, KIND, WAREHOUSE_KIND, Key
from starrocks_operator.model.warehouse import SUFFIX

OWNER_LABEL = "app.starrocks.ownerreference/name"
COMPONENT_LABEL = "app.kubernetes.io/component"
RESOURCE_SUFFIXES = {KIND: "", WAREHOUSE_KIND: SUFFIX}
BY_LABEL = frozenset({"Pod", "PersistentVolumeClaim"})  # their controller is a StatefulSet, or nobody
COMPONENT_LABELS = frozenset({*COMPONENTS, FE_PROXY.name, "autoscaler"})


def key_of(raw: Mapping[str, Any]) -> Key | None:
    """The cluster that this StarRocksCluster is, or that this object is a child of; None: no cluster's. A warehouse
    is one, too, by the name from which its objects have theirs."""
    metadata = raw["metadata"]
    namespace: str = metadata.get("namespace", "")
    if raw["kind"] in RESOURCE_SUFFIXES:
        return Key(namespace, f"{metadata['name']}{RESOURCE_SUFFIXES[raw['kind']]}")
    name = _by_label(metadata) if raw["kind"] in BY_LABEL else _by_owner(metadata)
    return Key(namespace, name) if name else None


def component_of(raw: Mapping[str, Any]) -> str:
    return str((raw["metadata"].get("labels") or {}).get(COMPONENT_LABEL, ""))


def host_name(key: Key) -> str:
    """The cluster as a host of a play; neither part can hold a dot."""
    return f"{key.namespace}.{key.name}"


def _by_label(metadata: Mapping[str, Any]) -> str:
    """`sample-fe` with component `fe` is a pod of `sample`; with component `be` it is none of ours."""
    labels = metadata.get("labels") or {}
    suffix = f"-{labels.get(COMPONENT_LABEL, '')}"
    owner: str = labels.get(OWNER_LABEL, "")
    return owner.removesuffix(suffix) if len(suffix) > 1 and owner.endswith(suffix) else ""


def _by_owner(metadata: Mapping[str, Any]) -> str:
    """The controller's name. Objects that were orphaned have none; their labels still tell whose they are."""
    controllers = [owner for owner in metadata.get("ownerReferences") or () if owner.get("controller")]
    if not controllers:
        return _orphan_of(metadata)
    for reference in controllers:
        if reference.get("kind") in RESOURCE_SUFFIXES and _group(reference) == GROUP:
            return f"{reference['name']}{RESOURCE_SUFFIXES[reference['kind']]}"
    return ""


def _orphan_of(metadata: Mapping[str, Any]) -> str:
    """Everything but pods and claims carries the name of the cluster itself."""
    labels = metadata.get("labels") or {}
    return str(labels.get(OWNER_LABEL, "")) if labels.get(COMPONENT_LABEL) in COMPONENT_LABELS else ""


def _group(reference: Mapping[str, Any]) -> str:
    return str(reference.get("apiVersion", "")).partition("/")[0]
