"""What the watcher itself writes: status, Events; and how it reads what a cluster refers to."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from kmock import RawHandler
from kubernetes.aio import client

from starrocks_operator.model import MalformedClusterError, StarRocksCluster
from starrocks_operator.status import Transition
from tests.unit.watcher_fakes import KEY, Clock, FakeKube, cluster_path, cluster_raw
from watcher.events import Events
from watcher.kube import ApiError, Kube
from watcher.poisoned import explain, status_of_poisoned
from watcher.realm import CLUSTERS, GROUPS
from watcher.references import FRESH, Reader
from watcher.status_writer import GoneError, StatusWriter


async def test_status_is_written_only_when_it_differs() -> None:
    kube = FakeKube()
    kube.store(cluster_path(), cluster_raw(phase="reconciling"))
    writer = StatusWriter(kube)
    assert await writer.write(kube.objects[cluster_path()], {"phase": "reconciling"}) is None
    assert kube.writes == []
    after = await writer.write(kube.objects[cluster_path()], {"phase": "running"})
    assert after is not None
    assert after["status"] == {"phase": "running"}


@pytest.mark.parametrize("change", ["deleted", "made anew"])
async def test_a_cluster_that_is_gone_is_left_in_peace(change: str) -> None:
    kube = FakeKube()
    raw = cluster_raw()
    if change == "made anew":
        other = cluster_raw()
        other["metadata"]["uid"] = "another"
        kube.store(cluster_path(), other)
    with pytest.raises(GoneError):
        await StatusWriter(kube).write(raw, {"phase": "running"})


async def test_a_recurring_event_becomes_a_series() -> None:
    kube, clock = FakeKube(), Clock()
    events = Events(kube, identity="me", clock=clock)
    ready = Transition(type="Normal", reason="Ready", message="All is well.")
    await events.post(cluster_raw(), [ready])
    await events.post(cluster_raw(), [ready])
    method, path, body = kube.writes[1]
    assert method == "PATCH"
    assert body["series"]["count"] == 2
    assert path in kube.objects
    clock.forward(601)
    await events.post(cluster_raw(), [ready])
    assert kube.writes[2][0] == "POST"


async def test_a_lost_event_is_no_failure() -> None:
    kube = FakeKube()
    kube.fail("POST", "events", 500)
    await Events(kube, identity="me", clock=Clock()).post(
        cluster_raw(), [Transition(type="Normal", reason="Ready", message="m")]
    )


def test_a_poisoned_clusters_status_keeps_what_was_known() -> None:
    raw = cluster_raw(
        phase="running",
        members=[{"name": "a"}],
        conditions=[
            {"type": "Ready", "status": "True", "lastTransitionTime": "old"},
            {"type": "QuorumSafe", "status": "True"},
        ],
    )
    reason, message = explain(KeyError("s3cret"))
    now = datetime(2026, 1, 1, tzinfo=UTC)
    status = status_of_poisoned(raw, reason, message, now=now)
    conditions = {item["type"]: item for item in status["conditions"]}
    assert "s3cret" not in str(status)
    assert status["members"] == [{"name": "a"}]
    assert conditions["Degraded"]["reason"] == "InternalError"
    assert conditions["Ready"] | {} == {
        "type": "Ready",
        "status": "False",
        "reason": "InternalError",
        "message": message,
        "observedGeneration": 1,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    assert conditions["QuorumSafe"] == {"type": "QuorumSafe", "status": "True"}
    again = status_of_poisoned({**raw, "status": status}, reason, message, now=datetime(2027, 1, 1, tzinfo=UTC))
    assert again == status, "said once, it is not said again"
    assert explain(MalformedClusterError("spec.x: wrong")) == ("InvalidSpec", "spec.x: wrong")


def cluster(**fe: object) -> StarRocksCluster:
    raw = cluster_raw()
    raw["spec"]["starRocksFeSpec"] |= fe
    return StarRocksCluster.parse(raw)


PASSWORD = {"name": "MYSQL_PWD", "valueFrom": {"secretKeyRef": {"name": "root", "key": "password"}}}
SECRET = "/api/v1/namespaces/ns/secrets/root"
CONFIG = "/api/v1/namespaces/ns/configmaps/fe-conf"


async def test_without_references_nothing_is_read_and_root_has_no_password() -> None:
    kube = FakeKube()
    kube.fail("GET", "", 500)
    found = await Reader(kube, clock=Clock()).read(cluster(), settled=False)
    assert found.credentials is not None
    assert found.credentials.password == ""


async def test_configuration_and_password_are_read_and_kept_for_a_while() -> None:
    kube, clock = FakeKube(), Clock()
    kube.store(SECRET, {"metadata": {}, "data": {"password": base64.b64encode(b"pw").decode()}})
    kube.store(CONFIG, {"metadata": {}, "data": {"fe.conf": "query_port = 9999\n"}})
    wanted = cluster(feEnvVars=[PASSWORD], configMapInfo={"configMapName": "fe-conf", "resolveKey": "fe.conf"})
    reader = Reader(kube, clock=clock)
    found = await reader.read(wanted, settled=False)
    assert found.configurations["fe"].properties["query_port"] == "9999"
    assert found.credentials is not None
    assert found.credentials.password == "pw"
    assert "pw" not in repr(found)
    del kube.objects[CONFIG]
    assert await reader.read(wanted, settled=False) is found
    clock.forward(FRESH + 1)
    assert await reader.read(wanted, settled=True) is found, "a settled cluster is read more rarely"
    assert (await reader.read(wanted, settled=False)).missing == ("ConfigMap fe-conf",)


@pytest.mark.parametrize(
    ("data", "said"),
    [(None, "does not exist"), ({"other": "eA=="}, "no key password"), ({"password": "/w=="}, "no UTF-8")],
)
async def test_a_password_that_cannot_be_had_is_explained(data: dict[str, str] | None, said: str) -> None:
    kube = FakeKube()
    if data is not None:
        kube.store(SECRET, {"metadata": {}, "data": data})
    found = await Reader(kube, clock=Clock()).read(cluster(feEnvVars=[PASSWORD]), settled=False)
    assert found.credentials is None
    assert said in found.problem
    assert "root" in found.problem


@pytest.mark.parametrize("status", [403, 409, 429, 500])
async def test_the_client_says_what_the_server_said(kmock: RawHandler, status: int) -> None:
    kmock["get /refuse"] << status << {"message": "because"}
    kmock["get /fine"] << {"items": [{"a": 1}]}
    configuration = client.Configuration(host=str(kmock.url).rstrip("/"))
    kube = Kube(client.ApiClient(configuration=configuration))
    with pytest.raises(ApiError, match="because") as caught:
        await kube.get("/refuse")
    assert caught.value.status == status
    assert await kube.get("/fine") == {"items": [{"a": 1}]}
    await kube.close()


async def test_no_answer_is_an_error_too() -> None:
    configuration = client.Configuration(host="http://127.0.0.1:9")
    kube = Kube(client.ApiClient(configuration=configuration))
    with pytest.raises(ApiError, match="no answer") as caught:
        await kube.get("/x")
    assert caught.value.status == 0
    await kube.close()
    assert KEY.name == "sample"


class Told:
    """An API server that answers with the object as it was patched, or refuses."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw
        self.patches: list[tuple[str, Any]] = []

    async def request(self, _method: str, path: str, *, body: Any, content: str) -> dict[str, Any]:
        assert content == "application/json-patch+json"
        self.patches.append((path, body))
        return {**self.raw, "metadata": {**self.raw["metadata"], "finalizers": body[-1]["value"]}}


def group_raw(*finalizers: str, **metadata: Any) -> dict[str, Any]:
    named = {"name": "g", "namespace": "n", "uid": "u", "resourceVersion": "5", "finalizers": list(finalizers)}
    return {"apiVersion": "starrocks.com/v1alpha1", "kind": "ComputeNodeGroup", "metadata": {**named, **metadata}}


async def test_a_finalizer_is_put_and_taken_beside_those_of_others() -> None:
    kube = Told(group_raw("other"))
    writer = StatusWriter(cast(Any, kube), GROUPS)
    held = await writer.hold(group_raw("other"))
    assert held is not None
    assert held["metadata"]["finalizers"] == ["other", GROUPS.finalizer]
    assert await writer.hold(held) is None
    await writer.release(held)
    path, body = kube.patches[-1]
    assert path == "/apis/starrocks.com/v1alpha1/namespaces/n/computenodegroups/g"
    assert body[-1]["value"] == ["other"]
    assert {"op": "test", "path": "/metadata/resourceVersion", "value": "5"} in body


async def test_what_is_going_gets_no_finalizer_and_clusters_never_do() -> None:
    kube = Told(group_raw())
    assert await StatusWriter(cast(Any, kube), GROUPS).hold(group_raw(deletionTimestamp="now")) is None
    assert await StatusWriter(cast(Any, kube)).hold(group_raw()) is None
    assert kube.patches == []


def test_the_realms_do_not_see_each_others_objects() -> None:
    labels = {"starrocks.com/compute-node-group": "g", "app.kubernetes.io/component": "cn"}
    pod = {"kind": "Pod", "metadata": {"name": "g-cn-0", "namespace": "n", "labels": labels}}
    assert (GROUPS.key_of(pod), CLUSTERS.key_of(pod)) == (("n", "g"), None)
    labels = {"app.starrocks.ownerreference/name": "g-cn", "app.kubernetes.io/component": "cn"}
    pod = {"kind": "Pod", "metadata": {"name": "g-cn-0", "namespace": "n", "labels": labels}}
    assert (GROUPS.key_of(pod), CLUSTERS.key_of(pod)) == (None, ("n", "g"))
