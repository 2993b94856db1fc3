"""The lab's node is a node: pods run, find each other, keep their data, end as they should; and nothing of it stays."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lab.controlplane.errors import LabError
from lab.node import Node, cgroups, namespaces
from lab.node.place import Place
from lab.node.remains import Record
from tests.e2e import stage

NAMESPACE = "smoke"
PATIENCE = 120.0


until = partial(stage.until, patience=PATIENCE)


def web(image: str) -> list[dict[str, Any]]:
    """Two pods that serve what their volume holds, a Service of each kind, and a budget that lets none of them go."""
    labels = {"app": "web"}
    port = [{"port": 80, "targetPort": 8000}]
    serve = "cd /data && hostname >name && exec python3 -m http.server 8000"
    container = {
        "name": "web",
        "image": image,
        "command": ["bash", "-c", serve],
        "readinessProbe": {"httpGet": {"port": 8000, "path": "/name"}, "periodSeconds": 1},
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    }
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "web"},
            "spec": {"clusterIP": "None", "selector": labels, "publishNotReadyAddresses": True, "ports": port},
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "any"},
            "spec": {"selector": labels, "ports": port},
        },
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "web"},
            "spec": {"maxUnavailable": 0, "selector": {"matchLabels": labels}},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "metadata": {"name": "web"},
            "spec": {
                "serviceName": "web",
                "replicas": 2,
                "podManagementPolicy": "Parallel",
                "selector": {"matchLabels": labels},
                "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"},
                "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}],
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"containers": [container], "terminationGracePeriodSeconds": 1},
                },
            },
        },
    ]


def kubectl(node: Node, *arguments: str, input: str | None = None) -> str:
    return node.kubectl("--namespace", NAMESPACE, *arguments, input=input)


def apply(node: Node, *objects: dict[str, Any]) -> None:
    document = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    kubectl(node, "apply", "--server-side", "-f", "-", input=document)


@pytest.fixture(scope="module")
def served(node: Node, base: str) -> Iterator[Node]:
    node.kubectl("create", "namespace", NAMESPACE)
    apply(node, *web(base))
    kubectl(node, "rollout", "status", "statefulset/web", f"--timeout={PATIENCE:.0f}s")
    yield node
    node.kubectl("delete", "namespace", NAMESPACE)


def fetched(node: Node, url: str) -> str:
    return kubectl(node, "exec", "web-0", "--", "curl", "--silent", "--fail", "--max-time", "5", url).strip()


def test_pods_find_each_other_by_name_and_by_service(served: Node) -> None:
    until(lambda: fetched(served, "http://web-1.web.smoke.svc.cluster.local:8000/name") == "web-1", "per-pod name")
    until(lambda: fetched(served, "http://any/name") in {"web-0", "web-1"}, "a Service's address")
    host = kubectl(served, "exec", "web-0", "--", "hostname", "--fqdn").strip()
    assert host == "web-0.web.smoke.svc.cluster.local"


def test_pods_reach_the_api_server_and_nothing_beyond_the_node(served: Node) -> None:
    answer = kubectl(
        served, "exec", "web-0", "--", "curl", "-sk", "--max-time", "5", "https://kubernetes.default/readyz"
    )
    assert "ok" in answer or "Forbidden" in answer
    routes = ["nsenter", f"--target={namespaces.first(served.place)}", "--net", "ip", "route", "show", "default"]
    assert subprocess.run(routes, capture_output=True, text=True, check=True).stdout == ""


def test_logs_are_read(served: Node) -> None:
    assert "GET /name" in kubectl(served, "logs", "web-0")


def test_the_pre_stop_hook_runs_before_the_end(served: Node, base: str) -> None:
    goodbye = "curl --silent http://any/goodbye-from-a-hook"
    container = {
        "name": "guest",
        "image": base,
        "command": ["sleep", "infinity"],
        "lifecycle": {"preStop": {"exec": {"command": ["bash", "-c", goodbye]}}},
    }
    spec = {"containers": [container], "terminationGracePeriodSeconds": 3}
    apply(served, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "guest"}, "spec": spec})
    kubectl(served, "wait", "pod/guest", "--for=condition=Ready", "--timeout=60s")
    kubectl(served, "delete", "pod", "guest")
    logs = [kubectl(served, "logs", pod) for pod in ("web-0", "web-1")]
    assert any("goodbye-from-a-hook" in log for log in logs)


def test_a_volume_outlives_its_pod_and_grows(served: Node) -> None:
    kubectl(served, "exec", "web-1", "--", "bash", "-c", "echo kept >/data/memory")
    kubectl(served, "delete", "pod", "web-1", "--wait")
    until(lambda: fetched(served, "http://web-1.web:8000/memory") == "kept", "the volume came back with its pod")
    larger = json.dumps({"spec": {"resources": {"requests": {"storage": "2Gi"}}}})
    kubectl(served, "patch", "pvc", "data-web-1", "--patch", larger)
    capacity = ("get", "pvc", "data-web-1", "-o", "jsonpath={.status.capacity.storage}")
    until(lambda: kubectl(served, *capacity) == "2Gi", "the claim grew")


def test_an_eviction_against_the_budget_is_refused(served: Node) -> None:
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web-0", "namespace": NAMESPACE}}
    path = f"/api/v1/namespaces/{NAMESPACE}/pods/web-0/eviction"
    with pytest.raises(LabError, match="disruption budget"):
        served.kubectl("create", "--raw", path, "-f", "-", input=json.dumps(eviction))


def test_a_volume_goes_with_its_claim(served: Node, base: str) -> None:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    mount = {"name": "data", "persistentVolumeClaim": {"claimName": "brief"}}
    container = {"name": "brief", "image": base, "command": ["sleep", "infinity"]}
    spec = {"containers": [container], "volumes": [mount], "terminationGracePeriodSeconds": 0}
    apply(
        served,
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "brief"}, "spec": claim},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "brief"}, "spec": spec},
    )
    kubectl(served, "wait", "pod/brief", "--for=condition=Ready", "--timeout=60s")
    volume = kubectl(served, "get", "pvc", "brief", "-o", "jsonpath={.spec.volumeName}")
    directory = served.place.volumes / volume
    assert directory.is_dir()
    kubectl(served, "delete", "pod/brief", "pvc/brief")
    until(lambda: not directory.exists(), "the volume's directory is removed")
    until(lambda: volume not in served.kubectl("get", "pv", "-o", "name"), "the volume is removed")


def test_nothing_stays_when_the_owner_is_killed() -> None:
    directory = Path(tempfile.mkdtemp(prefix="node-"))
    program = (
        f"from lab.node import Node; Node.start(pathlib.Path({str(directory)!r})); print('up', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", f"import pathlib; {program}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"up\n"
        record = Record.read(directory)
        node = Node.attach(directory)
        owner.send_signal(signal.SIGKILL)
    assert record is not None
    place = Place(directory=directory, number=record.number)
    processes = (*record.processes, *node.control_plane.processes)
    until(lambda: not any(process.running() for process in processes), "all processes have ended")
    until(lambda: not place.state.exists(), "the keeper has cleared up")
    assert not cgroups.members(place.cgroup)
    assert not list(Path("/sys/fs/cgroup").glob(f"**/{place.cgroup}"))
    assert not Path(f"/sys/class/net/{place.wire}").exists()
    assert str(directory) not in Path("/proc/self/mounts").read_text()
    assert sorted(path.name for path in directory.iterdir()) == [".lock", "logs"]
