"""The stage of the end-to-end tests: a real node of the lab's, or the cluster that E2E_KUBECONFIG names.

Where neither can be had, the tests are skipped and say why. A named cluster is to have the images already, by the names
that `stage.bring_images` gives them (`docker build`, then `kind load docker-image`), and room for no operator but this.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.given import GivenCluster
from lab.node import Node, images, packages
from lab.simulator.client import Control
from lab.witness import Witness
from tests.e2e.stage import TREE, Cluster, Site, bring_images, forwarded, sample


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
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Where the operator is to run: the lab's node with its images, or the cluster that was named, which has them."""
    named = os.environ.get("E2E_KUBECONFIG")
    if named:
        return GivenCluster.named(Path(named), tmp_path_factory.mktemp("given"))
    node: Node = request.getfixturevalue("node")
    if not os.environ.get("E2E_IMAGES_ARE_THERE"):
        bring_images(node)
    return node


@pytest.fixture(scope="session")
def installed(site: Site) -> Site:
    """The place with the operator and the simulator's world on it, installed as docs/install.md says."""
    site.kubectl("apply", "-f", str(TREE / "crds"))
    site.kubectl("wait", "--for=condition=Established", "crd/starrocksclusters.starrocks.com")
    for manifest in ("deploy/policies.yaml", "deploy/operator.yaml", "images/simulator/world.yaml"):
        site.kubectl("apply", "-f", str(TREE / manifest))
    for namespace, deployment in (("starrocks", "starrocks-operator"), ("starrocks-simulator", "starrocks-simulator")):
        site.kubectl("-n", namespace, "rollout", "status", f"deployment/{deployment}", "--timeout=180s")
    return site


@pytest.fixture(scope="session")
def world(installed: Site) -> Iterator[Control]:
    """What is played in the simulated pods, and what it has marked."""
    with forwarded(installed) as control:
        yield control


@pytest.fixture(scope="session")
def cluster(installed: Site, world: Control, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three frontends, three backends and a compute node; when all is over, the operator's record is looked at."""
    cluster = Cluster(installed, world, namespace="e2e", name="demo")
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": cluster.namespace}}
    installed.kubectl("apply", "-f", "-", input=json.dumps(namespace))
    cluster.apply(sample("demo", resource=cluster.name))
    cluster.wait_until_ready()
    yield cluster
    assert world.violations() == []
    if isinstance(installed, Node):  # another cluster's audit log is not ours to read
        logs = tmp_path_factory.mktemp("world")
        for name in ("truth", "statements"):
            (logs / name).write_text("".join(f"{json.dumps(line)}\n" for line in world.log(name)))
        audit = installed.control_plane.audit_log
        witness = Witness(audit_log=audit, statement_log=logs / "statements", truth_log=logs / "truth")
        assert witness.testify(namespace=cluster.namespace) == []
