"""A StatefulSet that is about to be made anew, written down: what it was, and the claims it is to be made with.

Claim templates cannot be changed. So the StatefulSet is deleted without its pods, and made again around them. In
between only this ConfigMap tells what cannot be told from the pods: everything is decided as if it were still there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.metadata import Object, labels, make_object
from starrocks_operator.objects.names import former_name, stateful_set_name
from starrocks_operator.observed import Children, ObjectKey, Raw

DOCUMENT = "stateful-set.json"
NO_UID = ""
"""A StatefulSet that is only remembered has no uid."""

_NOT_OURS = ("kubectl.kubernetes.io/last-applied-configuration",)


def written_down(
    live: Raw,
    claims: Sequence[Mapping[str, Any]],
    *,
    fields: Mapping[str, Any] | None = None,
    marks: Mapping[str, str] | None = None,
    revision: str | None = None,
) -> str:
    """claims: the claim templates that it is to have. fields: of its spec that are to be others. marks: annotations
    that are to be others; empty: none. revision: of its template, if that is another."""
    spec = {**(live.get("spec") or {}), **(fields or {}), "volumeClaimTemplates": list(claims)}
    metadata = live["metadata"]
    annotations = {**(metadata.get("annotations") or {}), **(marks or {})}
    annotations = {key: value for key, value in annotations.items() if value and key not in _NOT_OURS}
    if revision is None:
        revision = (live.get("status") or {}).get("updateRevision", "")
    document = {"uid": metadata.get("uid", ""), "annotations": annotations, "revision": revision, "spec": spec}
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def former(cluster: StarRocksCluster, component: str, document: str) -> Object:
    """The ConfigMap that keeps it."""
    return make_object(
        cluster,
        api_version="v1",
        kind="ConfigMap",
        name=former_name(cluster, component),
        labels=labels(cluster, component),
        data={DOCUMENT: document},
    )


def kept_in(cluster: StarRocksCluster, component: str, children: Children) -> str:
    """What is written down of the component's StatefulSet; empty: nothing, or not for this very cluster."""
    live = children.get("ConfigMap", former_name(cluster, component)) or {"metadata": {}}
    owners = live["metadata"].get("ownerReferences") or ()
    ours = any(owner.get("uid") == cluster.uid for owner in owners)
    return str((live.get("data") or {}).get(DOCUMENT, "")) if ours else ""


def with_remembered(cluster: StarRocksCluster, children: Children, components: Sequence[str]) -> Children:
    """The children, with the StatefulSets that are being made anew as they were, and are to be."""
    found = {}
    for component in components:
        name = stateful_set_name(cluster, component)
        if children.get("StatefulSet", name) is None and (document := kept_in(cluster, component, children)):
            found[ObjectKey("StatefulSet", name)] = _remembered(cluster, name, json.loads(document))
    return Children({**children.objects, **found}) if found else children


def is_remembered(stateful_set: Raw) -> bool:
    """Whether it is not there."""
    return bool(stateful_set["metadata"].get("uid") == NO_UID)


def _remembered(cluster: StarRocksCluster, name: str, document: Mapping[str, Any]) -> Raw:
    owner = {"uid": cluster.uid, "controller": True}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {
            "name": name,
            "namespace": cluster.namespace,
            "uid": NO_UID,
            "annotations": document["annotations"],
            "ownerReferences": [owner],
        },
        "spec": document["spec"],
        "status": {"updateRevision": document["revision"], "currentRevision": document["revision"]},
    }
