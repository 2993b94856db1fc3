"""The whole stage: a control plane, the simulator that plays its pods, and the operator, each a process of its own.

The demo, the tests on the lab, the Molecule scenarios and the benchmark all stand on this.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from lab.controlplane import ControlPlane, LabError
from lab.controlplane.pki import write_private
from lab.controlplane.processes import Process, last_lines, spawn
from lab.given import GivenCluster
from lab.witness import Witness

T = TypeVar("T")
ROOT = Path(__file__).resolve().parent.parent
NAMESPACE = "starrocks"
_STATE = "stack.json"
SERVICE_ACCOUNT = "starrocks-operator"
CRDS = (
    "crds/starrocks.com_starrocksclusters.yaml",
    "crds/starrocks.com_starrockswarehouses.yaml",
    "crds/starrocks.com_computenodegroups.yaml",
)
MANIFESTS = ("deploy/policies.yaml", "deploy/rbac.yaml")

# Operators of a test hold Leases of other names, one for each of many; a user has the one that deploy/rbac.yaml names.
_LEASES = {"name": "lab-leases", "namespace": NAMESPACE}
_RBAC = "rbac.authorization.k8s.io"
OTHER_LEASES: tuple[dict[str, Any], ...] = (
    {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "Role",
        "metadata": _LEASES,
        "rules": [{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "update"]}],
    },
    {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": _LEASES,
        "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": "lab-leases"},
        "subjects": [{"kind": "ServiceAccount", "name": SERVICE_ACCOUNT, "namespace": NAMESPACE}],
    },
)


def free_port() -> int:
    """A port of the loopback that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Stack:
    """A lab directory's control plane, and the simulator and operators that run on it."""

    plane: ControlPlane | GivenCluster
    control_port: int
    processes: dict[str, Process] = field(default_factory=dict)
    metrics_ports: dict[str, int] = field(default_factory=dict)
    foretold: set[tuple[str, str]] = field(default_factory=set)  # see Witness

    @classmethod
    def start(cls, directory: Path, *, name: str = "default", report: Callable[[str], None] = print) -> Stack:
        """The plane of `directory`, with the CRDs, the policies and the namespace; started if it does not run."""
        runs = (directory / "state.json").exists() and not ControlPlane.attach(directory).dead()
        plane = ControlPlane.start(directory, name=name, report=report)
        if runs and (directory / _STATE).exists():
            return cls.attach(directory)
        stack = cls(plane=plane, control_port=free_port())
        stack.install()
        stack._save()
        return stack

    @classmethod
    def on(cls, kubeconfig: Path, directory: Path) -> Stack:
        """A cluster of the user's: with the CRD, the policies and the rights, and the user's own credentials."""
        stack = cls(plane=GivenCluster.named(kubeconfig, directory), control_port=0)
        install_crd(stack.plane)
        for manifest in MANIFESTS:
            stack.plane.kubectl("apply", "--server-side", "-f", str(ROOT / manifest))
        return stack

    @classmethod
    def attach(cls, directory: Path) -> Stack:
        """The stack of `directory`, from another process."""
        plane = ControlPlane.attach(directory)
        state = json.loads((directory / _STATE).read_text())
        return cls(
            plane=plane,
            control_port=state["control_port"],
            processes={name: Process(**process) for name, process in state["processes"].items()},
            metrics_ports=state["metrics_ports"],
        )

    def install(self) -> None:
        """What a user installs before the operator: CRDs, policies, rights."""
        install_crd(self.plane)
        for manifest in MANIFESTS:
            self.plane.kubectl("apply", "--server-side", "-f", str(ROOT / manifest))
        for document in OTHER_LEASES:
            self.plane.kubectl("apply", "--server-side", "-f", "-", input=json.dumps(document))
        self.log_in(SERVICE_ACCOUNT, self.operator_kubeconfig)

    def log_in(self, account: str, kubeconfig: Path) -> Path:
        """A kubeconfig of a ServiceAccount, made if need be, so that an operator has the rights that users give it."""
        namespace = f"--namespace={NAMESPACE}"
        resource = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account}}
        self.plane.kubectl("apply", "--server-side", namespace, "-f", "-", input=json.dumps(resource))
        token = self.plane.kubectl("create", "token", account, namespace, "--duration=24h")
        document: dict[str, Any] = json.loads(self.plane.kubeconfig.read_text())
        user = {"name": document["users"][0]["name"], "user": {"token": token.strip()}}
        write_private(kubeconfig, json.dumps({**document, "users": [user]}).encode())
        return kubeconfig

    def simulate(self, *, speed: float, arguments: Sequence[str] = ()) -> None:
        """Play what runs in the pods, `speed` times as fast as life."""
        if self._runs("simulator"):
            return
        command: list[str | Path] = [
            sys.executable,
            "-m",
            "lab.simulator",
            "serve",
            "--kubeconfig",
            self.plane.kubeconfig,
            "--speed",
            str(speed),
        ]
        command += ["--control", f"127.0.0.1:{self.control_port}", "--statement-log", self.statement_log]
        command += ["--truth-log", self.truth_log, *arguments]
        self._launch("simulator", command)

    def operate(
        self,
        *,
        name: str = "operator",
        kubeconfig: Path | None = None,
        arguments: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> Process:
        """Run an operator (a second one under another name) and return its process."""
        if self._runs(name):
            return self.processes[name]
        port = self.metrics_ports.setdefault(name, free_port())
        command: list[str | Path] = [sys.executable, "-m", "watcher", "--lease-namespace", NAMESPACE]
        command += ["--http-address", f"127.0.0.1:{port}", *arguments]
        env = {"KUBECONFIG": str(kubeconfig or self.operator_kubeconfig), "POD_NAME": name, **(environment or {})}
        return self._launch(name, command, environment=env)

    def wait_until_ready(self, name: str = "operator", *, patience: float = 60.0) -> None:
        """Until the operator holds its Lease and has seen everything."""

        def ready() -> bool:
            self.check()
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_ports[name]}/readyz", timeout=5) as answer:
                    return bool(answer.status == 200)
            except OSError:
                return False

        wait_for(ready, what=f"{name} to be ready", patience=patience)

    def end(self, name: str, *, patience: float = 15.0) -> None:
        """End one process, as Kubernetes would: asked first."""
        if process := self.processes.pop(name, None):
            process.stop(patience=patience)
            self._save()

    def kill(self, name: str) -> None:
        """Kill one process without a word, with everything in its process group: a node that goes dark."""
        process = self.processes.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        self._save()
        wait_for(lambda: not process.running(), what=f"{name} to be gone")

    def stop(self) -> None:
        """End everything, the operators first."""
        for name in [*sorted(self.processes.keys() - {"simulator"}), "simulator"]:
            if process := self.processes.get(name):
                process.stop(patience=15.0)
        (self.directory / _STATE).unlink(missing_ok=True)
        self.plane.stop()

    @property
    def directory(self) -> Path:
        return self.plane.directory

    @property
    def operator_kubeconfig(self) -> Path:
        return self.directory / "operator.kubeconfig"

    @property
    def witness(self) -> Witness:
        """Who saw what the operators did."""
        others = tuple(self.log(name) for name in self.metrics_ports)
        return Witness(
            audit_log=self.plane.audit_log,
            statement_log=self.statement_log,
            truth_log=self.truth_log,
            other_logs=others,
            foretold=self.foretold,
        )

    @property
    def statement_log(self) -> Path:
        """Every statement that a frontend was given, one JSON document a line."""
        return self.directory / "statements.jsonl"

    @property
    def truth_log(self) -> Path:
        """Every database that the simulator plays, whenever it changes, one JSON document a line."""
        return self.directory / "truth.jsonl"

    def log(self, name: str) -> Path:
        return self.directory / "logs" / f"{name}.log"

    def check(self) -> None:
        """Say which process has ended, with its last words, if one has."""
        self.plane.check()
        for name, process in self.processes.items():
            if not process.running():
                raise LabError(f"{name} has ended; the end of {self.log(name)}:\n{last_lines(self.log(name))}")

    def _runs(self, name: str) -> bool:
        return name in self.processes and self.processes[name].running()

    def _launch(
        self, name: str, command: Sequence[str | Path], *, environment: Mapping[str, str] | None = None
    ) -> Process:
        process = spawn(
            name, [str(part) for part in command], log=self.log(name), cwd=ROOT, environment=environment or {}
        )
        self.processes[name] = process
        self._save()
        return process

    def _save(self) -> None:
        state: dict[str, Any] = {
            "control_port": self.control_port,
            "processes": {name: asdict(process) for name, process in self.processes.items()},
            "metrics_ports": self.metrics_ports,
        }
        (self.directory / _STATE).write_text(json.dumps(state, indent=2))


def install_crd(plane: ControlPlane | GivenCluster) -> None:
    """Make our resources known, and wait until the API server serves them."""
    for crd in CRDS:
        plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(ROOT / crd))
        wait_for(partial(_established, plane, crd), what=f"{crd} to be established")


def _established(plane: ControlPlane | GivenCluster, crd: str) -> bool:
    document = json.loads(plane.kubectl("get", "-f", str(ROOT / crd), "--output=json"))
    conditions = document.get("status", {}).get("conditions") or ()  # for a moment there are none at all
    return any(condition["type"] == "Established" and condition["status"] == "True" for condition in conditions)


def wait_for(condition: Callable[[], T], *, what: str, patience: float = 60.0, pause: float = 0.1) -> T:
    """Ask until the answer is true, and return it; a sentence when patience is at its end."""
    deadline = time.monotonic() + patience
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise LabError(f"waited {patience:.0f} s for {what}")
        time.sleep(pause)
