"""What an operator is told to keep off: a resource that is marked so, of each kind, and every one of a namespace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.space import Document, Space, open_space
from lab.stack import wait_for
from starrocks_operator.decide import IGNORED
from tests.cluster.clusters import cluster
from tests.cluster.operators import Operators

KINDS = ("StarRocksCluster", "StarRocksWarehouse", "ComputeNodeGroup")


@pytest.fixture
def denied(operators: Operators, tmp_path: Path) -> Iterator[Space]:
    """A second namespace, which is on the deny list."""
    name = f"{operators.space.namespace[:50]}-denied"
    space = open_space(operators.stack, name, tmp_path)
    yield space
    forget(space)


def test_what_is_marked_or_denied_is_left_alone(operators: Operators, denied: Space) -> None:
    space = operators.space
    for kind in KINDS:
        denied.apply(resource(kind, "any"))
        space.apply(resource(kind, "marked", ignored=True))
        space.apply(resource(kind, "open"))
    names = (space.namespace, denied.namespace)
    operators.start("first", "--deny-list", denied.namespace, namespaces=names)
    for kind in KINDS:
        wait_seen(space, kind, "open")
    for kind in KINDS:
        assert is_untouched(denied.get(kind, "any")), kind
        assert is_untouched(space.get(kind, "marked")), kind
        space.patch(kind, "marked", {"metadata": {"annotations": {IGNORED: None}}})
    for kind in KINDS:
        wait_seen(space, kind, "marked")
        assert is_untouched(denied.get(kind, "any")), kind
    assert denied.all("StatefulSet") == denied.all("ConfigMap")[1:] == []  # Kubernetes makes one in each namespace
    forget(space)


def resource(kind: str, name: str, *, ignored: bool = False) -> Document:
    """Warehouses without a cluster and groups without frontends: they are told so in their status."""
    made = {
        "StarRocksCluster": cluster(name),
        "StarRocksWarehouse": {
            "apiVersion": "starrocks.com/v1",
            "spec": {"starRocksCluster": "nowhere", "template": {"image": "starrocks/cn-ubuntu:3.5.5"}},
        },
        "ComputeNodeGroup": {
            "apiVersion": "starrocks.com/v1alpha1",
            "spec": {"feInfo": {"addresses": ["127.0.0.1:1"]}, "cnImage": "starrocks/cn-ubuntu:3.5.5", "replicas": 1},
        },
    }[kind]
    annotations = {IGNORED: "true"} if ignored else {}
    return {**made, "kind": kind, "metadata": {"name": name, "annotations": annotations}}


def wait_seen(space: Space, kind: str, name: str) -> None:
    """The operator has said something about it."""
    wait_for(lambda: "phase" in space.get(kind, name).get("status", {}), what=f"{kind} {name} to have a status")


def is_untouched(found: Document) -> bool:
    return "status" not in found and "finalizers" not in found["metadata"]


def forget(space: Space) -> None:
    """A group whose frontends are nowhere keeps its finalizer: the way out is by hand."""
    for group in space.all("ComputeNodeGroup"):
        name = group["metadata"]["name"]
        space.delete("ComputeNodeGroup", name, wait=False)
        if space.find("ComputeNodeGroup", name):
            space.patch("ComputeNodeGroup", name, {"metadata": {"finalizers": None}})
    for kind in KINDS[:2]:
        for found in space.all(kind):
            space.delete(kind, found["metadata"]["name"])
