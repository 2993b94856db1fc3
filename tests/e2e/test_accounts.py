"""Root's password in real pods: set from a Secret, changed there, and known to a frontend that starts afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from lab.simulator.client import Control
from tests.e2e.stage import RELEASE, Cluster, Document, Site, until

FIRST, SECOND = "first-of-two", "second-of-two"
PASSWORD = [{"name": "MYSQL_PWD", "valueFrom": {"secretKeyRef": {"name": "root-password", "key": "password"}}}]


@pytest.fixture
def locked(installed: Site, world: Control) -> Iterator[Cluster]:
    """Three frontends and a backend whose root has a password from the start."""
    cluster = Cluster(installed, world, namespace="accounts", name="locked")
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": cluster.namespace}}
    installed.kubectl("apply", "-f", "-", input=json.dumps(namespace))
    cluster.apply(secret(FIRST))
    cluster.apply(document())
    cluster.wait_until_ready("a cluster with a password")
    yield cluster
    world.call("DELETE", "/clusters", {"namespace": cluster.namespace, "cluster": cluster.name, "volumes": True})
    installed.kubectl("delete", "namespace", cluster.namespace, "--timeout=120s")


def test_a_changed_secret_becomes_the_password_and_a_restarted_frontend_joins(locked: Cluster) -> None:
    assert lets_in(locked, FIRST)
    assert not lets_in(locked, "")
    before = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in locked.pods("fe")}
    locked.apply(secret(SECOND))
    until(lambda: lets_in(locked, SECOND), "FE to have the new password")
    assert not lets_in(locked, FIRST)
    assert {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in locked.pods("fe")} == before
    locked.kubectl("delete", "pod", "locked-fe-2")
    until(lambda: {pod["metadata"]["uid"] for pod in locked.pods("fe")} != set(before.values()), "another pod")
    locked.wait_until_ready("the frontend that started with the new password has joined")


def secret(password: str) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "root-password"},
        "stringData": {"password": password},
    }


def document() -> Document:
    requests = {"cpu": "10m", "memory": "32Mi"}
    return {
        "apiVersion": "starrocks.com/v1",
        "kind": "StarRocksCluster",
        "metadata": {"name": "locked"},
        "spec": {
            "starRocksFeSpec": {
                "image": f"starrocks/fe-ubuntu:{RELEASE}",
                "replicas": 3,
                "requests": requests,
                "feEnvVars": PASSWORD,
                "storageVolumes": [{"name": "fe-meta", "mountPath": "/opt/starrocks/fe/meta", "storageSize": "1Gi"}],
            },
            "starRocksBeSpec": {
                "image": f"starrocks/be-ubuntu:{RELEASE}",
                "replicas": 1,
                "requests": requests,
                "beEnvVars": PASSWORD,
            },
        },
    }


def lets_in(cluster: Cluster, password: str) -> bool:
    """The password goes in by standard input: a command line is for all to read."""
    asked = "--defaults-extra-file=/dev/stdin --protocol=tcp --host=127.0.0.1 --port=9030 --user=root"
    shell = f"MYSQL_PWD= mysql {asked} --batch --execute 'SHOW FRONTENDS' 2>&1 || true"
    options = f'[client]\npassword="{password}"\n'
    told = cluster.kubectl("exec", "-i", "locked-fe-0", "-c", "fe", "--", "bash", "-c", shell, input=options)
    assert "ClusterId" in told or "1045" in told, told
    return "ClusterId" in told
