"""Quiet modes: paused, asleep and awake again, restarted on request, and a template of another release."""

from __future__ import annotations

from typing import Any

from lab.space import Document, Space
from lab.witness import Mark
from tests.cluster.clusters import cluster
from tests.cluster.leaving import fill, statistic, tablets

HASH = "starrocks.com/template-hash"
SOURCE = "starrocks.com/template-source"


def annotate(space: Space, **annotations: str | None) -> None:
    """Annotations of ours on the cluster; None takes one away."""
    named = {f"starrocks.com/{name.replace('_', '-')}": value for name, value in annotations.items()}
    space.patch("StarRocksCluster", "one", {"metadata": {"annotations": named}})


def uids(space: Space, prefix: str = "one-") -> dict[str, str]:
    pods = (pod["metadata"] for pod in space.all("Pod"))
    return {pod["name"]: pod["uid"] for pod in pods if pod["name"].startswith(prefix)}


def changed(space: Space, since: Mark) -> list[str]:
    """What the operator wrote in this namespace, besides the status and events."""
    writes = space.stack.witness.writes(since=since)
    ours = (write for write in writes if write.namespace == space.namespace)
    return [str(write) for write in ours if write.subresource != "status" and write.resource != "events"]


def asked(space: Space, since: Mark) -> list[Any]:
    return [line for line in space.stack.witness.statements(since=since) if line["namespace"] == space.namespace]


def members(space: Space) -> set[tuple[str, str]]:
    """By host and id; a compute node that stops gracefully may take its leave of FE by itself."""
    found = space.status("one")["members"]
    return {(each["host"], "" if each["kind"] == "computeNode" else each["id"]) for each in found}


def image(version: str) -> Document:
    return {"spec": {"starRocksBeSpec": {"image": f"starrocks/be-ubuntu:{version}"}}}


def test_nothing_is_changed_in_a_paused_cluster(space: Space) -> None:
    space.apply(cluster("one", be=1, volumes=True))
    space.wait_ready("one")
    mark, pods = space.stack.witness.mark(), uids(space)
    annotate(space, paused="true")
    space.patch("StarRocksCluster", "one", {"spec": {"starRocksBeSpec": {"podLabels": {"round": "2"}}}})
    space.delete("PodDisruptionBudget", "one-be", wait=False)
    space.delete("Service", "one-be-service")
    space.wait(
        lambda: "Service/one-be-service" in space.condition("one", "Ready").get("message", ""), "one", "to say it"
    )
    assert space.condition("one", "Ready")["reason"] == "Paused"
    assert changed(space, mark) == []
    assert uids(space) == pods
    annotate(space, paused=None)
    space.wait_ready("one")
    assert space.find("Service", "one-be-service") is not None
    assert uids(space)["one-be-0"] != pods["one-be-0"]


def test_a_cluster_sleeps_and_wakes_up_with_all_its_data(space: Space) -> None:
    space.apply(cluster("one", fe=3, be=3, cn=1, volumes=True))
    space.wait_ready("one")
    fill(space, "one", moving=20, replication=3)
    space.wait(lambda: sum(tablets(space, "one").values()) == 60, "one", "to hold its tablets")
    known = members(space)
    claims = {claim["metadata"]["uid"] for claim in space.all("PersistentVolumeClaim")}
    founded = space.status("one")["bootstrap"]["clusterId"]
    annotate(space, hibernate="true")
    space.wait(lambda: space.status("one").get("phase") == "hibernated", "one", "to sleep")
    assert uids(space) == {}
    mark = space.stack.witness.mark()
    generation = space.patch("StarRocksCluster", "one", image("3.3.10"))["metadata"]["generation"]
    space.wait(lambda: space.status("one")["observedGeneration"] == generation, "one", "to notice a change")
    assert changed(space, mark) == []
    assert asked(space, mark) == []
    annotate(space, hibernate=None)
    space.wait_ready("one")
    assert members(space) == known
    assert {claim["metadata"]["uid"] for claim in space.all("PersistentVolumeClaim")} == claims
    assert space.status("one")["bootstrap"]["clusterId"] == founded
    assert sum(tablets(space, "one").values()) == 60
    assert str(statistic(space, "one")["UnhealthyTabletNum"]) == "0"
    assert space.get("Pod", "one-be-0")["spec"]["containers"][0]["image"].endswith(":3.3.10")


def test_what_would_lose_its_data_does_not_sleep(space: Space) -> None:
    space.apply(cluster("one", be=1))
    space.wait_ready("one")
    annotate(space, hibernate="true")
    space.wait(lambda: "HibernationRefused" in space.reasons("one"), "one", "to refuse it")
    assert len(uids(space)) == 2


def test_pods_are_restarted_on_request(space: Space) -> None:
    space.apply(cluster("one", fe=3, be=2, volumes=True))
    space.wait_ready("one")
    pods = uids(space)
    moment = space.get("Pod", "one-be-1")["metadata"]["creationTimestamp"].replace("Z", ".999999Z")
    annotate(space, restart_pods=f"one-be-1@{moment}, one-be-9@{moment}")
    space.wait(lambda: uids(space).get("one-be-1") not in (None, pods["one-be-1"]), "one", "to restart a pod")
    space.wait_ready("one")
    assert "one-be-9" in space.condition("one", "Ready")["message"]
    assert {name for name, uid in uids(space).items() if uid != pods[name]} == {"one-be-1"}
    pods = uids(space)
    annotate(space, restart_pods=None, restart_fe="2026-01-01T00:00:00Z")
    space.wait(lambda: not set(uids(space).values()) & {pods[f"one-fe-{n}"] for n in range(3)}, "one", "to restart")
    space.wait_ready("one")
    assert {name for name, uid in uids(space).items() if uid == pods[name]} == {"one-be-0", "one-be-1"}


def test_a_template_of_another_release_is_kept_until_its_owner_agrees(space: Space) -> None:
    space.apply(cluster("one", be=1, volumes=True))
    space.wait_ready("one")
    wanted = space.get("StatefulSet", "one-be")["metadata"]["annotations"][HASH]
    template = {"spec": {"terminationGracePeriodSeconds": 77}}
    former = {"metadata": {"annotations": {HASH: "former"}}, "spec": {"template": template}}
    space.patch_as("another-release", "StatefulSet", "one-be", former)

    def period() -> int:
        pod = space.find("Pod", "one-be-0")
        return int(pod["spec"]["terminationGracePeriodSeconds"]) if pod else 0

    def remarked() -> bool:
        return space.ready("one") and wanted in space.condition("one", "Ready")["message"]

    space.wait(lambda: period() == 77 and remarked(), "one", "to keep the template")
    pods = uids(space)
    space.scale("one", "starRocksBeSpec", 2)
    space.wait_ready("one")
    assert uids(space)["one-be-0"] == pods["one-be-0"]
    assert int(space.get("Pod", "one-be-1")["spec"]["terminationGracePeriodSeconds"]) == 77
    annotate(space, accept_template=wanted)
    space.wait(lambda: period() == 120, "one", "to have the new template")
    space.wait_ready("one")


def test_a_plan_is_carried_out_when_it_is_approved(space: Space) -> None:
    document = cluster("one", fe=3, be=3, volumes=True)
    document["metadata"]["annotations"] = {"starrocks.com/plan": "required"}
    space.apply(document)
    approve(space)
    space.wait_ready("one")
    assert "plan" not in space.status("one")
    mark, pods = space.stack.witness.mark(), uids(space)
    leader = next(member["name"] for member in space.status("one")["members"] if member.get("role") == "LEADER")
    space.patch("StarRocksCluster", "one", image("3.3.10"))
    space.patch("StarRocksCluster", "one", {"spec": {"starRocksFeSpec": {"podLabels": {"round": "2"}}}})
    replaced = [step["object"] for step in planned(space)["steps"] if step["restart"]]
    assert replaced[:3] == ["one-be-2", "one-be-1", "one-be-0"]
    assert replaced[-1] == leader
    assert sorted(replaced) == sorted(pods)
    assert changed(space, mark) == []
    assert uids(space) == pods
    approve(space)
    space.wait_ready("one", patience=120)
    assert not set(uids(space).values()) & set(pods.values())
    rolled = [pod for kind, pod in steps(space, mark) if kind in ("ReplacePod", "OfferTemplate", "DeletePod")]
    assert list(dict.fromkeys(rolled)) == replaced


def planned(space: Space) -> Document:
    """The plan of the present generation, not yet approved."""

    def there() -> Document | None:
        document = space.get("StarRocksCluster", "one")
        status = document.get("status", {})
        reasons = {condition["reason"] for condition in status.get("conditions", ())}
        seen = status.get("observedGeneration") == document["metadata"]["generation"]
        plan: Document = status.get("plan", {})
        return plan if seen and "PlanNotApproved" in reasons and not plan["approved"] else None

    return space.wait(there, "one", "to have a plan")


def approve(space: Space) -> None:
    annotate(space, approve_plan=planned(space)["hash"])


def steps(space: Space, since: Mark) -> list[tuple[str, str]]:
    """The steps that the status announced."""
    writes = space.stack.witness.writes(since=since)
    found = []
    for write in writes:
        if write.namespace == space.namespace and write.resource == "starrocksclusters":
            step = (write.answered.get("status") or {}).get("nextStep") or {}
            found.append((step.get("kind", ""), step.get("target", "")))
    return found
