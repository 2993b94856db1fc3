"""Where a lab keeps its files and which addresses are its own.

Everything follows from the lab's directory and its number N: pods live in 127.N.0.0/16 and the servers' ports come from
a block of ten per lab, so that several labs run side by side and two of them never want the same thing.
"""

from dataclasses import dataclass
from pathlib import Path

LOWEST_NUMBER = 2
HIGHEST_NUMBER = 250
_FIRST_PORT = 20_000  # below the kernel's ephemeral range, so that no outgoing connection sits on a port of ours
_PORTS_PER_LAB = 10

CONFIG = Path(__file__).parent / "config"


@dataclass(frozen=True)
class Layout:
    """One lab's paths and addresses."""

    directory: Path
    name: str
    number: int
    address: str = "127.0.0.1"  # where the API server listens; a real node needs one that it can reach

    @property
    def cidr(self) -> str:
        return f"127.{self.number}.0.0/16"

    @property
    def node_address(self) -> str:
        return f"127.{self.number}.255.254"

    @property
    def api_port(self) -> int:
        return self._port(0)

    @property
    def etcd_port(self) -> int:
        return self._port(1)

    @property
    def etcd_peer_port(self) -> int:
        return self._port(2)

    @property
    def ports(self) -> tuple[int, ...]:
        return (self.api_port, self.etcd_port, self.etcd_peer_port)

    @property
    def server(self) -> str:
        return f"https://{self.address}:{self.api_port}"

    @property
    def services(self) -> str:
        """Where Services have their addresses; the first one is the API server's."""
        return f"10.{self.number}.0.0/16"

    @property
    def api_service(self) -> str:
        return f"10.{self.number}.0.1"

    @property
    def kubeconfig(self) -> Path:
        return self.directory / "kubeconfig"

    @property
    def audit_log(self) -> Path:
        return self.directory / "audit.log"

    @property
    def certificates(self) -> Path:
        return self.directory / "pki"

    @property
    def etcd_data(self) -> Path:
        return self.directory / "etcd"

    def log(self, component: str) -> Path:
        return self.directory / "logs" / f"{component}.log"

    def component_kubeconfig(self, component: str) -> Path:
        return self.directory / f"{component}.kubeconfig"

    def _port(self, offset: int) -> int:
        return _FIRST_PORT + _PORTS_PER_LAB * self.number + offset
