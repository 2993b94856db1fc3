"""Trouble for a cluster in real pods: pods deleted and evicted, the operator killed, bad settings, a volume lost."""

from __future__ import annotations

import json

import pytest

from lab.controlplane.errors import LabError
from tests.e2e.stage import Cluster, sample, until


@pytest.mark.parametrize("role", ["LEADER", "FOLLOWER"])
def test_a_frontend_pod_is_deleted(cluster: Cluster, role: str) -> None:
    rows = cluster.sql("demo-fe-0", "SHOW FRONTENDS")
    pod = next(row["IP"].split(".")[0] for row in rows if row["Role"] == role)
    uid = cluster.get("pod", pod)["metadata"]["uid"]
    cluster.kubectl("delete", "pod", pod)
    until(lambda: cluster.get("pod", pod)["metadata"]["uid"] != uid, "another pod takes its place")
    cluster.wait_until_ready(f"the {role.lower()} is back")


def test_a_backend_pod_is_deleted(cluster: Cluster) -> None:
    cluster.kubectl("delete", "pod", "demo-be-1")
    cluster.wait_until_ready("the backend is back")
    assert set(cluster.backends()) == {"demo-be-0", "demo-be-1", "demo-be-2"}


def test_evictions_leave_a_majority(cluster: Cluster) -> None:
    """As `kubectl drain` asks: one frontend may go, and while it is away no other."""

    def evict(pod: str) -> None:
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}}
        path = f"/api/v1/namespaces/{cluster.namespace}/pods/{pod}/eviction"
        cluster.site.kubectl("create", "--raw", path, "-f", "-", input=json.dumps(eviction))

    evict("demo-fe-2")
    with pytest.raises(LabError, match="disruption budget"):
        evict("demo-fe-1")
    cluster.wait_until_ready("the evicted frontend is back")


def test_the_operator_is_killed_in_the_middle(cluster: Cluster) -> None:
    cluster.patch({"spec": {"starRocksFeSpec": {"replicas": 5}}})
    cluster.site.kubectl(
        "-n",
        "starrocks",
        "delete",
        "pod",
        "-l",
        "app.kubernetes.io/name=starrocks-operator",
        "--grace-period=0",
        "--force",
    )
    cluster.wait_until_ready("five frontends")
    cluster.patch({"spec": {"starRocksFeSpec": {"replicas": 3}}})
    cluster.wait_until_ready("three frontends")
    assert len(cluster.sql("demo-fe-0", "SHOW FRONTENDS")) == 3


def kill_the_operator(cluster: Cluster) -> None:
    label = "app.kubernetes.io/name=starrocks-operator"
    cluster.site.kubectl("-n", "starrocks", "delete", "pod", "-l", label, "--grace-period=0", "--force")


def test_a_configuration_that_crash_loops_stops_at_one_pod_and_is_mended(cluster: Cluster) -> None:
    configure_backends(cluster, "works", "be_port = 9060\n")
    cluster.wait_until_ready("backends with a configuration of their own")
    configure_backends(cluster, "crashes", "crash_on_start = true\n")
    until(lambda: crash_looping(cluster) == ["demo-be-2"], "the first pod does not start with it")
    configure_backends(cluster, "mended", "be_port = 9060\nsys_log_level = INFO\n")
    cluster.wait_until_ready("backends with a configuration that works")
    assert crash_looping(cluster) == []


def configure_backends(cluster: Cluster, name: str, content: str) -> None:
    cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"be.conf": content}})
    mount = {"configMapInfo": {"configMapName": name, "resolveKey": "be.conf"}}
    cluster.patch({"spec": {"starRocksBeSpec": mount}})


def crash_looping(cluster: Cluster) -> list[str]:
    def waits(pod: dict[str, object]) -> bool:
        return "CrashLoopBackOff" in json.dumps(pod.get("status", {}))

    return sorted(pod["metadata"]["name"] for pod in cluster.pods("be") if waits(pod))


def test_frontend_0_comes_back_without_its_volume_as_a_member_of_the_same_cluster(cluster: Cluster) -> None:
    before = {row["ClusterId"] for row in cluster.sql("demo-fe-1", "SHOW FRONTENDS")}
    cluster.kubectl("delete", "pvc", "fe-meta-demo-fe-0", "--wait=false")
    cluster.kubectl("delete", "pod", "demo-fe-0")
    until(lambda: not cluster.ready(), "the status tells of it")
    cluster.wait_until_ready("frontend 0 is a member again")
    assert cluster.cluster_ids() == before


def test_a_cluster_is_deleted_and_keeps_its_volumes(cluster: Cluster) -> None:
    cluster.world.call("DELETE", "/clusters", {"namespace": cluster.namespace, "cluster": "demo", "volumes": False})
    cluster.kubectl("delete", "src", "demo")
    until(lambda: not any(cluster.pods(component) for component in ("fe", "be", "cn")), "no pod is left")
    claims = cluster.kubectl("get", "pvc", "-o", "name").split()
    assert {"persistentvolumeclaim/fe-meta-demo-fe-0", "persistentvolumeclaim/be-data-demo-be-0"} <= set(claims)


def test_a_namespace_goes_without_the_operator(cluster: Cluster) -> None:
    """Nothing of ours holds it up: no finalizer waits for somebody who is not there."""
    cluster.apply(sample("minimal", resource="last"))
    cluster.site.kubectl("-n", "starrocks", "scale", "deployment/starrocks-operator", "--replicas=0")
    try:
        cluster.world.call("DELETE", "/clusters", {"namespace": cluster.namespace, "cluster": "last", "volumes": True})
        cluster.site.kubectl("delete", "namespace", cluster.namespace, "--timeout=120s")
    finally:
        cluster.site.kubectl("-n", "starrocks", "scale", "deployment/starrocks-operator", "--replicas=1")
