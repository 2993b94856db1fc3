"""Configuration: inline and immutable, or the user's own file; what restarts, what is set online, what is refused."""

from __future__ import annotations

from typing import Any

from lab.space import Document, Space
from tests.cluster.clusters import cluster

REVISION = "controller-revision-hash"
MOUNT = "/etc/starrocks/{}/conf"


def configured(component: str, **config: str | None) -> Document:
    """A change of a component's inline configuration."""
    return {"spec": {component: {"config": config}}}


def with_config(name: str = "one", *, fe: int = 1, be: int | None = None, **config: dict[str, str]) -> Document:
    document = cluster(name, fe=fe, be=be, volumes=True)
    for component, entries in config.items():
        document["spec"][{"frontends": "starRocksFeSpec", "backends": "starRocksBeSpec"}[component]]["config"] = entries
    return document


def pods(space: Space, prefix: str) -> dict[str, Document]:
    return {pod["metadata"]["name"]: pod for pod in space.all("Pod") if pod["metadata"]["name"].startswith(prefix)}


def uids(space: Space, prefix: str) -> dict[str, str]:
    return {name: pod["metadata"]["uid"] for name, pod in pods(space, prefix).items()}


def mounted(pod: Document) -> str:
    """The configuration that a pod, or a template, has."""
    return next(
        (
            volume["configMap"]["name"]
            for volume in pod["spec"]["volumes"]
            if volume["name"] == "starrocks-configuration"
        ),
        "",
    )


def configurations(space: Space) -> dict[str, Document]:
    return {
        found["metadata"]["name"]: found
        for found in space.all("ConfigMap")
        if "starrocks.com/configuration" in (found["metadata"].get("labels") or {})
    }


def parameter(space: Space, pod: str, key: str) -> str:
    rows = space.asked(pod, f"ADMIN SHOW FRONTEND CONFIG LIKE '{key}'")
    return next((str(row["Value"]) for row in rows if row["Key"] == key), "")


def degraded(space: Space, name: str) -> str:
    return str(space.condition(name, "Degraded").get("message", ""))


def test_a_configuration_is_immutable_named_by_its_content_and_gone_when_nothing_needs_it(space: Space) -> None:
    space.apply(with_config(be=2, backends={"sys_log_level": "INFO"}))
    space.wait_ready("one")
    (first,) = configurations(space).values()
    assert first["immutable"] is True
    assert first["data"] == {"be.conf": "sys_log_level = INFO\n"}
    name = first["metadata"]["name"]
    assert name.startswith("one-be-config-")
    assert {mounted(pod) for pod in pods(space, "one-be-").values()} == {name}

    before = uids(space, "one-be-")
    space.patch("StarRocksCluster", "one", configured("starRocksBeSpec", sys_log_level="WARNING"))
    space.wait_ready("one")
    (second,) = {mounted(pod) for pod in pods(space, "one-be-").values()}
    assert second != name
    assert not set(uids(space, "one-be-").values()) & set(before.values())
    assert set(configurations(space)) == {name, second}  # a former revision still mounts it

    between = uids(space, "one-be-")
    for revision in space.all("ControllerRevision"):
        if revision["metadata"]["name"].startswith("one-be-") and name in str(revision["data"]):
            space.delete("ControllerRevision", revision["metadata"]["name"])
    space.patch("StarRocksCluster", "one", {"spec": {"starRocksBeSpec": {"podLabels": {"round": "2"}}}})
    space.wait(lambda: set(configurations(space)) == {second}, "one", "to have deleted what nothing refers to")
    space.wait_ready("one")
    assert not set(uids(space, "one-be-").values()) & set(between.values())


def test_an_old_pod_comes_back_with_the_old_content_and_reverting_restarts_nobody_else(space: Space) -> None:
    space.apply(with_config(be=3, backends={"sys_log_level": "INFO"}))
    space.wait_ready("one")
    before = uids(space, "one-be-")
    (name,) = {mounted(pod) for pod in pods(space, "one-be-").values()}
    space.patch("StarRocksCluster", "one", {"metadata": {"annotations": {"lab": "x"}}})
    space.fault("one-be-0", "kill")  # a backend that is not alive stops the roll before its first pod
    space.wait(lambda: not alive(space, "one-be-0"), "one", "to see a backend dead")
    space.patch("StarRocksCluster", "one", configured("starRocksBeSpec", sys_log_level="WARNING"))
    space.wait(lambda: mounted(template(space, "one-be")) != name, "one", "to have the new template")
    renew(space, "one-be-1")
    assert mounted(space.get("Pod", "one-be-1")) == name
    space.patch("StarRocksCluster", "one", configured("starRocksBeSpec", sys_log_level="INFO"))
    space.wait(lambda: mounted(template(space, "one-be")) == name, "one", "to have the former template")
    space.fault("one-be-0", "resume")
    space.wait_ready("one")
    after = uids(space, "one-be-")
    assert {pod: uid for pod, uid in after.items() if pod != "one-be-1"} == {
        pod: uid for pod, uid in before.items() if pod != "one-be-1"
    }


def renew(space: Space, pod: str) -> None:
    """Delete a pod, and wait for the one that takes its place."""
    was = uids(space, pod)[pod]
    space.delete("Pod", pod, wait=False)
    space.wait(lambda: uids(space, pod).get(pod, was) != was, "one", f"to have pod {pod} again")


def template(space: Space, name: str) -> Document:
    found: Document = space.get("StatefulSet", name)["spec"]["template"]
    return found


def alive(space: Space, pod: str) -> bool:
    rows = space.show("one", "SHOW BACKENDS")
    return any(row["IP"].startswith(f"{pod}.") and str(row["Alive"]) == "true" for row in rows)


def test_a_parameter_that_may_change_is_set_on_every_frontend_without_a_restart(space: Space) -> None:
    space.apply(with_config(fe=3, frontends={"sys_log_level": "INFO"}))
    space.wait_ready("one")
    before = uids(space, "one-fe-")
    space.patch("StarRocksCluster", "one", configured("starRocksFeSpec", qe_max_connection="512"))
    names = sorted(before)
    space.wait(
        lambda: [parameter(space, pod, "qe_max_connection") for pod in names] == ["512"] * 3,
        "one",
        "to have the parameter on every frontend",
    )
    space.wait_ready("one")
    assert uids(space, "one-fe-") == before
    follower = next(row["name"] for row in space.status("one")["members"] if row.get("role") == "FOLLOWER")
    renew(space, follower)  # it starts with its file, which has the former value
    space.wait_ready("one")
    space.wait(lambda: parameter(space, follower, "qe_max_connection") == "512", "one", "to have told it again")
    unchanged = {pod: uid for pod, uid in uids(space, "one-fe-").items() if pod != follower}
    assert unchanged == {pod: uid for pod, uid in before.items() if pod != follower}

    space.patch("StarRocksCluster", "one", configured("starRocksFeSpec", sys_log_level="WARNING"))
    space.wait_ready("one")
    assert not set(uids(space, "one-fe-").values()) & set(before.values())
    (name,) = {mounted(pod) for pod in pods(space, "one-fe-").values()}
    assert configurations(space)[name]["data"]["fe.conf"] == "qe_max_connection = 512\nsys_log_level = WARNING\n"


def test_what_would_break_the_cluster_is_refused_and_what_is_in_force_stays(space: Space) -> None:
    space.apply(with_config(fe=1, be=1, frontends={"sys_log_level": "INFO"}, backends={"sys_log_level": "INFO"}))
    space.wait_ready("one")
    before = uids(space, "one-")
    wrong = configured("starRocksFeSpec", run_mode="shared_data", query_port="19030")["spec"]
    wrong |= configured("starRocksBeSpec", heartbeat_service_port="19050")["spec"]
    space.patch("StarRocksCluster", "one", {"spec": wrong})
    space.wait(lambda: "ConfigurationRefused" in str(space.condition("one", "Degraded")), "one", "to refuse it")
    said = degraded(space, "one")
    assert "run_mode must stay 'shared_nothing'" in said
    assert "query_port must stay '9030'" in said
    assert "heartbeat_service_port must stay '9050'" in said
    right = configured("starRocksFeSpec", run_mode=None, query_port=None)["spec"]
    right |= configured("starRocksBeSpec", heartbeat_service_port=None)["spec"]
    space.patch("StarRocksCluster", "one", {"spec": right})
    space.wait_ready("one")
    assert uids(space, "one-") == before


def file_of(text: str) -> Document:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "mine"}, "data": {"be.conf": text}}


def with_file(policy: str = "") -> Document:
    document: dict[str, Any] = cluster("one", fe=1, be=2, volumes=True)
    document["spec"]["starRocksBeSpec"]["configMapInfo"] = {"configMapName": "mine", "resolveKey": "be.conf"}
    document["metadata"]["annotations"] = {"starrocks.com/config-change": policy} if policy else {}
    return document


def test_a_changed_file_of_the_users_restarts_pods_one_by_one(space: Space) -> None:
    space.apply(file_of("sys_log_level = INFO\n"))
    space.apply(with_file())
    space.wait_ready("one")
    before = uids(space, "one-be-")
    space.apply(file_of("sys_log_level = WARNING\n"))
    space.wait(
        lambda: not set(uids(space, "one-be-").values()) & set(before.values()), "one", "to have replaced both pods"
    )
    space.wait_ready("one")


def test_by_hand_it_is_said_which_pods_run_with_an_older_file(space: Space) -> None:
    space.apply(file_of("sys_log_level = INFO\n"))
    space.apply(with_file("manual"))
    space.wait_ready("one")
    before = uids(space, "one-be-")
    space.apply(file_of("sys_log_level = WARNING\n"))
    space.wait(lambda: "one-be-0, one-be-1 may still run" in str(space.status("one")["conditions"]), "one", "to say so")
    for pod in sorted(before):
        renew(space, pod)
        space.wait_ready("one")
    space.wait(lambda: "may still run" not in str(space.status("one")["conditions"]), "one", "to have nothing pending")
    annotations = template(space, "one-be")["metadata"].get("annotations") or {}
    assert "starrocks.com/configuration-hash" not in annotations


def test_a_bad_configuration_stops_at_the_first_pod_and_the_fix_rolls(space: Space) -> None:
    space.apply(with_config(be=3, backends={"sys_log_level": "INFO"}))
    space.wait_ready("one")
    before = uids(space, "one-be-")
    space.patch("StarRocksCluster", "one", configured("starRocksBeSpec", crash_on_start="true"))
    space.wait(lambda: "PodsFailing" in space.reasons("one"), "one", "to have a pod that fails")
    (replaced,) = (pod for pod, uid in uids(space, "one-be-").items() if before[pod] != uid)
    good = next(pod for pod in sorted(before) if pod != replaced)
    space.fault(good, "crash")  # it restarts with the content that it had
    space.wait(lambda: alive(space, good), "one", "to have it back", patience=60)
    assert {pod: uid for pod, uid in uids(space, "one-be-").items() if pod != replaced} == {
        pod: uid for pod, uid in before.items() if pod != replaced
    }
    space.patch("StarRocksCluster", "one", configured("starRocksBeSpec", crash_on_start=None, sys_log_level="WARNING"))
    space.wait_ready("one")
    assert not set(uids(space, "one-be-").values()) & set(before.values())
