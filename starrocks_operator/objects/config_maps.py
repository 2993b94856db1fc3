"""The ConfigMaps of the operator: the bootstrap marker, and the scripts that run inside frontend pods."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.metadata import Object, labels, make_object
from starrocks_operator.objects.names import marker_name, scripts_name

START_SCRIPT = "fe_start.sh"
MARKER_CLUSTER_ID = "cluster-id"
MARKER_OWNER_UID = "owner-uid"
MARKER_LEAVING = "leaving"


def marker(cluster: StarRocksCluster, cluster_id: str, *, leaving: Sequence[str] = ()) -> Object:
    """Remembers, where frontends can read it, that the cluster was founded: nobody founds it again.

    leaving: pods of frontends that are being taken out and must not join again by themselves.
    """
    data = {MARKER_CLUSTER_ID: cluster_id, MARKER_OWNER_UID: cluster.metadata.uid}
    if leaving:
        data[MARKER_LEAVING] = " ".join(leaving)
    return make_object(
        cluster,
        api_version="v1",
        kind="ConfigMap",
        name=marker_name(cluster),
        labels=labels(cluster, "fe"),
        data=data,
    )


def scripts(cluster: StarRocksCluster) -> Object:
    return make_object(
        cluster,
        api_version="v1",
        kind="ConfigMap",
        name=scripts_name(cluster),
        labels=labels(cluster, "fe"),
        data={START_SCRIPT: start_script()},
    )


@cache
def start_script() -> str:
    """The frontends' start script, as shipped in the package."""
    return (files("starrocks_operator") / "scripts" / START_SCRIPT).read_text(encoding="utf-8")
