"""A cluster that was there before: named by its kubeconfig, used as it is, never started and never stopped."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.controlplane import LabError, binaries
from lab.controlplane.kubectl import kubectl


@dataclass(frozen=True)
class GivenCluster:
    """What the lab needs of a control plane, for one that is not the lab's own."""

    kubeconfig: Path
    directory: Path
    kubectl_program: Path

    @classmethod
    def named(cls, kubeconfig: Path, directory: Path) -> GivenCluster:
        """The cluster of this kubeconfig; `directory` is for the logs of what is run against it."""
        if not kubeconfig.is_file():
            raise LabError(f"there is no kubeconfig {kubeconfig}: name the file of the cluster to use")
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        return cls(kubeconfig=kubeconfig, directory=directory, kubectl_program=binaries.ensure(print)["kubectl"])

    @property
    def audit_log(self) -> Path:
        """Nobody's: another cluster's log is not ours to read."""
        return self.directory / "audit.log"

    def kubectl(self, *arguments: str, input: str | None = None) -> str:
        return kubectl(self.kubectl_program, self.kubeconfig, arguments, input=input)

    def client(self) -> Any:
        from kubernetes import config  # most callers need no client, and it takes long to import

        return config.new_client_from_config(str(self.kubeconfig))

    def check(self) -> None:
        """Its parts are not ours to watch."""

    def stop(self) -> None:
        """It goes on as before."""
