"""An API server that refuses requests and drops watches delays the operator, and neither stops nor hurries it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from lab.interference import Interference, interference
from lab.space import Space
from lab.stack import wait_for
from lab.witness import Mark
from tests.cluster.clusters import cluster
from tests.cluster.operators import Operators

APPLIES = 4  # of one object: the first one, and again after refusals
STATUSES = 25  # of one cluster on its way to Ready


@pytest.fixture
def proxy(operators: Operators, tmp_path: Path) -> Iterator[tuple[Interference, Path]]:
    """An API server in front of the API server, and the kubeconfig that leads there."""
    with interference(operators.stack.operator_kubeconfig) as proxy:
        yield proxy, proxy.write_kubeconfig(tmp_path / "proxy.kubeconfig")
        operators.end()


def busiest(space: Space, mark: Mark) -> dict[str, int]:
    """How often the operator wrote the object that it wrote most, by kind."""
    written = Counter(
        (write.resource, write.name) for write in space.stack.witness.writes(since=mark) if write.resource != "events"
    )
    most: dict[str, int] = {}
    for (resource, _), count in written.items():
        most[resource] = max(count, most.get(resource, 0))
    return most


def unhurried(space: Space, mark: Mark) -> None:
    """Nothing was written again and again."""
    most = busiest(space, mark)
    assert most.pop("starrocksclusters") <= STATUSES
    assert max(most.values()) <= APPLIES, most


TROUBLED = (
    r"GET /api$",
    r"GET .*/(pods|statefulsets)$",
    r"PATCH .*/starrocksclusters/one/status$",
    r"PATCH .*/statefulsets/one-fe$",
    r"PATCH .*/services/one-fe-search$",
    r"POST .*/events$",
)


def test_refused_requests_are_sent_again_and_not_in_a_hurry(
    operators: Operators, proxy: tuple[Interference, Path]
) -> None:
    space, (server, kubeconfig) = operators.space, proxy
    mark = space.stack.witness.mark()
    faults = [server.fail(what, status=status, times=1) for status in (409, 429, 500) for what in TROUBLED]
    operators.start(kubeconfig=kubeconfig)
    space.apply(cluster("one", be=1))
    space.wait_ready("one")
    assert [fault.pattern.pattern for fault in faults if not fault.met] == []
    unhurried(space, mark)
    assert len([line for line in server.requests if not line.startswith("GET ")]) < 100


def test_watches_may_break_at_any_time(operators: Operators, proxy: tuple[Interference, Path]) -> None:
    space, (server, kubeconfig) = operators.space, proxy
    mark = space.stack.witness.mark()
    operators.start(kubeconfig=kubeconfig)
    for number in range(3):
        space.apply(cluster(f"c{number}", fe=3, be=1))
    for sight in ("c0-fe", "c1-fe", "c0-be", "c2-be"):
        wait_for(partial(space.find, "StatefulSet", sight), what=sight, patience=240)
        assert wait_for(server.drop_watches, what="watches to drop") > 0
    for number in range(3):
        space.wait_ready(f"c{number}")
    space.delete("StarRocksCluster", "c0")
    server.drop_watches()
    space.scale("c1", "starRocksBeSpec", 2)
    space.wait_ready("c1")
    unhurried(space, mark)
