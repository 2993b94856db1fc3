"""Pods are replaced one by one; one that dies meanwhile comes back with the revision it had."""

from __future__ import annotations

import pytest

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


def dead(space: Space, name: str, pod: str) -> bool:
    return any(member["name"] == pod and member.get("alive") is False for member in space.status(name)["members"])


def leader(space: Space, name: str) -> str:
    members = space.status(name)["members"]
    return str(next(member["name"] for member in members if member.get("role") == "LEADER"))


@pytest.mark.parametrize(("kind", "component"), [("be", "starRocksBeSpec"), ("fe", "starRocksFeSpec")])
def test_one_that_dies_in_mid_roll_comes_back_as_it_was(space: Space, kind: str, component: str) -> None:
    """The roll stops at the first pod, since another member has died; that one's pod is deleted; then all is undone."""
    space.apply(cluster("one", fe=3, be=3, volumes=True))
    space.wait_ready("one")
    prefix, spared = f"one-{kind}-", {leader(space, "one"), f"one-{kind}-2"}
    before = revisions(space, prefix)
    old = before[f"{prefix}1"]
    victim = next(pod for pod in sorted(before) if pod not in spared)
    space.fault(victim, "kill")
    space.wait(lambda: dead(space, "one", victim), "one", f"to notice that {victim} died")
    space.patch("StarRocksCluster", "one", label(component, "2"))
    space.wait(lambda: waits_for(space, "is to be replaced, but not yet"), "one", "to wait")
    uid = space.get("Pod", victim)["metadata"]["uid"]
    space.delete("Pod", victim, wait=False)
    space.wait(lambda: space.is_back(victim, uid), "one", f"to have {victim} again")
    assert revisions(space, prefix)[victim] == old
    space.wait(lambda: set(revisions(space, prefix).values()) - {old}, "one", "to replace a pod", pause=0.02)
    space.patch("StarRocksCluster", "one", {"spec": {component: {"podLabels": None}}})
    space.wait_ready("one")
    assert set(revisions(space, prefix).values()) == {old}


def waits_for(space: Space, what: str) -> bool:
    return any(what in wait for wait in space.status("one").get("waitingFor", ()))
