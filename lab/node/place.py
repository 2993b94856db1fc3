"""Where a node keeps its files and which addresses are its own. Everything follows from its directory and its number.

The addresses are of the range kept for benchmarks (RFC 2544), which no network of anybody's uses: 198.18.N.0/30 for the
wire between the machine and the node, 198.19.N.0/24 for pods. No route of the machine leads to the pods.
"""

from dataclasses import dataclass
from pathlib import Path

from lab.controlplane.layout import Layout

NODE = "lab-node"
_LONGEST = 70  # of the directory: a socket's path below it may not be longer than 107


@dataclass(frozen=True)
class Place:
    """One node's paths and addresses."""

    directory: Path
    number: int

    @classmethod
    def of(cls, layout: Layout) -> "Place":
        """The node of a control plane, which lives in a directory below the node's."""
        return cls(directory=layout.directory.parent, number=layout.number)

    @property
    def too_long(self) -> bool:
        return len(str(self.directory)) > _LONGEST

    @property
    def plane(self) -> Path:
        return self.directory / "plane"

    @property
    def machine_address(self) -> str:
        """The machine's end of the wire: here the API server listens."""
        return f"198.18.{self.number}.1"

    @property
    def address(self) -> str:
        """The node's end of the wire, which is also the node's address."""
        return f"198.18.{self.number}.2"

    @property
    def pods(self) -> str:
        return f"198.19.{self.number}.0/24"

    @property
    def services(self) -> str:
        return f"10.{self.number}.0.0/16"

    @property
    def dns_service(self) -> str:
        return f"10.{self.number}.0.10"

    @property
    def wire(self) -> str:
        """The name of the machine's end of the wire."""
        return f"lab{self.number}"

    @property
    def cgroup(self) -> str:
        return f"starrocks-lab-node-{self.number}"

    @property
    def keeper_state(self) -> Path:
        return self.directory / "keeper.json"

    @property
    def state(self) -> Path:
        return self.directory / "node.json"

    @property
    def config(self) -> Path:
        return self.directory / "config"

    @property
    def containerd_socket(self) -> Path:
        return self.directory / "containerd.sock"

    @property
    def kubelet(self) -> Path:
        return self.directory / "kubelet"

    @property
    def volumes(self) -> Path:
        return self.directory / "volumes"

    def log(self, component: str) -> Path:
        return self.directory / "logs" / f"{component}.log"

    def kubeconfig(self, component: str) -> Path:
        return self.plane / f"{component}.kubeconfig"
