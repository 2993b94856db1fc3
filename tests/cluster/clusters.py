"""StarRocksClusters for tests, as small as they can be."""

from __future__ import annotations

from typing import Any


def cluster(
    name: str = "one", *, fe: int = 1, be: int | None = None, cn: int | None = None, volumes: bool = False, **spec: Any
) -> dict[str, Any]:
    """A cluster of so many nodes; with `volumes`, on persistent ones."""
    document: dict[str, Any] = {
        "apiVersion": "starrocks.com/v1",
        "kind": "StarRocksCluster",
        "metadata": {"name": name},
        "spec": {"starRocksFeSpec": component("fe", fe), **spec},
    }
    if be is not None:
        document["spec"]["starRocksBeSpec"] = component("be", be)
    if cn is not None:
        document["spec"]["starRocksCnSpec"] = component("cn", cn)
    if volumes:
        document["spec"]["starRocksFeSpec"]["storageVolumes"] = [volume("fe-meta", "/opt/starrocks/fe/meta")]
        if be is not None:
            document["spec"]["starRocksBeSpec"]["storageVolumes"] = [volume("be-data", "/opt/starrocks/be/storage")]
    return document


def component(kind: str, replicas: int) -> dict[str, Any]:
    return {"image": f"starrocks/{kind}-ubuntu:3.3.9", "replicas": replicas}


def volume(name: str, path: str) -> dict[str, Any]:
    return {"name": name, "mountPath": path, "storageSize": "1Gi"}
