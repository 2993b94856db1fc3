"""A leaving backend that is dead for good: it stays, until its owner names that loss; then it goes, and only it."""

from __future__ import annotations

from lab.space import Space
from tests.cluster.clusters import cluster
from tests.cluster.leaving import BE, backends, fill, finding, replicas, said, shrunk_to, tablets

FORCE_DROP = "starrocks.com/force-drop-backend"


def name_the_loss(space: Space, pod: str, *, generations_ago: int = 0) -> None:
    generation = space.get("StarRocksCluster", "one")["metadata"]["generation"] - generations_ago
    space.patch("StarRocksCluster", "one", {"metadata": {"annotations": {FORCE_DROP: f"{pod}@{generation}"}}})


def test_a_backend_that_is_dead_for_good_goes_when_its_loss_is_named(space: Space) -> None:
    document = cluster("one", be=3, volumes=True)
    document["metadata"]["annotations"] = {"starrocks.com/stall-seconds": "3"}
    space.apply(document)
    space.wait_ready("one")
    fill(space, "one", moving=12, replication=1)
    space.fault("one-be-2", "kill")
    space.wait(lambda: backends(space, "one")["one-be-2"]["Alive"] == "false", "one", "to see it dead")
    space.scale("one", BE, 2)
    space.wait(lambda: FORCE_DROP in finding(space, "one", "ScaleInStalled"), "one", "to name the way out")
    name_the_loss(space, "one-be-2", generations_ago=1)
    space.wait(lambda: "is ignored: it names generation" in finding(space, "one", "ScaleInStalled"), "one", "to say so")
    left = tablets(space, "one")["one-be-2"]
    assert left == 4
    assert replicas(space, "one-be") == 3

    name_the_loss(space, "one-be-2")
    space.wait_ready("one")
    assert set(backends(space, "one")) == {"one-be-0", "one-be-1"}
    assert shrunk_to(space, "one-be") == [2]
    assert said(space, "one", "DROP BACKEND") == ["one-be-2"]
    assert {"LossNamed", "ForceDropBackendPlanned", "BackendForceDropped"} <= space.events("one")
    marks = [
        mark["kind"] for mark in space.simulator("GET", "/state")["consented"] if space.namespace in mark["cluster"]
    ]
    assert sorted(marks) == ["drop-with-tablets", *["tablet-lost"] * left]
    assert space.find("PersistentVolumeClaim", "be-data-one-be-2"), "its volume stays"
