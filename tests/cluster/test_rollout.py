"""Pods are replaced one by one; one that dies meanwhile comes back with the revision it had."""

from __future__ import annotations

from lab.space import Document, Space
from tests.cluster.clusters import cluster

REVISION = "controller-revision-hash"


def revisions(space: Space, prefix: str) -> dict[str, str]:
    pods = (pod["metadata"] for pod in space.all("Pod"))
    return {meta["name"]: meta["labels"][REVISION] for meta in pods if meta["name"].startswith(prefix)}


def label(component: str, value: str) -> Document:
    """A change of the pods of a component that hurts nobody."""
    return {"spec": {component: {"podLabels": {"round": value}}}}


def test_every_pod_is_replaced_backends_first(space: Space) -> None:
    space.apply(cluster("one", fe=3, be=3, volumes=True))
    space.wait_ready("one")
    before = {name: revisions(space, f"one-{name}-") for name in ("fe", "be")}
    change = label("starRocksBeSpec", "2")["spec"] | label("starRocksFeSpec", "2")["spec"]
    space.patch("StarRocksCluster", "one", {"spec": change})
    space.wait_ready("one")
    for name in ("fe", "be"):
        now = revisions(space, f"one-{name}-")
        assert len(set(now.values())) == 1
        assert not set(now.values()) & set(before[name].values())
    assert space.get("StatefulSet", "one-fe")["spec"]["updateStrategy"]["type"] == "RollingUpdate"
    revisions_kept = {item["metadata"]["name"] for item in space.all("ControllerRevision")}
    assert len([name for name in revisions_kept if name.startswith("one-fe-")]) == 2
