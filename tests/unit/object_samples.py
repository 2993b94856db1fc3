"""Clusters for the builder's tests, and short ways to build one and to look into it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starrocks_operator.decision import COMPONENTS, Context
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects import build

UID = "5f0c7a52-0d9e-4c1b-8a51-4c2a30b3f6ad"
SPEC_FIELDS = {
    "fe": "starRocksFeSpec",
    "fe-observer": "starRocksFeObserverSpec",
    "be": "starRocksBeSpec",
    "cn": "starRocksCnSpec",
    "fe_proxy": "starRocksFeProxySpec",
}
ENV_FIELDS = {"fe": "feEnvVars", "be": "beEnvVars", "cn": "cnEnvVars"}


def cluster(name: str = "kube", namespace: str = "db", **specs: Mapping[str, Any]) -> StarRocksCluster:
    """A cluster with these component specs: cluster(fe={"replicas": 3})."""
    return StarRocksCluster.parse(
        {
            "apiVersion": "starrocks.com/v1",
            "kind": "StarRocksCluster",
            "metadata": {"name": name, "namespace": namespace, "uid": UID, "generation": 1},
            "spec": {SPEC_FIELDS[component]: dict(spec) for component, spec in specs.items()},
        }
    )


def context(of: StarRocksCluster, **changes: Any) -> Context:
    """What is decided when nothing stands in the way."""
    replicas = {component: spec.replicas for component, spec in of.spec.components.items()}
    return Context(**{"profile": "upstream", "components": COMPONENTS, "replicas": replicas, **changes})


def built(of: StarRocksCluster, **changes: Any) -> dict[str, dict[str, Any]]:
    """All objects by "Kind/name"."""
    objects = build(of, context(of, **changes))
    return {f"{made['kind']}/{made['metadata']['name']}": made for part in objects.values() for made in part}


def pod_of(of: StarRocksCluster, component: str, **changes: Any) -> dict[str, Any]:
    """The pod spec of a component."""
    made = built(of, **changes)[f"StatefulSet/{of.name}-{component}"]
    pod: dict[str, Any] = made["spec"]["template"]["spec"]
    return pod


def main_of(of: StarRocksCluster, component: str, **changes: Any) -> dict[str, Any]:
    """The main container of a component."""
    container: dict[str, Any] = pod_of(of, component, **changes)["containers"][0]
    return container
