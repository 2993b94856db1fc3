"""Fewer frontends: one at a time, the highest ordinal first, never below a majority; back again on new volumes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from lab.space import Document, Space
from tests.cluster.clusters import cluster
from tests.cluster.conftest import SPEED
from tests.cluster.test_frontend_trouble import leader

FE = "starRocksFeSpec"


@pytest.fixture(autouse=True)
def _nothing_marked(space: Space) -> Iterator[None]:
    """The simulator saw no quorum lost by a statement, no second cluster and no loss."""
    yield
    marks = space.simulator("GET", "/violations")
    assert [mark for mark in marks if space.namespace in str(mark)] == []


def test_from_five_to_three_with_the_leader_on_the_highest_ordinal(space: Space) -> None:
    begin(space, 5)
    lead(space, "one-fe-4")
    space.scale("one", FE, 3)
    space.wait_ready("one")
    assert members(space) == {f"one-fe-{ordinal}" for ordinal in range(3)}
    assert replicas(space) == 3
    assert shrunk_to(space) == [4, 3]
    assert dropped(space) == ["one-fe-4", "one-fe-3"]
    assert not space.status("one").get("waitingFor")


def test_from_seven_to_three_every_drop_leaves_a_majority_that_lives(space: Space) -> None:
    begin(space, 7)
    space.scale("one", FE, 3)
    space.wait_ready("one")
    assert shrunk_to(space) == [6, 5, 4, 3]
    assert dropped(space) == [f"one-fe-{ordinal}" for ordinal in (6, 5, 4, 3)]
    assert members(space) == {f"one-fe-{ordinal}" for ordinal in range(3)}


def test_without_a_majority_nobody_else_leaves_until_it_is_back(space: Space) -> None:
    begin(space, 5)
    space.scale("one", FE, 3)
    space.wait(lambda: replicas(space) == 4, "one", "to let its first frontend go", pause=0.05)
    lost = [pod for pod in ("one-fe-0", "one-fe-1", "one-fe-2") if pod != leader(space, "one")][:2]
    for pod in lost:
        space.fault(pod, "kill")
    space.wait(lambda: "LeaderMissing" in space.reasons("one"), "one", "to report LeaderMissing")
    before = replicas(space), dropped(space)
    space.apply(cluster("two"))
    space.wait_ready("two")
    assert (replicas(space), dropped(space)) == before
    assert not space.ready("one")
    for pod in lost:
        space.fault(pod, "resume")
    space.wait_ready("one")
    assert members(space) == {f"one-fe-{ordinal}" for ordinal in range(3)}
    assert dropped(space) == ["one-fe-4", "one-fe-3"]


def test_a_frontend_that_returns_gets_a_new_volume_and_joins_as_a_new_member(space: Space) -> None:
    begin(space, 5)
    old = {ordinal: claim(space, ordinal) for ordinal in range(5)}
    names = {row["Name"] for row in space.show("one", "SHOW FRONTENDS")}
    space.scale("one", FE, 3)
    space.wait_ready("one")
    assert [claim(space, ordinal) for ordinal in (3, 4)] == [old[3], old[4]], "claims are kept"
    space.scale("one", FE, 5)
    space.wait_ready("one")
    assert [claim(space, ordinal) for ordinal in range(3)] == [old[ordinal] for ordinal in range(3)]
    assert all(claim(space, ordinal) != old[ordinal] for ordinal in (3, 4))
    rows = {row["IP"].split(".")[0]: row["Name"] for row in space.show("one", "SHOW FRONTENDS")}
    assert set(rows) == {f"one-fe-{ordinal}" for ordinal in range(5)}
    assert not {rows["one-fe-3"], rows["one-fe-4"]} & names
    for ordinal in (3, 4):
        deletion = deletion_of(space, f"fe-meta-one-fe-{ordinal}")
        assert deletion.asked["preconditions"]["uid"] == old[ordinal]
        assert moment(deletion.at) > last_drop(space, f"one-fe-{ordinal}"), "FE lists it while its claim goes"


def test_taken_back_before_the_drop_it_is_the_same_member_on_the_same_volume(space: Space) -> None:
    begin(space, 5)
    old = [claim(space, ordinal) for ordinal in range(5)]
    names = {row["Name"] for row in space.show("one", "SHOW FRONTENDS")}
    space.simulator("POST", "/clock/speed", {"speed": 1})  # FE takes its time to see that one has gone
    try:
        space.scale("one", FE, 3)
        space.wait(lambda: replicas(space) == 4, "one", "to let its first frontend go", pause=0.05)
        space.scale("one", FE, 5)
        space.wait(lambda: replicas(space) == 5, "one", "to take its frontend back")
    finally:
        space.simulator("POST", "/clock/speed", {"speed": SPEED})
    space.wait_ready("one")
    assert dropped(space) == []
    assert {row["Name"] for row in space.show("one", "SHOW FRONTENDS")} == names
    assert [claim(space, ordinal) for ordinal in range(5)] == old


def begin(space: Space, frontends: int) -> None:
    space.apply(cluster("one", fe=frontends, volumes=True))
    space.wait_ready("one")
    assert len(members(space)) == frontends


def lead(space: Space, wanted: str) -> None:
    """Make one frontend lead: it is the only one whose journal is up to date when the leader crashes."""
    others = sorted(members(space) - {wanted})
    if (old := leader(space, "one")) == wanted:
        return
    for pod in others:
        space.fault(pod, "slow", value=1)
    space.fault(old, "crash")
    space.wait(lambda: leader(space, "one") == wanted, "one", f"to be led by {wanted}")
    for pod in others:
        space.fault(pod, "slow", value=0)
    space.wait_ready("one")


def members(space: Space) -> set[str]:
    """The pods that FE lists, all of which must be alive."""
    rows = space.show("one", "SHOW FRONTENDS")
    assert {row["Alive"] for row in rows} == {"true"}
    return {row["IP"].split(".")[0] for row in rows}


def replicas(space: Space) -> int:
    return int(space.get("StatefulSet", "one-fe")["spec"]["replicas"])


def claim(space: Space, ordinal: int) -> str:
    uid: str = space.get("PersistentVolumeClaim", f"fe-meta-one-fe-{ordinal}")["metadata"]["uid"]
    return uid


def shrunk_to(space: Space) -> list[int]:
    """The replicas that the operator asked for, each once, from the first time it asked for fewer."""
    asked = [
        int(write.asked["spec"]["replicas"])
        for write in space.stack.witness.writes()
        if write.namespace == space.namespace and write.resource == "statefulsets" and write.code < 300
        if write.name == "one-fe" and "replicas" in (write.asked or {}).get("spec", {})
    ]
    first = max(asked)
    return [wish for wish in dict.fromkeys(asked) if wish < first]


def drops(space: Space) -> list[Document]:
    """What FE dropped because the operator said so."""
    return [
        line
        for line in space.stack.witness.statements()
        if line["namespace"] == space.namespace and line["cluster"] == "one"
        if "DROP FOLLOWER" in line["statement"] and line["source"] == "client" and line["result"] == "ok"
    ]


def dropped(space: Space) -> list[str]:
    return [line["statement"].split('"')[1].split(".")[0] for line in drops(space)]


def last_drop(space: Space, pod: str) -> float:
    return max(float(line["time"]) for line in drops(space) if f'"{pod}.' in line["statement"])


def deletion_of(space: Space, name: str) -> Any:
    """The one time that the operator deleted this claim."""
    found = [
        write
        for write in space.stack.witness.writes()
        if write.namespace == space.namespace and write.name == name and write.verb == "delete" and write.code < 300
    ]
    assert len(found) == 1, f"{name} was deleted {len(found)} times"
    return found[0]


def moment(written: str) -> float:
    return datetime.fromisoformat(written).timestamp()
