"""Fewer compute nodes: their queries end, their rows go with them, and nodes of others are never touched."""

from __future__ import annotations

from lab.space import Document, Space
from tests.cluster.clusters import cluster
from tests.cluster.leaving import (
    BE,
    CN,
    backends,
    births,
    compute_nodes,
    fill,
    finding,
    replicas,
    restarts,
    said,
    shrunk_to,
    tell,
)


def test_three_of_twelve_leave_by_number_and_leave_no_ghost(space: Space) -> None:
    space.apply(cluster("one", cn=12))
    space.wait_ready("one")
    tell(space, "one", 'ALTER SYSTEM ADD COMPUTE NODE "far.example.com:9050"')
    stay = {f"one-cn-{ordinal}" for ordinal in range(9)}
    before = compute_nodes(space, "one")
    born = births(space, "one-cn")
    space.fault("one-cn-10", "hang")  # it cannot say goodbye: its row is left behind
    space.scale("one", CN, 9)
    space.wait_ready("one")
    assert shrunk_to(space, "one-cn") == [11, 10, 9]
    rows = compute_nodes(space, "one")
    assert set(rows) == stay | {"far"}
    assert {pod: rows[pod]["ComputeNodeId"] for pod in rows} == {pod: before[pod]["ComputeNodeId"] for pod in rows}
    assert births(space, "one-cn") == {pod: born[pod] for pod in stay}
    assert restarts(space, "one-cn") == 0
    dropped = said(space, "one", "DROP COMPUTE NODE")
    assert "one-cn-10" in dropped
    assert set(dropped) <= {"one-cn-9", "one-cn-10", "one-cn-11"}
    assert not any("far.example.com" in line["statement"] for line in told_by_the_operator(space))


def test_an_autoscaler_takes_compute_nodes_away_and_the_backends_stay(space: Space) -> None:
    document = cluster("one", be=3, cn=5)
    policy = {"minReplicas": 1, "maxReplicas": 8, "hpaPolicy": {"metrics": [cpu(60)]}}
    document["spec"][CN] |= {"autoScalingPolicy": policy}
    space.apply(document)
    space.wait_ready("one")
    fill(space, "one", moving=30)
    for wished in (2, 4, 3):
        space.autoscale("one", wished)
        space.wait_ready("one")
        assert set(compute_nodes(space, "one")) == {f"one-cn-{ordinal}" for ordinal in range(wished)}
        assert replicas(space, "one-cn") == wished
    assert shrunk_to(space, "one-cn") == [4, 3, 2, 3]
    assert len(backends(space, "one")) == 3
    assert shrunk_to(space, "one-be") == []


def test_queries_end_before_a_compute_node_goes_and_it_can_be_taken_back(space: Space) -> None:
    space.apply(newer(cluster("one", fe=3, cn=3)))
    space.wait_ready("one")
    node = compute_nodes(space, "one")["one-cn-2"]["ComputeNodeId"]
    born = births(space, "one-cn")
    space.fault("one-cn-2", "queries", value=5)
    space.scale("one", CN, 2)
    space.wait(lambda: blacklists(space) == [{node}] * 3, "one", "to send it no more queries")
    space.scale("one", CN, 3)
    space.wait_ready("one")
    assert blacklists(space) == [set()] * 3
    assert births(space, "one-cn") == born
    assert compute_nodes(space, "one")["one-cn-2"]["ComputeNodeId"] == node
    space.scale("one", CN, 2)
    space.wait(lambda: blacklists(space) == [{node}] * 3, "one", "to send it no more queries again")
    assert replicas(space, "one-cn") == 3
    space.fault("one-cn-2", "queries", value=0)
    space.wait_ready("one")
    assert set(compute_nodes(space, "one")) == {"one-cn-0", "one-cn-1"}


def test_backends_on_shared_storage_leave_without_a_migration(space: Space) -> None:
    configuration = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "fe-conf"},
        "data": {"fe.conf": "run_mode = shared_data\n"},
    }
    space.apply(configuration)
    document = cluster("one", be=3)
    document["spec"]["starRocksFeSpec"] |= {"configMapInfo": {"configMapName": "fe-conf", "resolveKey": "fe.conf"}}
    space.apply(document)
    space.wait_ready("one")
    for wished in (1, 0):
        space.scale("one", BE, wished)
        space.wait_ready("one")
        assert set(backends(space, "one")) == {f"one-be-{ordinal}" for ordinal in range(wished)}
    assert shrunk_to(space, "one-be") == [2, 1, 0]
    assert said(space, "one", "DECOMMISSION BACKEND") == []


def test_compute_nodes_that_are_no_longer_in_the_spec_stay_until_there_are_none(space: Space) -> None:
    space.apply(cluster("one", cn=2))
    space.wait_ready("one")
    spec = space.get("StarRocksCluster", "one")["spec"][CN]
    space.patch("StarRocksCluster", "one", {"spec": {CN: None}})
    space.wait(lambda: finding(space, "one", "ComponentOrphaned"), "one", "to show ComponentOrphaned")
    assert len(compute_nodes(space, "one")) == 2
    space.patch("StarRocksCluster", "one", {"spec": {CN: {**spec, "replicas": 0}}})
    space.wait_ready("one")
    assert compute_nodes(space, "one") == {}
    space.patch("StarRocksCluster", "one", {"spec": {CN: None}})
    space.wait_ready("one")
    assert replicas(space, "one-cn") == 0
    assert finding(space, "one", "ComponentOrphaned") == ""


def blacklists(space: Space) -> list[set[str]]:
    """The ids of the compute nodes that each of three frontends sends no queries."""
    found = []
    for ordinal in range(3):
        pod = {"pod": f"one-fe-{ordinal}", "namespace": space.namespace}
        rows = space.simulator("POST", "/sql", {**pod, "sql": "SHOW COMPUTE NODE BLACKLIST"})["rows"]
        found.append({row["ComputeNodeId"] for row in rows})
    return found


def told_by_the_operator(space: Space) -> list[Document]:
    lines = space.stack.witness.statements()
    return [line for line in lines if line["namespace"] == space.namespace and line["source"] == "client"]


def newer(document: Document) -> Document:
    """On a version whose frontends have blacklists of compute nodes."""
    for spec in document["spec"].values():
        spec["image"] = spec["image"].replace("3.3.9", "4.0.1")
    return document


def cpu(percent: int) -> Document:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}
