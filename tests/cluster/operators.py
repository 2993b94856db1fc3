"""Operators of a test's own, in the test's namespace, while the one that serves the other tests stands still."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil
from prometheus_client.parser import text_string_to_metric_families

from lab.controlplane.processes import Process
from lab.space import Document, Space
from lab.stack import NAMESPACE, Stack, wait_for

LEASE = "starrocks-operator"


class Operators:
    """Starts operators that see one namespace, with a short Lease; `space` is that namespace."""

    def __init__(self, space: Space, scratch: Path) -> None:
        self.space = space
        self.stack: Stack = space.stack
        self.scratch = scratch
        self.names: list[str] = []

    def start(
        self,
        name: str = "first",
        *arguments: str,
        namespaces: Sequence[str] | None = None,
        kubeconfig: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Process:
        """Start one; flags in `arguments` win over the ones that tests are usually served with."""
        scope = ",".join(namespaces or (self.space.namespace,))
        usual = ("--namespaces", scope, "--lease-seconds", "5", "--rival-seconds", "1", "--settled-interval", "10")
        self.names.append(name)
        return self.stack.operate(
            name=name,
            arguments=(*usual, "--scratch", str(self.scratch), *arguments),
            kubeconfig=kubeconfig,
            environment=environment,
        )

    def family(self, name: str = "first") -> list[psutil.Process]:
        """All processes below an operator."""
        return psutil.Process(self.stack.processes[name].pid).children(recursive=True)

    def kill(self, name: str = "first") -> None:
        """Kill it with everything in its process group, and see that nobody is left."""
        family = self.family(name)
        self.stack.kill(name)
        wait_for(lambda: gone(family), what=f"the children of {name} to end", patience=15)

    def end(self) -> None:
        for name in self.names:
            self.stack.end(name)

    def readiness(self, name: str = "first") -> str:
        """What /readyz says; empty if nobody answers yet."""
        return self._read(name, "readyz")

    def wait_for_readiness(self, said: str, name: str = "first", *, patience: float = 30.0) -> None:
        wait_for(lambda: said in self.readiness(name), what=f"{name} to say {said!r}", patience=patience)

    def metric(self, metric: str, name: str = "first", /, **labels: str) -> float:
        """The sum of all samples of a metric that carry these labels; nought while there are none."""
        families = text_string_to_metric_families(self._read(name, "metrics"))
        samples = [sample for family in families for sample in family.samples]
        return sum(
            sample.value
            for sample in samples
            if sample.name == f"starrocks_operator_{metric}" and labels.items() <= sample.labels.items()
        )

    def lines(self, name: str = "first") -> list[str]:
        """All that /metrics says."""
        return self._read(name, "metrics").splitlines()

    def holder(self) -> str:
        """Who holds the Lease."""
        path = "jsonpath={.spec.holderIdentity}"
        return self.stack.plane.kubectl("get", "lease", LEASE, f"--namespace={NAMESPACE}", "-o", path).strip()

    def files(self) -> list[Path]:
        """Every file of a run: it is in use, or was left behind."""
        return [path for path in self.scratch.glob("*/run-*/**/*") if path.is_file()]

    def log(self, name: str = "first") -> str:
        return self.stack.log(name).read_text(errors="replace")

    def _read(self, name: str, path: str) -> str:
        url = f"http://127.0.0.1:{self.stack.metrics_ports[name]}/{path}"
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return str(answer.read().decode())
        except urllib.error.HTTPError as refusal:
            return refusal.read().decode()
        except OSError:
            return ""


def gone(family: Sequence[psutil.Process]) -> bool:
    return not [process for process in family if process.is_running() and process.status() != psutil.STATUS_ZOMBIE]


def one_cluster(space: Space, name: str) -> str:
    """The id of the one StarRocks that a cluster's pods are; fails if there was ever a second one."""
    databases = space.simulator("GET", "/state")["databases"]
    founded = [database for database in databases if database["cluster"] == f"{space.namespace}/{name}"]
    assert len(founded) == 1, f"{len(founded)} clusters were founded"
    ids: set[str] = {row["ClusterId"] for row in space.show(name, "SHOW FRONTENDS")}
    assert ids == {space.status(name)["bootstrap"]["clusterId"]}
    return ids.pop()


def wait_all_ready(space: Space, *, patience: float = 120.0) -> None:
    """Every cluster of the namespace, with one question for all."""

    def unready() -> list[Document]:
        return [one for one in space.all("StarRocksCluster") if one.get("status", {}).get("phase") != "running"]

    wait_for(lambda: not unready(), what="all clusters to run", patience=patience, pause=0.5)
