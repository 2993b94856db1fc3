"""The cluster id on the frontends' volumes: it lives as long as the metadata does.

The marker ConfigMap goes with its StarRocksCluster. When one of the same name is applied again on the volumes that
were kept, a frontend whose own volume is new must still not found a second cluster: the other volumes say so.
"""

from __future__ import annotations

from collections.abc import Iterator

from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.metadata import APPLIED_HASH, COMPONENT_LABEL, OWNER_LABEL, Object, content_hash
from starrocks_operator.objects.names import stateful_set_name
from starrocks_operator.observed import Children, Raw

CLUSTER_ID = "starrocks.com/cluster-id"


def frontend_claims(cluster: StarRocksCluster, children: Children) -> Iterator[Raw]:
    """The claims of the frontends that are there and stay."""
    wanted = {OWNER_LABEL: stateful_set_name(cluster, "fe"), COMPONENT_LABEL: "fe"}
    for claim in children.of_kind("PersistentVolumeClaim"):
        labels = claim["metadata"].get("labels") or {}
        if not claim["metadata"].get("deletionTimestamp") and wanted.items() <= labels.items():
            yield claim


def claimed_ids(cluster: StarRocksCluster, children: Children) -> set[str]:
    """The cluster ids that the frontends' volumes carry."""
    found = {
        str((claim["metadata"].get("annotations") or {}).get(CLUSTER_ID) or "")
        for claim in frontend_claims(cluster, children)
    }
    return found - {""}


def claim_mark(cluster: StarRocksCluster, claim: str, cluster_id: str) -> Object:
    """One annotation on a claim. Without an owner, so that the volume outlives its cluster."""
    mark: Object = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": claim,
            "namespace": cluster.metadata.namespace,
            "annotations": {CLUSTER_ID: cluster_id},
        },
    }
    mark["metadata"]["annotations"][APPLIED_HASH] = content_hash(mark)
    return mark
