"""The lab's control plane behaves as Kubernetes does, as far as the operator can tell."""

import ipaddress
import json
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from lab.controlplane import ControlPlane, LabError, attach

pytestmark = pytest.mark.cluster


class Namespace:
    """kubectl in one namespace of the plane."""

    def __init__(self, plane: ControlPlane, name: str) -> None:
        self.plane = plane
        self.name = name

    def kubectl(self, *arguments: str, input: str | None = None) -> str:
        return self.plane.kubectl(f"--namespace={self.name}", *arguments, input=input)

    def apply(self, *objects: dict[str, Any]) -> None:
        self.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def get(self, *arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.kubectl("get", *arguments, "--output=json"))
        return found

    def wait(self, *arguments: str) -> None:
        self.kubectl("wait", *arguments, "--timeout=30s")


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[Namespace]:
    name = f"plane-{uuid.uuid4().hex[:8]}"
    control_plane.kubectl("create", "namespace", name)
    control_plane.kubectl("wait", f"--namespace={name}", "serviceaccount/default", "--for=create", "--timeout=30s")
    yield Namespace(control_plane, name)
    control_plane.kubectl("delete", "namespace", name, "--wait=false")


def stateful_set(name: str, *, replicas: int, claim: bool) -> dict[str, Any]:
    template: dict[str, Any] = {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [{"name": "main", "image": "example/main:1"}]},
    }
    spec: dict[str, Any] = {
        "serviceName": name,
        "replicas": replicas,
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": {"app": name}},
        "template": template,
    }
    if claim:
        size = {"requests": {"storage": "1Gi"}}
        volume = {"accessModes": ["ReadWriteOnce"], "resources": size}
        spec["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": volume}]
    else:
        template["spec"]["volumes"] = [{"name": "data", "emptyDir": {}}]
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name}, "spec": spec}


def pod(name: str, image: str = "example/main:1", **annotations: str) -> dict[str, Any]:
    marks = {f"lab.starrocks.com/{key}": value for key, value in annotations.items()}
    containers = [{"name": "main", "image": image}]
    metadata = {"name": name, "annotations": marks}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers}}


def audited(plane: ControlPlane, wanted: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    with plane.audit_log.open() as lines:
        return [event for event in map(json.loads, lines) if wanted(event)]


def test_pods_run_with_addresses_of_this_lab_and_claims_are_bound(namespace: Namespace) -> None:
    namespace.apply(
        stateful_set("kept", replicas=3, claim=True),
        stateful_set("scratch", replicas=2, claim=False),
    )
    for name, replicas in {"kept": 3, "scratch": 2}.items():
        namespace.wait(f"statefulset/{name}", f"--for=jsonpath={{.status.readyReplicas}}={replicas}")

    addresses = [pod["status"]["podIP"] for pod in namespace.get("pods")["items"]]
    assert len(set(addresses)) == 5
    network = ipaddress.ip_network(namespace.plane.cidr)
    assert all(ipaddress.ip_address(address) in network for address in addresses)

    claims = {claim["metadata"]["name"]: claim for claim in namespace.get("pvc")["items"]}
    assert set(claims) == {"data-kept-0", "data-kept-1", "data-kept-2"}
    assert {claim["status"]["phase"] for claim in claims.values()} == {"Bound"}


def test_a_deleted_pod_comes_back_to_its_volume(namespace: Namespace) -> None:
    namespace.apply(stateful_set("kept", replicas=1, claim=True))
    namespace.wait("statefulset/kept", "--for=jsonpath={.status.readyReplicas}=1")
    before = namespace.get("pod", "kept-0")["metadata"]["uid"]
    volume = namespace.get("pvc", "data-kept-0")["spec"]["volumeName"]

    namespace.kubectl("delete", "pod", "kept-0")
    namespace.wait("pod/kept-0", "--for=create")
    namespace.wait("pod/kept-0", "--for=condition=Ready")
    assert namespace.get("pod", "kept-0")["metadata"]["uid"] != before
    assert namespace.get("pvc", "data-kept-0")["spec"]["volumeName"] == volume


def test_a_claim_grows_and_its_volume_goes_with_it(namespace: Namespace) -> None:
    namespace.apply(stateful_set("kept", replicas=1, claim=True))
    namespace.wait("pvc/data-kept-0", "--for=create")
    namespace.wait("pvc/data-kept-0", "--for=jsonpath={.status.phase}=Bound")
    volume = namespace.get("pvc", "data-kept-0")["spec"]["volumeName"]

    larger = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
    namespace.kubectl("patch", "pvc", "data-kept-0", "--patch", json.dumps(larger))
    namespace.wait("pvc/data-kept-0", "--for=jsonpath={.status.capacity.storage}=2Gi")
    assert namespace.get("pv", volume)["spec"]["capacity"]["storage"] == "2Gi"

    assert "conditions" not in namespace.get("pvc", "data-kept-0")["status"]

    namespace.kubectl("delete", "statefulset", "kept")
    namespace.kubectl("delete", "pvc", "data-kept-0")
    namespace.wait(f"pv/{volume}", "--for=delete")


@pytest.mark.parametrize("stage", ["Resizing", "FileSystemResizePending"])
def test_a_resize_can_be_held_and_goes_on(namespace: Namespace, stage: str) -> None:
    namespace.apply(stateful_set("held", replicas=1, claim=True))
    namespace.wait("pvc/data-held-0", "--for=create")
    namespace.wait("pvc/data-held-0", "--for=jsonpath={.status.phase}=Bound")
    namespace.kubectl("annotate", "pvc", "data-held-0", f"lab.starrocks.com/resize={stage}")
    larger = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
    namespace.kubectl("patch", "pvc", "data-held-0", "--patch", json.dumps(larger))
    namespace.wait("pvc/data-held-0", f"--for=condition={stage}")
    assert namespace.get("pvc", "data-held-0")["status"]["capacity"]["storage"] == "1Gi"
    namespace.kubectl("annotate", "pvc", "data-held-0", "lab.starrocks.com/resize-")
    namespace.wait("pvc/data-held-0", "--for=jsonpath={.status.capacity.storage}=2Gi")


def test_volumes_of_the_fixed_class_do_not_grow(namespace: Namespace) -> None:
    spec = {
        "storageClassName": "fixed",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    metadata = {"name": "fixed"}
    namespace.apply({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec})
    namespace.wait("pvc/fixed", "--for=jsonpath={.status.phase}=Bound")
    larger = {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
    with pytest.raises(LabError, match="must support resize"):
        namespace.kubectl("patch", "pvc", "fixed", "--patch", json.dumps(larger))


def test_a_crash_loop_is_told_by_its_annotations(namespace: Namespace) -> None:
    namespace.apply(pod("looping"))
    namespace.wait("pod/looping", "--for=condition=Ready")
    told = (
        "lab.starrocks.com/waiting=CrashLoopBackOff",
        "lab.starrocks.com/ready=false",
        "lab.starrocks.com/restarts=2",
    )
    namespace.kubectl("annotate", "pod", "looping", *told)
    path = "{.status.containerStatuses[0].state.waiting.reason}"
    namespace.wait("pod/looping", f"--for=jsonpath={path}=CrashLoopBackOff")
    namespace.kubectl("annotate", "--overwrite", "pod", "looping", "lab.starrocks.com/restarts=3")
    namespace.wait("pod/looping", "--for=jsonpath={.status.containerStatuses[0].restartCount}=3")
    namespace.kubectl("annotate", "pod", "looping", "lab.starrocks.com/waiting-", "lab.starrocks.com/ready-")
    namespace.wait("pod/looping", "--for=condition=Ready")


def test_readiness_and_restarts_follow_the_annotations(namespace: Namespace) -> None:
    namespace.apply(pod("played"))
    namespace.wait("pod/played", "--for=condition=Ready")
    first = namespace.get("pod", "played")["status"]

    namespace.kubectl("annotate", "pod", "played", "lab.starrocks.com/ready=false")
    namespace.wait("pod/played", "--for=condition=Ready=false")
    status = namespace.get("pod", "played")["status"]
    assert (status["phase"], status["podIP"]) == ("Running", first["podIP"])
    assert [container["ready"] for container in status["containerStatuses"]] == [False]

    namespace.kubectl("annotate", "pod", "played", "lab.starrocks.com/ready-", "lab.starrocks.com/restarts=2")
    namespace.wait("pod/played", "--for=jsonpath={.status.containerStatuses[0].restartCount}=2")
    namespace.wait("pod/played", "--for=condition=Ready")
    container = namespace.get("pod", "played")["status"]["containerStatuses"][0]
    assert (
        container["lastState"]["terminated"]["startedAt"]
        == first["containerStatuses"][0]["state"]["running"]["startedAt"]
    )


def test_a_pod_born_unready_has_an_address_all_the_same(namespace: Namespace) -> None:
    namespace.apply(pod("slow", ready="false"))
    namespace.wait("pod/slow", "--for=jsonpath={.status.phase}=Running")
    status = namespace.get("pod", "slow")["status"]
    assert status["podIP"]
    assert {condition["type"]: condition["status"] for condition in status["conditions"]}["Ready"] == "False"


@pytest.mark.parametrize(
    ("held", "reason", "release"),
    [
        (
            pod("held", image="example/main:never"),
            "ImagePullBackOff",
            ("set", "image", "pod/held", "main=example/main:2"),
        ),
        (pod("held", stuck="ErrImagePull"), "ErrImagePull", ("annotate", "pod", "held", "lab.starrocks.com/stuck-")),
    ],
    ids=["image", "annotation"],
)
def test_a_stuck_pod_waits_with_its_reason_until_released(
    namespace: Namespace, held: dict[str, Any], reason: str, release: tuple[str, ...]
) -> None:
    namespace.apply(held)
    namespace.wait("pod/held", f"--for=jsonpath={{.status.containerStatuses[0].state.waiting.reason}}={reason}")
    status = namespace.get("pod", "held")["status"]
    assert status["phase"] == "Pending"
    assert "podIP" not in status

    namespace.kubectl(*release)
    namespace.wait("pod/held", "--for=condition=Ready")


def test_a_service_account_is_let_in_and_held_to_its_role(namespace: Namespace) -> None:
    namespace.kubectl("create", "serviceaccount", "reader")
    namespace.kubectl("create", "role", "reader", "--verb=list", "--resource=pods")
    namespace.kubectl("create", "rolebinding", "reader", "--role=reader", f"--serviceaccount={namespace.name}:reader")
    token = namespace.kubectl("create", "token", "reader").strip()

    client = namespace.plane.client()
    client.configuration.cert_file = client.configuration.key_file = None
    from kubernetes import client as api

    configuration = client.configuration
    configuration.api_key = {"authorization": f"Bearer {token}"}
    core = api.CoreV1Api(api.ApiClient(configuration))
    assert core.list_namespaced_pod(namespace.name).items == []
    with pytest.raises(api.ApiException, match="Forbidden"):
        core.list_namespaced_secret(namespace.name)


def test_writes_are_audited_with_their_content_and_secrets_without(namespace: Namespace) -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "root"},
        "stringData": {"password": "not-to-be-seen"},
    }
    namespace.apply(secret, pod("seen"))
    namespace.kubectl("annotate", "pod", "seen", "example=here")
    namespace.get("pods")

    events = audited(
        namespace.plane,
        lambda event: (
            event["user"]["username"] == "lab:admin" and event["objectRef"].get("namespace") == namespace.name
        ),
    )
    assert {event["verb"] for event in events}.isdisjoint({"get", "list", "watch"})
    patch = next(event for event in events if event["verb"] == "patch" and event["objectRef"]["name"] == "seen")
    assert patch["requestObject"]["metadata"]["annotations"]["example"] == "here"
    assert patch["responseStatus"]["code"] == 200
    assert patch["userAgent"].startswith("kubectl/v1.36.")
    made = next(event for event in events if event["objectRef"]["resource"] == "secrets")
    assert "requestObject" not in made
    assert "not-to-be-seen" not in namespace.plane.audit_log.read_text()


def test_admission_policies_of_both_kinds_are_served(control_plane: ControlPlane) -> None:
    served = control_plane.kubectl("api-resources", "--api-group=admissionregistration.k8s.io", "--output=name")
    assert "validatingadmissionpolicies.admissionregistration.k8s.io" in served
    assert "mutatingadmissionpolicies.admissionregistration.k8s.io" in served


def test_a_start_that_was_cut_short_is_begun_again(control_plane: ControlPlane, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lab.controlplane", "up", "--directory", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as starting:
        while not (tmp_path / "state.json").exists():
            assert starting.poll() is None
        starting.kill()
    left = attach(tmp_path)
    assert not left.ready

    again = ControlPlane.start(tmp_path)
    try:
        assert again.ready
        assert left.dead() == [process.name for process in left.processes]
        again.check()
    finally:
        again.stop()
    control_plane.check()


def test_a_second_lab_stands_beside_the_first_and_leaves_nothing(control_plane: ControlPlane, tmp_path: Path) -> None:
    second = ControlPlane.start(tmp_path / "lab", name="second")
    try:
        assert second.cidr != control_plane.cidr
        assert second.server != control_plane.server
        assert ControlPlane.start(tmp_path / "lab", name="second") == second
        assert attach(tmp_path / "lab") == second
        status = [sys.executable, "-m", "lab.controlplane", "status", "--directory", str(second.directory)]
        assert str(second.directory) in subprocess.run(status, capture_output=True, text=True, check=True).stdout

        kwok = next(process for process in second.processes if process.name == "kwok")
        kwok.stop()
        with pytest.raises(LabError, match=r"kwok has ended; the end of .*kwok\.log"):
            second.check()
    finally:
        second.stop()
    assert second.dead() == [process.name for process in second.processes]
    assert not [
        process for process in psutil.process_iter(["cmdline"]) if str(second.directory) in str(process.info["cmdline"])
    ]
    control_plane.check()
