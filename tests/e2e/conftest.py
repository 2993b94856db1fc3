"""The stage of the end-to-end tests: a real node of the lab's, or the cluster that E2E_KUBECONFIG names.

Where neither can be had, the tests are skipped and say why.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.node import Node, images, packages


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/e2e" in item.path.as_posix():
            item.add_marker("e2e")


@pytest.fixture(scope="session")
def node() -> Iterator[Node]:
    """The lab's node, with the base image on it. E2E_DIRECTORY keeps one across runs."""
    if os.environ.get("E2E_KUBECONFIG"):
        pytest.skip("a cluster was named: its nodes are not ours to test")
    reason = packages.impossible()
    if reason:
        pytest.skip(reason)
    kept = os.environ.get("E2E_DIRECTORY")
    directory = Path(kept) if kept else Path(tempfile.mkdtemp(prefix="node-"))
    node = Node.start(directory, kept=bool(kept), report=print)
    yield node
    if not kept:
        node.stop()


@pytest.fixture(scope="session")
def base(node: Node) -> str:
    """The base image, on the node."""
    name = images.base(print)
    node.load(name)
    return name
