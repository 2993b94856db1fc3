"""The operator as a process: one at work, none beside the official operator, and nothing left behind at its end."""

from __future__ import annotations

import os
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from lab.controlplane.processes import Process
from lab.space import Space
from lab.stack import NAMESPACE, Stack, wait_for
from tests.cluster.clusters import cluster

RIVAL = "c6c79638.starrocks.com"
SLOW_PLAY = """
- name: A play that does not end by itself
  hosts: all
  gather_facts: false
  tasks:
    - name: Wait in a process of its own
      ansible.builtin.command: sleep 1000
"""


@pytest.fixture
def alone(space: Space) -> Iterator[Space]:
    """A namespace while no other operator is at work."""
    space.stack.end("operator")
    yield space
    for name in ("first", "second"):
        space.stack.end(name)
    space.stack.operate()


def start(space: Space, name: str, *arguments: str) -> Process:
    scope = ("--namespaces", space.namespace, "--lease-seconds", "5", "--rival-seconds", "1")
    return space.stack.operate(name=name, arguments=(*scope, *arguments))


def readiness(stack: Stack, name: str) -> str:
    """What /readyz says; empty if nobody answers yet."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{stack.metrics_ports[name]}/readyz", timeout=5) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as refusal:
        return refusal.read().decode()
    except OSError:
        return ""


def wait_for_readiness(stack: Stack, name: str, said: str) -> None:
    wait_for(lambda: said in readiness(stack, name), what=f"{name} to say {said!r}", patience=30)


def busy(space: Space, scratch: Path) -> tuple[Process, list[psutil.Process]]:
    """An operator in the middle of a run that does not end by itself, and all processes below it."""
    playbook = scratch / "playbooks" / "slow.yml"
    playbook.parent.mkdir()
    playbook.write_text(SLOW_PLAY)
    operator = start(space, "first", "--playbook", str(playbook), "--scratch", str(scratch))
    space.apply(cluster("one"))

    def sleeping() -> list[psutil.Process]:
        family = psutil.Process(operator.pid).children(recursive=True)
        return family if any("sleep" in process.name() for process in family) else []

    return operator, wait_for(sleeping, what="the slow play to begin", patience=30)


def gone(family: list[psutil.Process]) -> bool:
    return not [process for process in family if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]


def test_a_sigterm_ends_everything_in_time_and_gives_the_lease_back(alone: Space, tmp_path: Path) -> None:
    operator, family = busy(alone, tmp_path)
    os.kill(operator.pid, signal.SIGTERM)
    wait_for(lambda: not operator.running(), what="the operator to end", patience=10)
    assert gone(family)
    lease = holder(alone.stack)
    assert lease == ""


@pytest.mark.parametrize("way", ["killed", "lease lost"])
def test_no_child_outlives_it(alone: Space, tmp_path: Path, way: str) -> None:
    operator, family = busy(alone, tmp_path)
    if way == "killed":
        os.kill(operator.pid, signal.SIGKILL)
    else:
        take_lease(alone.stack)
    wait_for(lambda: not operator.running(), what="the operator to end", patience=10)
    wait_for(lambda: gone(family), what="its children to end", patience=10)
    if way == "lease lost":
        assert "lease lost" in alone.stack.log("first").read_text()
        assert holder(alone.stack) == "thief"


def test_of_two_one_is_at_work_and_the_other_takes_over(alone: Space) -> None:
    start(alone, "first")
    wait_for_readiness(alone.stack, "first", "ok")
    start(alone, "second")
    wait_for_readiness(alone.stack, "second", "another process holds the Lease")
    alone.stack.kill("first")
    wait_for_readiness(alone.stack, "second", "ok")
    assert holder(alone.stack).startswith("second_")


def test_it_steps_aside_for_the_official_operator(alone: Space) -> None:
    write_rival(alone.stack)
    start(alone, "first")
    wait_for_readiness(alone.stack, "first", "official")
    alone.apply(cluster("one"))
    assert "status" not in alone.get("StarRocksCluster", "one")
    delete_lease(alone.stack, RIVAL)
    alone.wait_ready("one")
    write_rival(alone.stack)
    wait_for_readiness(alone.stack, "first", "official")
    delete_lease(alone.stack, RIVAL)
    wait_for_readiness(alone.stack, "first", "ok")


def holder(stack: Stack) -> str:
    path = "jsonpath={.spec.holderIdentity}"
    return stack.plane.kubectl("get", "lease", "starrocks-operator", f"--namespace={NAMESPACE}", "-o", path).strip()


def take_lease(stack: Stack) -> None:
    change = '{"spec": {"holderIdentity": "thief"}}'
    stack.plane.kubectl(
        "patch", "lease", "starrocks-operator", f"--namespace={NAMESPACE}", "--type=merge", "-p", change
    )


def write_rival(stack: Stack) -> None:
    """The official operator's Lease, renewed just now and good for a long time."""
    renewed = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    document = f"""
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {{name: {RIVAL}, namespace: {NAMESPACE}}}
spec: {{holderIdentity: official, leaseDurationSeconds: 3600, renewTime: "{renewed}"}}
"""
    stack.plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", input=document)


def delete_lease(stack: Stack, name: str) -> None:
    stack.plane.kubectl("delete", "lease", name, f"--namespace={NAMESPACE}")
