"""The simulator beside a real API server: pods become frontends and backends, and their volumes decide which."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymysql
import pytest

from lab.controlplane import ControlPlane
from lab.question import ask
from lab.simulator.client import Control
from lab.stack import wait_for

pytestmark = pytest.mark.cluster

MOUNTS = {"fe": ("fe-meta", "/opt/starrocks/fe/meta"), "be": ("be-data", "/opt/starrocks/be/storage")}


class Lab:
    """One namespace with a simulator of its own."""

    def __init__(self, plane: ControlPlane, namespace: str, control: Control) -> None:
        self.plane = plane
        self.namespace = namespace
        self.control = control

    def kubectl(self, *arguments: str, input: str | None = None) -> str:
        return self.plane.kubectl(f"--namespace={self.namespace}", *arguments, input=input)

    def pod(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.kubectl("get", "pod", name, "--output=json"))
        return found

    def ready(self, name: str) -> bool:
        conditions = self.pod(name)["status"]["conditions"]
        return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)

    def ask(self, pod: str, sql: str, **how: Any) -> list[dict[str, Any]]:
        try:
            return list(ask(self.pod(pod)["status"]["podIP"], sql, **how))
        except (pymysql.Error, KeyError, ValueError):
            return []

    def alive(self, pod: str, sql: str) -> int:
        return sum(row["Alive"] == "true" for row in self.ask(pod, sql))

    def apply(self, component: str, replicas: int) -> None:
        body = json.dumps(stateful_set("c", component, replicas))
        self.kubectl("apply", "-f", "-", input=body)


def stateful_set(cluster: str, component: str, replicas: int) -> dict[str, Any]:
    name, (volume, path) = f"{cluster}-{component}", MOUNTS[component]
    labels = {"app.starrocks.ownerreference/name": name, "app.kubernetes.io/component": component}
    container = {
        "name": component,
        "image": f"starrocks/{component}-ubuntu:3.3.9",
        "command": [f"/opt/starrocks/{component}_entrypoint.sh"],
        "args": ["$(FE_SERVICE_NAME)"],
        "env": [{"name": "HOST_TYPE", "value": "FQDN"}, {"name": "FE_SERVICE_NAME", "value": f"{cluster}-fe-service"}],
        "volumeMounts": [{"name": volume, "mountPath": path}],
    }
    claim = {
        "metadata": {"name": volume},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name},
        "spec": {
            "serviceName": f"{name}-search",
            "replicas": replicas,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
            "volumeClaimTemplates": [claim],
        },
    }


@pytest.fixture
def lab(control_plane: ControlPlane, tmp_path: Path) -> Iterator[Lab]:
    namespace, socket = f"simulator-{uuid.uuid4().hex[:8]}", str(tmp_path / "control")
    control_plane.kubectl("create", "namespace", namespace)
    command = [sys.executable, "-m", "lab.simulator", "--kubeconfig", str(control_plane.kubeconfig)]
    command += ["--namespace", namespace, "--speed", "50", "--control", socket]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert socket in process.stdout.readline()
        yield Lab(control_plane, namespace, Control(socket))
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0
    control_plane.kubectl("delete", "namespace", namespace, "--wait=false")


def test_pods_become_a_cluster_and_volumes_decide(lab: Lab) -> None:
    lab.apply("fe", 3)
    lab.apply("be", 1)
    wait_for(lambda: lab.alive("c-fe-1", "SHOW FRONTENDS") == 3, what="three frontends to join")
    wait_for(lambda: lab.alive("c-fe-2", "SHOW BACKENDS") == 1, what="the backend to register")
    wait_for(lambda: all(lab.ready(f"c-fe-{number}") for number in range(3)), what="the pods to be Ready")

    lab.control.lay("c-fe-1", "kill")
    wait_for(lambda: not lab.ready("c-fe-1"), what="a killed frontend's pod to be not Ready")
    assert lab.ask("c-fe-1", "SELECT 1") == []
    lab.control.lay("c-fe-1", "resume")
    wait_for(lambda: lab.ready("c-fe-1"), what="it to be Ready again")
    status = lab.pod("c-fe-1")["status"]["containerStatuses"][0]
    wait_for(lambda: lab.alive("c-fe-0", "SHOW FRONTENDS") == 3, what="all to live")
    assert status["restartCount"] >= 1

    names = {row["Name"] for row in lab.ask("c-fe-0", "SHOW FRONTENDS")}
    lab.kubectl("delete", "pod", "c-fe-2")
    wait_for(lambda: lab.ask("c-fe-2", "SELECT 1"), what="the new pod to serve from its claim")
    assert {row["Name"] for row in lab.ask("c-fe-0", "SHOW FRONTENDS")} == names

    lab.kubectl("delete", "pvc", "fe-meta-c-fe-2", "--wait=false")
    lab.kubectl("delete", "pod", "c-fe-2")
    activity = "must be dropped and added again"
    pods = lambda: {pod["name"]: pod["activity"] for pod in lab.control.state()["pods"]}  # noqa: E731
    wait_for(lambda: activity in pods().get("c-fe-2", ""), what="the empty frontend to be told apart")
    assert lab.control.violations() == []


def test_a_broken_image_is_a_crash_loop_until_the_pod_is_made_anew(lab: Lab) -> None:
    lab.apply("fe", 1)
    lab.apply("be", 1)
    wait_for(lambda: lab.alive("c-fe-0", "SHOW BACKENDS") == 1, what="the backend to register")
    image = {"spec": {"containers": [{"name": "be", "image": "starrocks/be-ubuntu:3.3.10-broken"}]}}
    template = {"spec": {"template": image}}
    lab.kubectl("patch", "statefulset", "c-be", "--patch", json.dumps(template))

    def reason() -> str:
        statuses = lab.pod("c-be-0")["status"].get("containerStatuses") or [{}]
        return str(((statuses[0].get("state") or {}).get("waiting") or {}).get("reason"))

    wait_for(lambda: reason() == "CrashLoopBackOff", what="the crash loop to be seen")
    assert not lab.ready("c-be-0")
    image["spec"]["containers"][0]["image"] = "starrocks/be-ubuntu:3.3.10"
    lab.kubectl("patch", "statefulset", "c-be", "--patch", json.dumps(template))
    # Its controller may not go on over a broken pod.
    lab.kubectl("delete", "pod", "c-be-0", "--ignore-not-found", "--wait=false")
    wait_for(lambda: [row["Version"][:6] for row in lab.ask("c-fe-0", "SHOW BACKENDS")] == ["3.3.10"], what="a new one")
    wait_for(lambda: lab.ready("c-be-0"), what="it to be Ready")
    assert reason() == "None"
