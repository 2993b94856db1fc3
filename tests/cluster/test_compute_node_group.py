"""A ComputeNodeGroup at frontends that are not its own: its nodes join by address, and leave nothing behind."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from kubernetes.client.exceptions import ApiException

from lab.space import Document, Space, sample
from lab.stack import wait_for
from tests.cluster.clusters import cluster

PATIENCE = 120.0
IGNORED = "starrocks.com/ignored"


def group(addresses: list[str], replicas: int = 2, **spec: Any) -> Document:
    return {
        "apiVersion": "starrocks.com/v1alpha1",
        "kind": "ComputeNodeGroup",
        "metadata": {"name": "nodes"},
        "spec": {
            "feInfo": {"addresses": addresses},
            "cnImage": "starrocks/cn-ubuntu:3.3.9",
            "replicas": replicas,
            **spec,
        },
    }


@pytest.fixture
def frontends(space: Space) -> list[str]:
    """The addresses of a StarRocks of three frontends."""
    space.apply(cluster("elsewhere", fe=3))
    space.wait_ready("elsewhere")
    return [f"{space.address(f'elsewhere-fe-{ordinal}')}:9030" for ordinal in range(3)]


def nodes(space: Space) -> dict[str, str]:
    return {row["IP"]: row["Alive"] for row in space.show("elsewhere", "SHOW COMPUTE NODES")}


def pods(space: Space) -> list[str]:
    return sorted(pod["metadata"]["name"] for pod in space.all("Pod") if pod["metadata"]["name"].startswith("nodes-"))


def status(space: Space) -> Document:
    found: Document = (space.find("ComputeNodeGroup", "nodes") or {}).get("status") or {}
    return found


def wait_running(space: Space) -> None:
    def running() -> bool:
        found = space.get("ComputeNodeGroup", "nodes")
        judged = found.get("status", {}).get("observedGeneration") == found["metadata"]["generation"]
        return judged and status(space)["phase"] == "running"

    try:
        wait_for(running, what="the group to run", patience=PATIENCE)
    except Exception as problem:
        problem.add_note(str(status(space)))
        raise


def test_nodes_join_by_address_and_follow_their_pods(space: Space, frontends: list[str]) -> None:
    space.apply(group(frontends))
    wait_running(space)
    assert nodes(space) == {space.address(f"nodes-cn-{ordinal}"): "true" for ordinal in range(2)}
    assert status(space)["readyReplicas"] == 2
    assert {member["id"] for member in status(space)["members"]} == {
        row["ComputeNodeId"] for row in space.show("elsewhere", "SHOW COMPUTE NODES")
    }
    # a pod that is made anew has another address
    old = space.get("Pod", "nodes-cn-1")
    space.delete("Pod", "nodes-cn-1", wait=False)
    wait_for(
        lambda: (space.find("Pod", "nodes-cn-1") or old)["metadata"]["uid"] != old["metadata"]["uid"],
        what="another pod",
        patience=PATIENCE,
    )
    wait_for(
        lambda: (
            status(space)["phase"] == "running" and len(nodes(space)) == 2 and set(nodes(space).values()) == {"true"}
        ),
        what="the new address alone to be there",
        patience=PATIENCE,
    )
    # fewer, by the scale subresource as an autoscaler does
    space.patch("ComputeNodeGroup", "nodes", {"spec": {"replicas": 1}})
    wait_for(lambda: pods(space) == ["nodes-cn-0"], what="one pod to be left", patience=PATIENCE)
    wait_running(space)
    assert list(nodes(space)) == [space.address("nodes-cn-0")]
    # deleted, nothing is left in FE
    space.delete("ComputeNodeGroup", "nodes")
    assert nodes(space) == {}


def test_a_group_without_frontends_says_so_and_can_be_let_go(space: Space) -> None:
    space.apply(group(["127.0.0.1:1"], replicas=1, componentsImage="sidecars"))
    wait_for(lambda: status(space).get("phase") == "failed", what="the failure to be shown", patience=PATIENCE)
    assert "feInfo.addresses" in status(space)["reason"]
    assert "componentsImage" in status(space)["notes"][0]
    wait_for(lambda: pods(space) == ["nodes-cn-0"], what="its pod to be made all the same", patience=PATIENCE)
    space.delete("ComputeNodeGroup", "nodes", wait=False)
    wait_for(lambda: "finalizers" in status(space).get("reason", ""), what="the way out", patience=PATIENCE)
    space.patch("ComputeNodeGroup", "nodes", {"metadata": {"finalizers": None}})
    wait_for(lambda: space.find("ComputeNodeGroup", "nodes") is None, what="it to be gone", patience=PATIENCE)


def test_an_autoscaler_is_made_for_the_group_and_taken_away(space: Space, frontends: list[str]) -> None:
    policy = {"minReplicas": 1, "maxReplicas": 3}
    data = {"username": base64.b64encode(b"root").decode(), "password": ""}
    space.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "account"}, "data": data})
    info = {"addresses": frontends, "accountSecret": "account"}
    space.apply(group([], replicas=1, feInfo=info, autoScalingPolicy=policy))
    wait_running(space)
    target = space.get("HorizontalPodAutoscaler", "nodes-cn-autoscaler")["spec"]["scaleTargetRef"]
    assert target == {"apiVersion": "starrocks.com/v1alpha1", "kind": "ComputeNodeGroup", "name": "nodes"}
    space.patch("ComputeNodeGroup", "nodes", {"spec": {"autoScalingPolicy": None}})
    wait_for(
        lambda: space.find("HorizontalPodAutoscaler", "nodes-cn-autoscaler") is None,
        what="no autoscaler",
        patience=PATIENCE,
    )
    space.delete("ComputeNodeGroup", "nodes")
    assert nodes(space) == {}


def test_the_sample_is_accepted_and_what_cannot_work_is_refused(space: Space) -> None:
    document = sample("seed-001")
    left_alone = {"name": "nodes", "annotations": {IGNORED: "true"}}
    space.apply({**document, "metadata": left_alone})
    assert "finalizers" not in space.get("ComputeNodeGroup", "nodes")["metadata"]
    space.delete("ComputeNodeGroup", "nodes")
    for wrong in (group([]), group(["fe:9030"], cnImage=""), {**group(["fe"]), "metadata": {"name": "9nodes"}}):
        with pytest.raises(ApiException):
            space.apply(wrong)


def test_queries_end_before_a_node_goes(space: Space) -> None:
    image = "starrocks/fe-ubuntu:4.0.1"
    wanted = cluster("elsewhere")
    wanted["spec"]["starRocksFeSpec"]["image"] = image
    space.apply(wanted)
    space.wait_ready("elsewhere")
    space.apply(group([f"{space.address('elsewhere-fe-0')}:9030"], cnImage="starrocks/cn-ubuntu:4.0.1"))
    wait_running(space)
    space.fault("nodes-cn-1", "queries", value=2)
    space.patch("ComputeNodeGroup", "nodes", {"spec": {"replicas": 1}})
    wait_for(lambda: "2 queries" in status(space).get("reason", ""), what="its queries to be waited for", patience=60)
    member = next(one for one in status(space)["members"] if one["pod"] == "nodes-cn-1")
    assert member["state"] == "leaving"
    shunned = [row["ComputeNodeId"] for row in space.show("elsewhere", "SHOW COMPUTE NODE BLACKLIST")]
    assert shunned == [member["id"]]
    assert pods(space) == ["nodes-cn-0", "nodes-cn-1"]
    # wanted again, it gets queries again
    space.patch("ComputeNodeGroup", "nodes", {"spec": {"replicas": 2}})
    wait_running(space)
    assert space.show("elsewhere", "SHOW COMPUTE NODE BLACKLIST") == []
    space.patch("ComputeNodeGroup", "nodes", {"spec": {"replicas": 1}})
    wait_for(lambda: "2 queries" in status(space).get("reason", ""), what="its queries to be waited for", patience=60)
    space.fault("nodes-cn-1", "queries", value=0)
    wait_running(space)
    assert list(nodes(space)) == [space.address("nodes-cn-0")]
    space.delete("ComputeNodeGroup", "nodes")
