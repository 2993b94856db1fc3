"""The stage for tests on the lab: one plane, one simulator and one operator for all, a namespace for each test."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.space import Space, open_space
from lab.stack import Stack
from tests.cluster.operators import Operators

SPEED = 20.0
PACE = ("--settled-interval", "10")  # a settled cluster is looked at again soon enough for a test


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/cluster" in item.path.as_posix():
            item.add_marker("cluster")


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The running stage. What the operator may never do is asked of the witness when all is over, too."""
    directory = tmp_path_factory.mktemp("stage")
    stack = Stack.start(directory, name="tests", report=lambda line: None)
    try:
        stack.simulate(speed=SPEED)
        stack.operate(arguments=PACE)
        yield stack
        assert stack.witness.testify() == []
    finally:
        stack.stop()


def namespace_of(test: str) -> str:
    """A name of its own also for tests whose long names begin alike: what another left is not found there."""
    readable = re.sub(r"[^a-z0-9]+", "-", test.lower()).strip("-")
    return f"{readable[:42].strip('-')}-{zlib.crc32(test.encode()):08x}"


@pytest.fixture
def space(request: pytest.FixtureRequest, stack: Stack, tmp_path: Path) -> Iterator[Space]:
    """A namespace of its own for one test; afterwards the operator's record is looked at."""
    name = namespace_of(request.node.name)
    stack.operate(arguments=PACE)
    began = stack.witness.mark()
    space = open_space(stack, name, tmp_path)
    yield space
    for kind in ("StarRocksWarehouse", "StarRocksCluster"):
        for resource in space.all(kind):
            space.delete(kind, resource["metadata"]["name"])
    assert stack.witness.testify(since=began, namespace=name) == []


@pytest.fixture
def operators(space: Space, tmp_path: Path) -> Iterator[Operators]:
    """The right to start operators that see this test's namespace; the usual one stands still meanwhile."""
    space.stack.end("operator")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    operators = Operators(space, scratch)
    yield operators
    operators.end()
    space.stack.operate(arguments=PACE)
