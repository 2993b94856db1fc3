"""The operator as a pod, StarRocks as pods: installed from the manifests, a sample, and the days that follow."""

from __future__ import annotations

import json

from tests.e2e.stage import Cluster, Site, until

TABLETS = 24


def test_the_operator_runs_as_a_pod(installed: Site) -> None:
    pods = json.loads(installed.kubectl("-n", "starrocks", "get", "pods", "-o", "json"))["items"]
    (pod,) = [pod for pod in pods if pod["spec"]["serviceAccountName"] == "starrocks-operator"]
    (container,) = pod["spec"]["containers"]
    assert pod["status"]["containerStatuses"][0]["ready"]
    assert container["securityContext"]["readOnlyRootFilesystem"]


def test_the_sample_becomes_a_running_cluster(cluster: Cluster) -> None:
    rows = cluster.sql("demo-fe-0", "SHOW FRONTENDS")
    assert sorted(row["IP"].split(".")[0] for row in rows) == ["demo-fe-0", "demo-fe-1", "demo-fe-2"]
    assert {row["Alive"] for row in rows} == {"true"}
    assert set(cluster.backends()) == {"demo-be-0", "demo-be-1", "demo-be-2"}
    assert {pod["metadata"]["name"] for pod in cluster.pods("cn")} == {"demo-cn-0"}


def test_a_scale_in_is_taken_back(cluster: Cluster) -> None:
    cluster.patch({"spec": {"starRocksBeSpec": {"replicas": 4}}})
    cluster.wait_until_ready("a fourth backend")
    cluster.world.create_table("demo", "orders", replication=3, tablets=TABLETS, namespace=cluster.namespace)
    until(lambda: int(cluster.backends()["demo-be-3"]["TabletNum"]) > 0, "tablets on the fourth backend")
    cluster.patch({"spec": {"starRocksBeSpec": {"replicas": 3}}})
    until(
        lambda: cluster.backends()["demo-be-3"]["SystemDecommissioned"] == "true", "the fourth gives its tablets away"
    )
    cluster.patch({"spec": {"starRocksBeSpec": {"replicas": 4}}})
    cluster.wait_until_ready("four backends after all")
    assert cluster.backends()["demo-be-3"]["SystemDecommissioned"] == "false"


def test_a_backend_leaves_when_it_is_empty(cluster: Cluster) -> None:
    cluster.patch({"spec": {"starRocksBeSpec": {"replicas": 3}}})
    cluster.wait_until_ready("three backends")
    assert set(cluster.backends()) == {"demo-be-0", "demo-be-1", "demo-be-2"}
    until(lambda: len(cluster.pods("be")) == 3, "three pods")


def test_all_frontends_restarted_at_once_are_the_same_cluster(cluster: Cluster) -> None:
    before = cluster.cluster_ids()
    assert len(before) == 1
    cluster.kubectl("delete", "pods", "demo-fe-0", "demo-fe-1", "demo-fe-2", "--wait=false")
    until(lambda: not cluster.ready(), "the status tells of it")
    cluster.wait_until_ready("all frontends are back")
    assert cluster.cluster_ids() == before
