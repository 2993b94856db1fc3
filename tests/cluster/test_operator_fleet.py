"""A fleet that is there before the operator: it takes a few runs at a time and little memory, and then nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from lab.bench.meter import memory
from lab.stack import wait_for
from tests.cluster.clusters import cluster
from tests.cluster.operators import Operators

CLUSTERS = 200
CONCURRENCY = 2
MEMORY = 300  # MiB of the operator and all its children, at most

pytestmark = pytest.mark.alone


def test_a_fleet_at_start_up_takes_bounded_runs_and_memory(operators: Operators) -> None:
    space = operators.space
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: space.apply(cluster(f"c{number}")), range(CLUSTERS)))
    operator = operators.start("first", "--concurrency", str(CONCURRENCY))
    process = psutil.Process(operator.pid)
    active, used = [0.0], [0.0]

    def running() -> bool:
        space.stack.check()
        active.append(operators.metric("ansible_runs_active"))
        used.append(memory(process))
        return operators.metric("clusters", phase="running") == CLUSTERS

    wait_for(running, what=f"{CLUSTERS} clusters to run", patience=240, pause=0.5)
    assert 0 < max(active) <= CONCURRENCY
    assert max(used) < MEMORY
    assert operators.metric("ansible_runs_total") < CLUSTERS / 4

    mark = space.stack.witness.mark()
    space.stack.end("first")
    operators.start()
    wait_for(lambda: operators.metric("clusters", phase="running") == CLUSTERS, what="the fleet to be known again")
    wait_for(lambda: operators.metric("queue_depth") == 0, what="the queue to be empty")
    assert operators.metric("ansible_runs_total") == 0
    assert [str(write) for write in space.stack.witness.writes(since=mark)] == []
