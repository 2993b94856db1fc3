"""More than one operator in the middle of a scale-in: one that stood still takes no step, two at once do no harm."""

from __future__ import annotations

import threading
from pathlib import Path

import psutil

from lab.interference import interference
from lab.space import Space
from lab.witness import Mark
from tests.cluster.clusters import cluster
from tests.cluster.operators import Operators

BE, FE = "starRocksBeSpec", "starRocksFeSpec"
LOST = 3  # the exit code of a process that lost the Lease
PATIENCE = 120.0


def test_one_that_is_stopped_right_before_a_step_does_not_take_it_when_it_wakes(
    operators: Operators, tmp_path: Path
) -> None:
    space, stopped, release = operators.space, threading.Event(), threading.Event()
    with interference(operators.stack.operator_kubeconfig) as watched:
        first = operators.start(kubeconfig=watched.write_kubeconfig(tmp_path / "watched.kubeconfig"))
        begin(space, be=4)
        process = psutil.Process(first.pid)
        family = [process]

        def stop() -> bool:
            family.extend(operators.family())
            for member in family:
                member.suspend()
            stopped.set()
            return release.wait(4 * PATIENCE)

        watched.ambush(r"^PATCH .*/statefulsets/one-be$", number=1, afterwards=False, act=stop)
        space.scale("one", BE, 3)
        space.wait(stopped.is_set, "one", "to be about to let a backend's pod go", patience=PATIENCE)
        assert backends(space) == 4
        operators.start("second")
        operators.wait_for_readiness("ok", "second", patience=60)
        space.wait_ready("one", patience=PATIENCE)
        assert backends(space) == 3
        space.scale("one", BE, 4)
        space.wait_ready("one", patience=PATIENCE)
        mark, sent = space.stack.witness.mark(), len(watched.requests)
        release.set()  # the write that was under way is delivered now, ages later
        space.wait(lambda: late(space, mark), "one", "to be written by the one that was stopped")
        for member in family:
            member.resume()
        assert process.wait(15) == LOST
        assert [line for line in watched.requests[sent:] if not line.startswith("GET ")] == []
        assert late(space, mark) == [409], "what it wrote was bound to what it had read"
        assert backends(space) == 4
        assert orders(space, mark) == []
        assert space.ready("one")
        operators.end()


def test_two_that_both_believe_to_be_alone_scale_in_without_harm(operators: Operators) -> None:
    space = operators.space
    operators.start("first", "--lease-name", "left-hand")
    operators.start("second", "--lease-name", "right-hand")
    begin(space, be=4, fe=5)
    space.patch("StarRocksCluster", "one", {"spec": {FE: {"replicas": 3}, BE: {"replicas": 3}}})
    space.wait_ready("one", patience=PATIENCE)
    for question, stem in (("SHOW BACKENDS", "one-be"), ("SHOW FRONTENDS", "one-fe")):
        rows = space.show("one", question)
        assert {row["IP"].split(".")[0] for row in rows} == {f"{stem}-{ordinal}" for ordinal in range(3)}
        assert {row["Alive"] for row in rows} == {"true"}
    assert [mark for mark in space.simulator("GET", "/violations") if space.namespace in str(mark)] == []
    operators.end()


def begin(space: Space, *, be: int, fe: int = 3) -> None:
    """A cluster with tables whose tablets have to move."""
    space.apply(cluster("one", fe=fe, be=be, volumes=True))
    space.wait_ready("one", patience=PATIENCE)
    for name, replication in (("plain", 3), ("single", 1)):
        table = {"cluster": "one", "namespace": space.namespace, "name": name, "replication": replication}
        space.simulator("POST", "/tables", {**table, "tablets": 8})


def backends(space: Space) -> int:
    return int(space.get("StatefulSet", "one-be")["spec"]["replicas"])


def late(space: Space, mark: Mark) -> list[int]:
    """What the API server answered to writes of the backends' StatefulSet since then."""
    written = space.stack.witness.writes(since=mark)
    return [write.code for write in written if write.namespace == space.namespace and write.name == "one-be"]


def orders(space: Space, mark: Mark) -> list[str]:
    """What FE was told since then, questions apart."""
    return [
        line["statement"]
        for line in space.stack.witness.statements(since=mark)
        if line["namespace"] == space.namespace and line["source"] == "client"
        if not line["statement"].upper().startswith(("SHOW", "SELECT", "ADMIN SHOW"))
    ]
