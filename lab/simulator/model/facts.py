"""What the simulator needs to know of a pod: everything that decides what its process does, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

ClusterKey = tuple[str, str]  # namespace and name of the StarRocksCluster


class Component(StrEnum):
    FE = "fe"
    BE = "be"
    CN = "cn"


class Entrypoint(StrEnum):
    """Which program starts the process."""

    IMAGE = "image"  # <comp>_entrypoint.sh of the official images
    SAFE = "safe"  # our fe_start.sh, mounted from a ConfigMap
    BARE = "bare"  # our node_start.sh, or bin/start_cn.sh itself: it registers nowhere
    PROCESS = "process"  # nothing but the process: a real pod, in which real scripts have done all the rest


DEFAULT_PORTS: Mapping[Component, Mapping[str, int]] = {
    Component.FE: {"http_port": 8030, "rpc_port": 9020, "query_port": 9030, "edit_log_port": 9010},
    Component.BE: {"be_port": 9060, "be_http_port": 8040, "heartbeat_service_port": 9050, "brpc_port": 8060},
    Component.CN: {"be_port": 9060, "be_http_port": 8040, "heartbeat_service_port": 9050, "brpc_port": 8060},
}
_ALIASES = {"webserver_port": "be_http_port", "thrift_port": "be_port"}


@dataclass(frozen=True, kw_only=True)
class PodFacts:
    """A running pod. `volume` names the storage that holds meta or tablets; it tells how long they live."""

    namespace: str
    name: str
    uid: str
    address: str
    component: Component
    cluster_name: str
    host: str
    version: str = "3.3.9"
    entrypoint: Entrypoint = Entrypoint.IMAGE
    volume: str = ""
    volume_dies_with: str = "claim"  # claim | pod | container
    password: str = ""
    certificate: str = field(default="", repr=False)  # PEM of certificate and key; empty: no TLS is offered
    host_type: str = "FQDN"
    observer: bool = False
    debug_list: str = ""  # the ConfigMap that names the pods to be debugged; empty: this pod does not look there
    warehouse: str = ""  # in which a compute node works; empty: the default one
    conf: Mapping[str, str] = field(default_factory=dict)
    helper: str = ""  # whom a frontend's process was told to ask; only where real scripts start it
    listen: str = ""  # where its sockets are, if not at the pod's own address

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def cluster(self) -> ClusterKey:
        return (self.namespace, self.cluster_name)

    @property
    def socket_address(self) -> str:
        return self.listen or self.address

    @property
    def names(self) -> frozenset[str]:
        """By which its container is found."""
        return frozenset((self.host, self.address, self.socket_address))

    @property
    def ordinal(self) -> int:
        return int(self.name.rsplit("-", 1)[1])

    @property
    def group(self) -> str:
        """The StatefulSet: observers have one of their own."""
        return self.name.rsplit("-", 1)[0]

    @property
    def member_host(self) -> str:
        """How the process calls itself in FE's tables."""
        return self.host if self.host_type.upper() == "FQDN" else self.address

    def port(self, name: str) -> int:
        for spelling in (name, *(alias for alias, target in _ALIASES.items() if target == name)):
            value = self.conf.get(spelling, "")
            if value.isdigit():
                return int(value)
        return DEFAULT_PORTS[self.component][name]

    @property
    def web_port(self) -> int:
        return self.port("http_port" if self.component is Component.FE else "be_http_port")

    @property
    def member_port(self) -> int:
        """The port by which FE names this node: edit log for frontends, heartbeat for the others."""
        return self.port("edit_log_port" if self.component is Component.FE else "heartbeat_service_port")

    @property
    def broken(self) -> bool:
        """A process that cannot start, by its image (a tag with `-broken`) or by its file (`crash_on_start = true`)."""
        return "-broken" in self.version or self.conf.get("crash_on_start", "").lower() == "true"

    @property
    def shared_data(self) -> bool:
        return "shared_data" in self.conf.get("run_mode", "")
