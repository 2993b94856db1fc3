"""The bootstrap marker: a ConfigMap in which the operator remembers that the cluster was founded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.metadata import Object, labels, make_object
from starrocks_operator.objects.names import marker_name
from starrocks_operator.observed import Children

MARKER_CLUSTER_ID = "cluster-id"
MARKER_OWNER_UID = "owner-uid"
MARKER_LEAVING = "leaving"
MARKER_MEMORY = "memory"


def marker(
    cluster: StarRocksCluster, cluster_id: str, *, leaving: Sequence[str] = (), memory: Sequence[str] = ()
) -> Object:
    """Remembers, where frontends can read it, that the cluster was founded: nobody founds it again.

    leaving: pods of frontends that are being taken out and must not join again by themselves.
    memory: what the operator must not forget of members on their way out; see `membership.second_memory`.
    """
    data = {MARKER_CLUSTER_ID: cluster_id, MARKER_OWNER_UID: cluster.metadata.uid}
    if leaving:
        data[MARKER_LEAVING] = " ".join(leaving)
    if memory:
        data[MARKER_MEMORY] = "\n".join(memory)
    return make_object(
        cluster,
        api_version="v1",
        kind="ConfigMap",
        name=marker_name(cluster),
        labels=labels(cluster, "fe"),
        data=data,
    )


def marker_data(cluster: StarRocksCluster, children: Children) -> Mapping[str, str]:
    """What the live marker says, if it is this very cluster's and not a namesake's."""
    live = children.get("ConfigMap", marker_name(cluster)) or {}
    data: Mapping[str, str] = live.get("data") or {}
    owners = (live.get("metadata") or {}).get("ownerReferences")
    # Without an owner it was orphaned: its cluster is being applied again.
    return data if data.get(MARKER_OWNER_UID) == cluster.uid or not owners else {}
