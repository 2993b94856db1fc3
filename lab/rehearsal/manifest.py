"""The StarRocksCluster of a rehearsal, as a person applies it."""

from __future__ import annotations

from typing import Any

from lab.rehearsal.kubernetes import Json

NAME = "sample"
FIELDS = {
    "fe": "starRocksFeSpec",
    "fe-observer": "starRocksFeObserverSpec",
    "be": "starRocksBeSpec",
    "cn": "starRocksCnSpec",
}
_HOME = "/opt/starrocks"


def manifest(*, fe: int, be: int, cn: int, **observers: int) -> Json:
    """The StarRocksCluster that a person applies."""

    def component(name: str, replicas: int, volume: str, path: str) -> dict[str, Any]:
        storage = {"name": volume, "mountPath": f"{_HOME}/{name}/{path}", "storageSize": "10Gi"}
        image = f"starrocks/{name}-ubuntu:3.3.9"
        return {"replicas": replicas, "image": image} | ({"storageVolumes": [storage]} if volume else {})

    spec: dict[str, Any] = {
        "starRocksFeSpec": component("fe", fe, "fe-meta", "meta"),
        "starRocksBeSpec": component("be", be, "be-data", "storage"),
    }
    if cn:
        spec["starRocksCnSpec"] = component("cn", cn, "", "")
    for name, count in observers.items():
        spec[FIELDS[name]] = {"replicas": count}
    return {
        "apiVersion": "starrocks.com/v1",
        "kind": "StarRocksCluster",
        "metadata": {"name": NAME, "namespace": "default"},
        "spec": spec,
    }
