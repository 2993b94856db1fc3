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
from lab.simulator.client import Control
from tests.e2e.stage import TREE, Cluster, bring_images, forwarded, sample


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


@pytest.fixture(scope="session")
def installed(node: Node) -> Node:
    """The node with the operator and the simulator's world on it, installed as docs/install.md says."""
    if not os.environ.get("E2E_IMAGES_ARE_THERE"):
        bring_images(node)
    node.kubectl("apply", "-f", str(TREE / "crds"))
    node.kubectl("wait", "--for=condition=Established", "crd/starrocksclusters.starrocks.com")
    for manifest in ("deploy/policies.yaml", "deploy/operator.yaml", "images/simulator/world.yaml"):
        node.kubectl("apply", "-f", str(TREE / manifest))
    for namespace, deployment in (("starrocks", "starrocks-operator"), ("starrocks-simulator", "starrocks-simulator")):
        node.kubectl("-n", namespace, "rollout", "status", f"deployment/{deployment}", "--timeout=300s")
    return node


@pytest.fixture(scope="session")
def world(installed: Node) -> Iterator[Control]:
    """What is played in the simulated pods, and what it has marked."""
    with forwarded(installed) as control:
        yield control


@pytest.fixture(scope="session")
def cluster(installed: Node, world: Control) -> Iterator[Cluster]:
    """Three frontends, three backends and a compute node, with a table on them; nothing of it may ever be lost."""
    cluster = Cluster(installed, world, namespace="e2e", name="demo")
    installed.kubectl("create", "namespace", cluster.namespace)
    cluster.apply(sample("demo", resource=cluster.name))
    cluster.wait_until_ready()
    yield cluster
    assert world.violations() == []
