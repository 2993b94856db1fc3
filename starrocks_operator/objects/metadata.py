"""What every object carries: labels by which it is found, its owner, and the hash of what we wanted of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from starrocks_operator.components import FE_PROXY
from starrocks_operator.model import (
    GROUP,
    GROUP_API,
    GROUP_KIND,
    KIND,
    VERSION,
    WAREHOUSE_KIND,
    LoadSpec,
    StarRocksCluster,
)
from starrocks_operator.objects.names import stateful_set_name

OWNER_LABEL = "app.starrocks.ownerreference/name"
GROUP_LABEL = "starrocks.com/compute-node-group"
"""On everything of a ComputeNodeGroup, in place of OWNER_LABEL: a cluster never takes such an object for its own."""
COMPONENT_LABEL = "app.kubernetes.io/component"
APPLIED_HASH = "starrocks.com/applied-hash"
TEMPLATE_HASH = "starrocks.com/template-hash"
TEMPLATE_SOURCE = "starrocks.com/template-source"
"""What the template was made from; see `template_source`."""
PROFILE = "starrocks.com/profile"

Object = dict[str, Any]

_API_VERSIONS = {KIND: f"{GROUP}/{VERSION}", WAREHOUSE_KIND: f"{GROUP}/{VERSION}", GROUP_KIND: GROUP_API}


def labels(cluster: StarRocksCluster, component: str) -> dict[str, str]:
    """Labels of workloads, Services and everything else but pods."""
    return {**shared_labels(cluster, component), owner_label(cluster): cluster.name, COMPONENT_LABEL: component}


def owner_label(cluster: StarRocksCluster) -> str:
    """The label that says whose an object is."""
    return GROUP_LABEL if cluster.kind == GROUP_KIND else OWNER_LABEL


def shared_labels(cluster: StarRocksCluster, component: str) -> dict[str, str]:
    """What the user wants on every object of a component."""
    spec: LoadSpec | None = cluster.spec.fe_proxy
    if component != FE_PROXY.name:
        spec = {str(name): each for name, each in cluster.spec.components.items()}.get(component)
    return dict(spec.shared_labels) if spec else {}


def selector(cluster: StarRocksCluster, component: str) -> dict[str, str]:
    """Labels of pods: here the owner is the StatefulSet, except in a group, which has only one."""
    if cluster.kind == GROUP_KIND:
        return {GROUP_LABEL: cluster.name, COMPONENT_LABEL: component}
    return {OWNER_LABEL: stateful_set_name(cluster, component), COMPONENT_LABEL: component}


def owner_reference(cluster: StarRocksCluster) -> Object:
    return {
        **kind_of(cluster),
        "name": cluster.resource_name,
        "uid": cluster.metadata.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def kind_of(cluster: StarRocksCluster) -> dict[str, str]:
    """Kind of the resource, in the version that refers to it."""
    kind = cluster.kind if cluster.kind in _API_VERSIONS else KIND
    return {"apiVersion": _API_VERSIONS[kind], "kind": kind}


def make_object(
    cluster: StarRocksCluster,
    *,
    api_version: str,
    kind: str,
    name: str,
    labels: Mapping[str, str],
    annotations: Mapping[str, str] | None = None,
    **content: Any,
) -> Object:
    """An object of the cluster, owned by it and stamped with the hash of its own content."""
    metadata: Object = {
        "name": name,
        "namespace": cluster.metadata.namespace,
        "labels": dict(labels),
        "ownerReferences": [owner_reference(cluster)],
    }
    if annotations:
        metadata["annotations"] = dict(annotations)
    made = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **content}
    metadata.setdefault("annotations", {})[APPLIED_HASH] = content_hash(made)
    return made


def content_hash(wanted: Mapping[str, Any]) -> str:
    """The hash of a wanted object, without the annotation that carries it."""
    content = json.dumps(wanted, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def without_empty(content: Mapping[str, Any]) -> Object:
    """The fields that say something: what is absent, and empty lists, maps and strings, is left to Kubernetes."""
    return {key: value for key, value in content.items() if value is not None and value not in ("", (), [], {})}
