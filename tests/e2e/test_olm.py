"""The bundle, installed as OLM would do it: its rights and its Deployment are enough for a cluster to live."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from install.bundle import BUNDLE
from install.olm import as_olm_would
from lab.simulator.client import Control
from tests.e2e.stage import TREE, Cluster, Site, sample

OPERATORS = "operators"
DEPLOYED = ("--namespace=starrocks", "deployment/starrocks-operator")


@pytest.fixture
def by_olm(installed: Site) -> Iterator[Site]:
    """The operator of the bundle alone; the other one is there again afterwards."""
    installed.kubectl("delete", *DEPLOYED, "--wait")
    items = [item for item in as_olm_would(BUNDLE, namespace=OPERATORS) if item["kind"] != "CustomResourceDefinition"]
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    installed.kubectl("create", "namespace", OPERATORS)
    try:
        installed.kubectl("apply", "--server-side", "-f", "-", input=listed)
        installed.kubectl("rollout", "status", f"--namespace={OPERATORS}", "deployment", "--timeout=180s")
        yield installed
    finally:
        installed.kubectl("delete", "--ignore-not-found", "-f", "-", input=listed)
        installed.kubectl("delete", "namespace", OPERATORS, "--timeout=120s")
        installed.kubectl("apply", "-f", str(TREE / "deploy/operator.yaml"))
        installed.kubectl("rollout", "status", *DEPLOYED, "--timeout=180s")


def test_a_cluster_lives_with_the_operator_of_the_bundle(by_olm: Site, world: Control) -> None:
    cluster = Cluster(by_olm, world, namespace="by-olm", name="small")
    by_olm.kubectl("create", "namespace", cluster.namespace)
    cluster.apply(sample("minimal", resource=cluster.name))
    cluster.wait_until_ready()
    world.call("DELETE", "/clusters", {"namespace": cluster.namespace, "cluster": cluster.name, "volumes": True})
    by_olm.kubectl("delete", "namespace", cluster.namespace, "--timeout=120s")
