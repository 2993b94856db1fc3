"""Killed at any moment and started again, the operator goes on where it was: one cluster, nobody left behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

import psutil

from lab.space import Space
from lab.stack import wait_for
from starrocks_operator.membership.lost_volume import CLOCK_MARGIN
from tests.cluster.clusters import cluster
from tests.cluster.operators import Operators, gone, one_cluster, wait_all_ready

AGED = CLOCK_MARGIN + timedelta(seconds=1)  # claims say their birth in whole seconds
Moment = tuple[str, Callable[[Space], object]]

MOMENTS: tuple[Moment, ...] = (
    ("the first StatefulSet to exist", lambda space: space.find("StatefulSet", "one-fe")),
    ("the founding", lambda space: space.status("one").get("bootstrap", {}).get("clusterId")),
    ("the first of the backends' objects", lambda space: space.find("Service", "one-be-search")),
    ("the compute node's pod", lambda space: space.find("Pod", "one-cn-0")),
)


def joined(space: Space, pod: str) -> datetime:
    """When a frontend was added, as its name in FE says."""
    row = next(row for row in space.show("one", "SHOW FRONTENDS") if row["Name"].startswith(f"{pod}."))
    return datetime.fromtimestamp(int(row["Name"].rpartition("_")[2]) / 1000, UTC)


def test_it_may_be_killed_at_any_moment_of_a_bringing_up(operators: Operators) -> None:
    space = operators.space
    space.apply(cluster("one", fe=3, be=2, cn=1, volumes=True))
    for number, (what, moment) in enumerate(MOMENTS):
        operators.start("first", "--lease-name", f"life-{number}")  # none waits until the one before has expired
        wait_for(partial(moment, space), what=what)
        operators.kill()
    operators.start()
    space.wait_ready("one")
    one_cluster(space, "one")
    assert len(space.status("one")["members"]) == 6
    wait_for(lambda: not operators.files(), what="the files of killed runs to be gone")


def test_it_may_be_killed_in_the_middle_of_a_step(operators: Operators) -> None:
    space = operators.space
    space.apply(cluster("one", fe=3, volumes=True))
    operators.start()
    space.wait_ready("one")
    lost = next(member["name"] for member in space.status("one")["members"] if member["role"] == "FOLLOWER")
    wait_for(lambda: datetime.now(UTC) > joined(space, lost) + AGED, what="the member to be older than clocks differ")
    mark = space.stack.witness.mark()
    space.lose_volume(lost, f"fe-meta-{lost}")

    def taken(statement: str) -> bool:
        said = space.stack.witness.statements(since=mark)
        return any(
            line["namespace"] == space.namespace
            and line["source"] == "client"
            and statement in line["statement"].upper()
            for line in said
        )

    space.wait(lambda: taken("DROP FOLLOWER"), "one", "to drop the member that lost its volume", pause=0.01)
    operators.kill()
    operators.start()
    space.wait_ready("one")
    one_cluster(space, "one")
    assert [row["Alive"] for row in space.show("one", "SHOW FRONTENDS")] == ["true"] * 3


def test_a_sigterm_in_the_middle_of_many_runs_ends_it_in_time(operators: Operators) -> None:
    space = operators.space
    operator = operators.start()
    operators.wait_for_readiness("ok")
    for number in range(8):
        space.apply(cluster(f"c{number}", be=1))
    wait_for(lambda: operators.metric("ansible_runs_active") > 0, what="a run", pause=0.01)
    family = operators.family()
    process = psutil.Process(operator.pid)
    os.kill(operator.pid, signal.SIGTERM)
    assert process.wait(10) == 0
    assert gone(family)
    assert operators.holder() == ""
    assert operators.files() == []
    operators.start()
    wait_all_ready(space)
