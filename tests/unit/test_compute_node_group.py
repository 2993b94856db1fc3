"""ComputeNodeGroup: its CRD, its objects, and the truth table of its compute nodes, cell by cell."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from starrocks_operator.decision import Decision
from starrocks_operator.frontend.group import group_endpoints, group_login
from starrocks_operator.group.decide import decide_group
from starrocks_operator.group.status import group_transitions, status_of_group
from starrocks_operator.group.table import TABLE, Found, Move, Place
from starrocks_operator.model import ComputeNodeGroup, MalformedClusterError, group_crd
from starrocks_operator.objects.compute_node_group import build_group
from starrocks_operator.observed import Children, ComputeRow, FrontendAnswer, FrontendView, Observed, Outcome, Raw

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "crds" / "samples" / "seed-001.yaml"


def manifest(replicas: int = 1, *, deleted: bool = False, status: Raw | None = None, **spec: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": "g", "namespace": "n", "uid": "u", "generation": 1}
    if deleted:
        metadata["deletionTimestamp"] = "2026-05-01T11:00:00Z"
    fe = {"addresses": ["10.0.0.1:9030"]}
    raw = {
        "apiVersion": "starrocks.com/v1alpha1",
        "kind": "ComputeNodeGroup",
        "metadata": metadata,
        "spec": {"feInfo": fe, "cnImage": "cn:3.3.9", "replicas": replicas, **spec},
    }
    return {**raw, "status": status} if status else raw


def pod(ordinal: int, address: str = "", *, running: bool = True, **status: Any) -> Raw:
    labels = {"starrocks.com/compute-node-group": "g", "app.kubernetes.io/component": "cn"}
    state = {"running": {}} if running else {"waiting": {}}
    return {
        "kind": "Pod",
        "metadata": {"name": f"g-cn-{ordinal}", "namespace": "n", "labels": labels},
        "status": {
            "phase": "Running" if running else "Pending",
            "podIP": address or f"10.1.0.{ordinal}",
            "containerStatuses": [{"state": state, **status}],
        },
    }


def row(address: str = "10.1.0.0", number: str = "7", *, alive: bool = True, queries: int = 0) -> ComputeRow:
    return ComputeRow(id=number, host=address, heartbeat_port=9050, alive=alive, running_queries=queries)


class World:
    """One group as it is: applied objects, pods and FE's rows. `look` decides, and writes the status."""

    def __init__(self, raw: dict[str, Any], *pods: Raw, rows: tuple[ComputeRow, ...] | None = ()) -> None:
        self.raw, self.pods, self.rows, self.now = raw, list(pods), rows, NOW
        self.shunned: frozenset[str] | None = frozenset()
        self.replicas = raw["spec"]["replicas"]

    @property
    def group(self) -> ComputeNodeGroup:
        return ComputeNodeGroup.parse(self.raw)

    def observed(self) -> Observed:
        objects = [
            {**item, "metadata": {**item["metadata"]}}
            for item in build_group(self.group, replicas=self.replicas, properties={})
        ]
        view = None
        if self.rows is not None:
            lists = {} if self.shunned is None else {"10.0.0.1:9030": self.shunned}
            view = FrontendView(asked_at=self.now, leader="10.0.0.1", compute_nodes=self.rows, blacklists=lists)
        return Observed(now=self.now, children=Children.of([*objects, *self.pods]), view=view)

    def look(self) -> Decision:
        decision = decide_group(self.group, self.observed())
        for _ in range(3):
            status = status_of_group(self.group, self.observed(), decision, last_run=None)
            if self.raw.get("status") == status:
                return decision
            self.raw = {**self.raw, "status": status}
            decision = decide_group(self.group, self.observed())
        raise AssertionError("the status never comes to rest")

    def members(self) -> list[tuple[str, str, str]]:
        listed = self.raw["status"].get("members", ())
        return [(member.get("pod", ""), member["address"], member.get("state", "")) for member in listed]


def step(decision: Decision) -> str:
    return f"{decision.step.kind} {decision.step.target}" if decision.step else ""


def test_a_pod_without_an_address_is_on_its_way() -> None:
    coming = pod(0, running=False)
    world = World(manifest(), {**coming, "status": {**coming["status"], "podIP": None}})
    assert step(world.look()) == ""
    assert world.raw["status"]["phase"] == "reconciling"
    assert "g-cn-0" in world.raw["status"]["reason"]


def test_the_file_of_the_crd_is_that_of_the_model() -> None:
    assert group_crd.TARGET.read_text(encoding="utf-8") == group_crd.text()


def test_the_sample_becomes_objects_of_the_group() -> None:
    group = ComputeNodeGroup.parse(yaml.safe_load(SAMPLE.read_text()))
    service, workload, scaler = build_group(group, replicas=2, properties={})
    name = "computenodegroup-sample"
    assert [item["kind"] for item in (service, workload, scaler)] == [
        "Service",
        "StatefulSet",
        "HorizontalPodAutoscaler",
    ]
    assert workload["metadata"]["name"] == f"{name}-cn"
    assert workload["spec"]["serviceName"] == service["metadata"]["name"] == f"{name}-cn-search"
    container = workload["spec"]["template"]["spec"]["containers"][0]
    assert container["command"] == ["/opt/starrocks/cn/bin/start_cn.sh"]
    assert "args" not in container
    assert {entry["name"]: entry.get("value") for entry in container["env"]}["HOST_TYPE"] == "IP"
    assert not {"FE_SERVICE_NAME", "FE_QUERY_PORT"} & {entry["name"] for entry in container["env"]}
    assert scaler["spec"]["scaleTargetRef"] == {
        "apiVersion": "starrocks.com/v1alpha1",
        "kind": "ComputeNodeGroup",
        "name": name,
    }
    for item in (service, workload, scaler):
        assert item["metadata"]["ownerReferences"][0]["kind"] == "ComputeNodeGroup"
        assert "app.starrocks.ownerreference/name" not in item["metadata"]["labels"]


def test_the_command_is_the_images_start_script_unless_said() -> None:
    plain = build_group(ComputeNodeGroup.parse(manifest()), replicas=1, properties={})[1]
    said = build_group(ComputeNodeGroup.parse(manifest(command=["/x"], args=["-y"])), replicas=1, properties={})[1]
    containers = [item["spec"]["template"]["spec"]["containers"][0] for item in (plain, said)]
    assert containers[0]["command"] == ["/opt/starrocks/cn/bin/start_cn.sh"]
    assert (containers[1]["command"], containers[1]["args"]) == (["/x"], ["-y"])


def test_a_group_that_has_no_shape_is_named() -> None:
    with pytest.raises(MalformedClusterError, match="ComputeNodeGroup n/g"):
        ComputeNodeGroup.parse(manifest(feInfo=3))


def test_the_table_has_every_cell() -> None:
    assert set(TABLE) == {(place, found) for place in Place for found in Found}
    assert Move.DROP not in {TABLE[place, found] for place in (Place.WANTED, Place.UNREADY) for found in Found}


@pytest.mark.parametrize(
    ("running", "rows", "expected"),
    [
        (True, (), "AddComputeNode 10.1.0.0:9050"),
        (True, (row(),), ""),
        (True, (row(alive=False),), ""),
        (False, (), ""),
        (False, (row(),), ""),
        (False, (row(alive=False),), ""),
    ],
)
def test_a_wanted_pod(running: bool, rows: tuple[ComputeRow, ...], expected: str) -> None:
    assert step(World(manifest(), pod(0, running=running), rows=rows).look()) == expected


def test_nothing_is_done_while_no_frontend_answers_and_the_record_stays() -> None:
    world = World(manifest(), pod(0), rows=(row(),))
    world.look()
    recorded, world.rows, world.replicas = world.members(), None, 3
    decision = world.look()
    assert step(decision) == ""
    assert world.members() == recorded != []
    assert decision.context.replicas == {"cn": 3}


def test_an_unwanted_pod_is_shunned_then_dropped_and_only_then_goes() -> None:
    world = World(manifest(1), pod(0), pod(1), rows=(row(), row("10.1.0.1", "8", queries=2)))
    world.replicas = 2
    assert step(world.look()) == "BlacklistComputeNode 10.1.0.1:9050"
    world.shunned = frozenset({"8"})
    decision = world.look()
    assert (step(decision), decision.context.replicas) == ("", {"cn": 2})
    assert "2 queries" in " ".join(decision.waits)
    world.rows = (row(), row("10.1.0.1", "8", queries=0))
    assert step(world.look()) == "DropComputeNode 10.1.0.1:9050"
    world.rows = (row(),)
    decision = world.look()
    assert (step(decision), decision.context.replicas) == ("", {"cn": 1})
    assert decision.apply


def test_queries_are_waited_for_so_long_and_no_longer() -> None:
    world = World(manifest(0), pod(0), rows=(row(queries=5),))
    world.replicas, world.shunned = 1, frozenset({"7"})
    assert step(world.look()) == ""
    world.now += timedelta(seconds=121)
    assert step(world.look()) == "DropComputeNode 10.1.0.0:9050"


def test_a_release_without_blacklists_is_drained_without() -> None:
    world = World(manifest(0), pod(0), rows=(row(queries=0),))
    world.replicas, world.shunned = 1, None
    assert step(world.look()) == "DropComputeNode 10.1.0.0:9050"


def test_a_pod_that_is_wanted_again_gets_queries_again() -> None:
    world = World(manifest(0), pod(0), rows=(row(queries=5),))
    world.replicas, world.shunned = 1, frozenset({"7"})
    world.look()
    world.raw["spec"]["replicas"] = 1
    assert step(world.look()) == "UnblacklistComputeNode 10.1.0.0:9050"
    world.shunned = frozenset()
    assert step(world.look()) == ""
    assert world.members() == [("g-cn-0", "10.1.0.0:9050", "joined")]


def test_a_node_that_others_shunned_is_left_so() -> None:
    world = World(manifest(), pod(0), rows=(row(),))
    world.shunned = frozenset({"7"})
    assert step(world.look()) == ""


def test_a_restarted_pod_leaves_its_old_address_behind() -> None:
    world = World(manifest(), pod(0), rows=(row(),))
    world.look()
    world.pods, world.rows = [pod(0, "10.1.0.9")], (row(alive=True),)
    assert step(world.look()) == "AddComputeNode 10.1.0.9:9050"
    world.rows = (row(alive=False), row("10.1.0.9", "9"))
    assert step(world.look()) == "DropComputeNode 10.1.0.0:9050"
    world.rows = (row("10.1.0.9", "9"),)
    assert step(world.look()) == ""
    assert world.members() == [("g-cn-0", "10.1.0.9:9050", "joined")]


def test_an_address_that_another_took_is_given_up() -> None:
    world = World(manifest(), pod(0), rows=(row(),))
    world.look()
    world.pods, world.rows = [pod(0, "10.1.0.9")], (row(number="99", alive=False), row("10.1.0.9", "9"))
    assert step(world.look()) == ""
    assert ("", "10.1.0.0:9050", "leaving") not in world.members()


def test_a_row_that_lives_on_without_our_pod_is_given_up_in_time() -> None:
    world = World(manifest(), pod(0), rows=(row(),))
    world.look()
    world.pods, world.rows = [pod(0, "10.1.0.9")], (row(), row("10.1.0.9", "9"))
    world.look()
    world.now += timedelta(minutes=6)
    assert step(world.look()) == ""
    assert [address for _, address, _ in world.members()] == ["10.1.0.9:9050"]


def test_an_address_is_recorded_before_fe_is_told() -> None:
    world = World(manifest(), pod(0))
    world.look()
    assert world.members() == [("g-cn-0", "10.1.0.0:9050", "joining")]


def test_rows_of_others_are_never_touched() -> None:
    strangers = (row("192.0.2.1", "1", alive=False), row("10.1.0.0", "2"))
    world = World(manifest(), pod(0), rows=strangers)
    assert step(world.look()) == ""


def test_a_deleted_group_is_released_when_fe_has_forgotten_it_all() -> None:
    world = World(manifest(1, deleted=True), pod(0), rows=(row(),))
    decision = world.look()
    assert (step(decision), decision.released, decision.apply) == ("BlacklistComputeNode 10.1.0.0:9050", False, {})
    world.shunned = frozenset({"7"})
    assert step(world.look()) == "DropComputeNode 10.1.0.0:9050"
    world.rows = ()
    assert world.look().released


def test_a_deleted_group_waits_for_frontends_and_says_the_way_out() -> None:
    world = World(manifest(1, deleted=True), pod(0), rows=None)
    answers = (FrontendAnswer(pod="10.0.0.1:9030", outcome=Outcome.REFUSED),)
    observed = Observed(now=NOW, children=world.observed().children, view=FrontendView(asked_at=NOW, answers=answers))
    decision = decide_group(world.group, observed)
    assert not decision.released
    assert '"finalizers":null' in decision.findings[0].message


def test_an_ignored_group_is_left_alone() -> None:
    raw = manifest()
    raw["metadata"]["annotations"] = {"starrocks.com/ignored": "true"}
    decision = World(raw, pod(0)).look()
    assert (decision.step, decision.apply) == (None, {})


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (
            {"lastState": {"terminated": {"message": 'exec: "x/start_cn.sh": no such file or directory'}}},
            "StartScriptMissing",
        ),
        ({"restartCount": 4, "ready": False}, "ComputeNodesUnhealthy"),
        ({"state": {"waiting": {"reason": "ImagePullBackOff"}}}, "ImageUnavailable"),
    ],
)
def test_pods_that_do_not_run_say_why(status: dict[str, Any], reason: str) -> None:
    world = World(manifest(), pod(0, running=False, **status))
    world.look()
    degraded = next(one for one in world.raw["status"]["conditions"] if one["type"] == "Degraded")
    assert (degraded["status"], degraded["reason"]) == ("True", reason)
    assert [event.reason for event in group_transitions({}, world.raw["status"])] == [reason]


def test_what_is_ignored_is_noted() -> None:
    world = World(manifest(componentsImage="x"), pod(0), rows=(row(),))
    world.look()
    assert "componentsImage" in world.raw["status"]["notes"][0]
    assert world.raw["status"]["phase"] == "running"


def test_the_addresses_are_read_with_and_without_a_port() -> None:
    fe = {"addresses": ["fe.example:9931", "fe.example", "[2001:db8::1]:9030", "x:port"]}
    places = group_endpoints(ComputeNodeGroup.parse(manifest(feInfo=fe)))
    assert [(place.address, place.port) for place in places] == [
        ("fe.example", 9931),
        ("fe.example", 9030),
        ("2001:db8::1", 9030),
    ]


def test_the_account_comes_from_the_secret() -> None:
    fe = {"addresses": ["fe"], "accountSecret": "s"}
    group = ComputeNodeGroup.parse(manifest(feInfo=fe))
    data = {key: base64.b64encode(value.encode()).decode() for key, value in (("username", "op"), ("password", "p"))}
    login = group_login(group, {"metadata": {"resourceVersion": "5"}, "data": data})
    assert login.credentials is not None
    assert (login.credentials.user, login.credentials.password) == ("op", "p")
    assert "p" not in repr(login.credentials).split("password")[-1] or "password" not in repr(login.credentials)
    assert "does not exist" in group_login(group, None).problem
