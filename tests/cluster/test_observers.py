"""Observers: as many as one likes, beside frontends that never notice; back again on new volumes."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from lab.space import Document, Space
from tests.cluster.clusters import cluster

OBSERVERS = "starRocksFeObserverSpec"
SET = "one-fe-observer"


@pytest.fixture(autouse=True)
def _nothing_marked(space: Space) -> Iterator[None]:
    """The simulator saw no quorum lost by a statement, no second cluster and no loss."""
    yield
    marks = space.simulator("GET", "/violations")
    assert [mark for mark in marks if space.namespace in str(mark)] == []


def test_two_observers_join_beside_three_frontends_and_have_no_vote(space: Space) -> None:
    begin(space, 2)
    status = space.status("one")
    assert status["starRocksFeObserverStatus"]["phase"] == "running"
    assert status["starRocksFeObserverStatus"]["runningInstances"] == [f"{SET}-0", f"{SET}-1"]
    assert "3 of 3 followers are alive" in space.condition("one", "QuorumSafe")["message"]
    members = {member["name"]: member.get("role") for member in status["members"]}
    assert members[f"{SET}-0"] == members[f"{SET}-1"] == "OBSERVER"
    assert space.get("StatefulSet", SET)["spec"]["serviceName"] == f"{SET}-search"
    assert space.get("Service", f"{SET}-service")["spec"]["selector"]["app.kubernetes.io/component"] == "fe-observer"


def test_from_two_to_four_to_one_to_none_and_back(space: Space) -> None:
    begin(space, 2)
    followers = {row["Name"] for row in space.show("one", "SHOW FRONTENDS") if row["Role"] != "OBSERVER"}
    for wish in (4, 1, 0):
        space.scale("one", OBSERVERS, wish)
        space.wait_ready("one")
        assert observers(space) == [f"{SET}-{ordinal}" for ordinal in range(wish)]
        assert space.get("StatefulSet", SET)["spec"]["replicas"] == wish
    assert dropped(space) == [f"{SET}-{ordinal}" for ordinal in (3, 2, 1, 0)]
    old = claim(space, 0)
    space.scale("one", OBSERVERS, 1)
    space.wait_ready("one")
    assert observers(space) == [f"{SET}-0"]
    assert claim(space, 0) != old, "what it held is of a member that was dropped"
    assert {row["Name"] for row in space.show("one", "SHOW FRONTENDS") if row["Role"] != "OBSERVER"} == followers


def test_an_observer_that_dies_comes_back_as_the_same_member(space: Space) -> None:
    begin(space, 1)
    (before,) = (row["Name"] for row in space.show("one", "SHOW FRONTENDS") if row["Role"] == "OBSERVER")
    old = claim(space, 0)
    space.fault(f"{SET}-0", "kill")
    space.wait(lambda: not space.ready("one"), "one", "to miss its observer")
    space.fault(f"{SET}-0", "resume")
    space.wait_ready("one")
    (after,) = (row["Name"] for row in space.show("one", "SHOW FRONTENDS") if row["Role"] == "OBSERVER")
    assert (after, claim(space, 0)) == (before, old)


def test_an_observer_that_lost_its_volume_is_dropped_and_joins_again(space: Space) -> None:
    begin(space, 1)
    space.wait(lambda: age(space) > 8, "one", "to have an observer that is older than clocks differ")
    space.lose_volume(f"{SET}-0", f"fe-meta-{SET}-0")
    space.wait(lambda: dropped(space) == [f"{SET}-0"], "one", "to drop the member that lost its volume")
    space.wait_ready("one")
    assert observers(space) == [f"{SET}-0"]


def test_without_their_spec_observers_stay_until_there_are_none(space: Space) -> None:
    begin(space, 1)
    space.patch("StarRocksCluster", "one", {"spec": {OBSERVERS: None}})
    space.wait(lambda: "ComponentOrphaned" in space.reasons("one"), "one", "to tell of orphans")
    assert observers(space) == [f"{SET}-0"]
    space.patch("StarRocksCluster", "one", {"spec": {OBSERVERS: {"replicas": 0}}})
    space.wait_ready("one")
    assert observers(space) == []


def begin(space: Space, count: int) -> None:
    space.apply(cluster("one", fe=3, volumes=True, **{OBSERVERS: {"replicas": count}}))
    space.wait_ready("one")
    assert observers(space) == [f"{SET}-{ordinal}" for ordinal in range(count)]


def observers(space: Space) -> list[str]:
    """The pods that FE lists as observers; all frontends must be alive, and three of them followers."""
    rows = space.show("one", "SHOW FRONTENDS")
    assert {row["Alive"] for row in rows} == {"true"}
    found = [row["IP"].split(".")[0] for row in rows if row["Role"] == "OBSERVER"]
    assert len(rows) - len(found) == 3
    assert len({row["ClusterId"] for row in rows}) == 1
    return sorted(found)


def dropped(space: Space) -> list[str]:
    """Whom FE forgot because the operator said so, in this order."""
    return [
        line["statement"].split('"')[1].split(".")[0]
        for line in space.stack.witness.statements()
        if line["namespace"] == space.namespace and line["source"] == "client" and line["result"] == "ok"
        if "DROP OBSERVER" in line["statement"] or "DROP FOLLOWER" in line["statement"]
    ]


def claim(space: Space, ordinal: int) -> str:
    uid: str = space.get("PersistentVolumeClaim", f"fe-meta-{SET}-{ordinal}")["metadata"]["uid"]
    return uid


def age(space: Space) -> float:
    """Seconds since the observer was added."""
    members: list[Document] = space.status("one")["members"]
    (added,) = (int(member["id"].rpartition("_")[2]) for member in members if member.get("role") == "OBSERVER")
    return time.time() - added / 1000
