"""The main job: an applied StarRocksCluster becomes a running, joined cluster, and its status tells the truth."""

from __future__ import annotations

from lab.space import Space, sample
from lab.stack import wait_for
from tests.cluster.clusters import cluster


def test_the_demo_sample_becomes_a_running_cluster(space: Space) -> None:
    space.apply(sample("demo"))
    space.wait_ready("demo")
    status = space.status("demo")
    assert status["phase"] == "running"
    assert [status[key]["phase"] for key in ("starRocksFeStatus", "starRocksBeStatus", "starRocksCnStatus")] == [
        "running"
    ] * 3
    assert status["bootstrap"]["clusterId"] == space.show("demo", "SHOW FRONTENDS")[0]["ClusterId"]
    assert {member["kind"] for member in status["members"] if member["alive"]} == {"frontend", "backend", "computeNode"}
    assert len(status["members"]) == 7
    assert space.condition("demo", "QuorumSafe")["status"] == "True"
    assert space.condition("demo", "Degraded")["status"] == "False"
    assert not status.get("waitingFor")


def test_frontends_come_first_and_the_others_when_a_leader_answers(space: Space) -> None:
    space.apply(cluster("one", fe=3, be=1))
    space.wait_ready("one")
    frontends = space.get("StatefulSet", "one-fe")["metadata"]["creationTimestamp"]
    backends = space.get("StatefulSet", "one-be")["metadata"]["creationTimestamp"]
    assert frontends <= backends
    created = [
        write.name
        for write in space.stack.witness.writes()
        if write.namespace == space.namespace and write.resource == "statefulsets" and write.code == 201
    ]
    assert created == ["one-fe", "one-be"]


def test_more_backends_join_when_they_are_wished_for(space: Space) -> None:
    space.apply(cluster("one", be=1))
    space.wait_ready("one")
    space.scale("one", "starRocksBeSpec", 3)
    space.wait_ready("one")
    assert [row["Alive"] for row in space.show("one", "SHOW BACKENDS")] == ["true"] * 3


def test_fewer_backends_leave_and_a_single_frontend_is_refused(space: Space) -> None:
    space.apply(cluster("one", fe=3, be=3))
    space.wait_ready("one")
    space.scale("one", "starRocksFeSpec", 1)
    space.wait(lambda: "ScaleInRefused" in space.events("one"), "one", "to report ScaleInRefused")
    space.wait(lambda: "ScaleInRefused" in space.reasons("one"), "one", "to show ScaleInRefused")
    assert space.get("StatefulSet", "one-fe")["spec"]["replicas"] == 3
    assert not space.ready("one")
    space.scale("one", "starRocksFeSpec", 3)
    space.scale("one", "starRocksBeSpec", 2)
    space.wait_ready("one")
    assert space.get("StatefulSet", "one-be")["spec"]["replicas"] == 2
    rows = space.show("one", "SHOW BACKENDS")
    assert [row["IP"].split(".")[0] for row in rows] == ["one-be-0", "one-be-1"]
    assert {row["SystemDecommissioned"] for row in rows} == {"false"}


def test_compute_nodes_follow_the_scale_subresource_and_leave_no_ghosts(space: Space) -> None:
    space.apply(cluster("one", cn=3))
    space.wait_ready("one")
    space.scale("one", "starRocksCnSpec", 1)
    space.wait_ready("one")
    assert [row["IP"].split(".")[0] for row in space.show("one", "SHOW COMPUTE NODES")] == ["one-cn-0"]


def test_a_removed_component_is_orphaned_and_not_deleted(space: Space) -> None:
    space.apply(cluster("one", be=1))
    space.wait_ready("one")
    space.patch("StarRocksCluster", "one", {"spec": {"starRocksBeSpec": None}})
    space.wait(lambda: "ComponentOrphaned" in space.events("one"), "one", "to report ComponentOrphaned")
    assert space.get("StatefulSet", "one-be")["spec"]["replicas"] == 1
    assert space.find("Service", "one-be-search") is not None


def test_a_deleted_cluster_leaves_its_volumes_and_nothing_else(space: Space) -> None:
    space.apply(cluster("one", be=1, volumes=True))
    space.wait_ready("one")
    space.delete("StarRocksCluster", "one")
    for kind in ("StatefulSet", "Service", "Pod", "HorizontalPodAutoscaler"):
        wait_for(lambda kind=kind: space.all(kind) == [], what=f"every {kind} to be gone")
    assert {claim["metadata"]["name"] for claim in space.all("PersistentVolumeClaim")} == {
        "fe-meta-one-fe-0",
        "be-data-one-be-0",
    }


def test_a_cluster_applied_again_on_its_old_volumes_is_the_same_cluster(space: Space) -> None:
    space.apply(cluster("one", fe=3, be=1, volumes=True))
    space.wait_ready("one")
    founded = space.status("one")["bootstrap"]["clusterId"]
    space.delete("StarRocksCluster", "one")
    wait_for(lambda: space.all("Pod") == [], what="the pods to be gone")
    space.apply(cluster("one", fe=3, be=1, volumes=True))
    space.wait_ready("one")
    assert space.status("one")["bootstrap"]["clusterId"] == founded


def test_profile_upstream_makes_the_official_operators_pods(space: Space) -> None:
    document = cluster("one", be=1)
    document["metadata"]["annotations"] = {"starrocks.com/profile": "upstream"}
    space.apply(document)
    space.wait_ready("one")
    container = space.get("StatefulSet", "one-fe")["spec"]["template"]["spec"]["containers"][0]
    assert container["command"] == ["/opt/starrocks/fe_entrypoint.sh"]
    assert space.find("PodDisruptionBudget", "one-be") is None


def test_an_ignored_cluster_is_left_alone(space: Space) -> None:
    document = cluster("one")
    document["metadata"]["annotations"] = {"starrocks.com/ignored": "true"}
    space.apply(document)
    space.apply(cluster("two"))
    space.wait_ready("two")
    assert {stateful_set["metadata"]["name"] for stateful_set in space.all("StatefulSet")} == {"two-fe"}


def test_clusters_whose_names_are_prefixes_of_each_other_stay_apart(space: Space) -> None:
    for name in ("a", "a-fe", "a-b"):
        space.apply(cluster(name, be=1))
    for name in ("a", "a-fe", "a-b"):
        space.wait_ready(name)
        assert [row["IP"].split(".")[0] for row in space.show(name, "SHOW BACKENDS")] == [f"{name}-be-0"]
        assert len(space.status(name)["members"]) == 2
