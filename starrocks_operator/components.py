"""The components of a cluster as one table: what frontends, observers, backends and compute nodes differ in is here.

Every value is what the images and existing clusters go by; changing one restarts pods of adopted clusters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

DEFAULT_ROOT = "/opt/starrocks"
HEALTH_PATH = "/api/health"
PROBE_PERIOD_SECONDS = 5
GRACE_PERIOD_SECONDS = 120
RUN_AS = 1000  # uid and gid of the user `starrocks` in the images


@dataclass(frozen=True, kw_only=True)
class Port:
    """A port a process listens on. keys: where its configuration file says so, the first found counts.

    default 0: not open unless configured.
    """

    keys: tuple[str, ...]
    default: int
    app_protocol: str = ""  # of the Services' port


@dataclass(frozen=True, kw_only=True)
class Exposed:
    """A port as a container or a Service shows it. port: its name in Component.ports."""

    name: str
    port: str


@dataclass(frozen=True, kw_only=True)
class DefaultVolume:
    """An emptyDir that a component gets unless the user brought a volume for the same purpose.

    suffixes: a user's volume whose name ends so serves the purpose; so does one mounted at (or around) the path.
    path: below the component's home.
    precious: what lies there is the cluster's only copy, or one of few: metadata, tablets.
    """

    name: str
    suffixes: tuple[str, ...]
    path: str
    precious: bool = False


@dataclass(frozen=True, kw_only=True)
class Component:
    """What one component is made of.

    process: the program that its main container runs, by its name in the image; observers run the frontends'.
    graceful_from: per minor version, the first release whose stop script knows `-g`; others know it always.
    member_port: the port by which FE knows a member of this kind.
    client_port: the external Service's port that clients use first.
    template_named: whether the pod template carries the workload's name.
    claim_retention: the fields of persistentVolumeClaimRetentionPolicy that are passed on.
    frontend_service: the value of FE_SERVICE_NAME; empty: there is no such Service.
    start: the program below the component's home that is started, without arguments; empty: the image's entrypoint,
        which is told the frontends' Service.
    host_type: how FE knows the member: by name (FQDN) or by the pod's address (IP).
    any_order: its pods are replaced in an order of ours, not from the highest ordinal down.
    always_safe: started by our script whatever the profile is: the official operator makes no such pods.
    """

    name: str
    process: str
    title: str
    spec_field: str
    env_field: str
    ports: dict[str, Port]
    container_ports: tuple[Exposed, ...]
    external_ports: tuple[Exposed, ...]
    headless_ports: tuple[Exposed, ...]
    health_port: str
    member_port: str
    client_port: str
    default_volumes: tuple[DefaultVolume, ...]
    graceful_from: tuple[tuple[int, int, int], ...] = ()
    template_named: bool
    claim_retention: tuple[str, ...]
    frontend_service: str = "{cluster}-fe-service"
    knows_query_port: bool = True
    health_path: str = HEALTH_PATH
    disruption_budget: bool
    always_safe: bool = False
    start: str = ""
    host_type: str = "FQDN"
    any_order: bool = False

    @property
    def configuration_file(self) -> str:
        return f"{self.process}.conf"

    @property
    def configuration_mount(self) -> str:
        """Where the ConfigMap of configMapInfo is mounted; the image's entrypoint links its files from there."""
        return f"/etc/starrocks/{self.process}/conf"

    def home(self, root: str) -> str:
        return f"{root}/{self.process}"

    def entrypoint(self, root: str) -> str:
        return f"{self.home(root)}/{self.start}" if self.start else f"{root}/{self.process}_entrypoint.sh"

    def stop_script(self, root: str) -> str:
        return f"{self.home(root)}/bin/stop_{self.process}.sh"


def _exposed(*pairs: tuple[str, str]) -> tuple[Exposed, ...]:
    return tuple(Exposed(name=name, port=port) for name, port in pairs)


_COMPUTE_PORTS = {
    "webserver": Port(keys=("webserver_port", "be_http_port"), default=8040),
    "heartbeat": Port(keys=("heartbeat_service_port",), default=9050),
    "brpc": Port(keys=("brpc_port",), default=8060),
    "arrow-flight": Port(keys=("arrow_flight_port",), default=0),
}
_COMPUTE_CONTAINER = (("webserver-port", "webserver"), ("heartbeat-port", "heartbeat"), ("brpc-port", "brpc"))
_COMPUTE_EXTERNAL = (("webserver", "webserver"), ("heartbeat", "heartbeat"), ("brpc", "brpc"))
_COMPUTE_HEADLESS = (("heartbeat", "heartbeat"), ("arrow-flight", "arrow-flight"))

FE = Component(
    name="fe",
    process="fe",
    title="frontend",
    spec_field="starRocksFeSpec",
    env_field="feEnvVars",
    ports={
        "http": Port(keys=("http_port",), default=8030),
        "rpc": Port(keys=("rpc_port",), default=9020),
        "query": Port(keys=("query_port",), default=9030, app_protocol="mysql"),
        "edit-log": Port(keys=("edit_log_port",), default=9010),
        "arrow-flight": Port(keys=("arrow_flight_port",), default=0),
    },
    container_ports=_exposed(("http-port", "http"), ("rpc-port", "rpc"), ("query-port", "query")),
    external_ports=_exposed(
        ("http", "http"),
        ("rpc", "rpc"),
        ("query", "query"),
        ("edit-log", "edit-log"),
        ("arrow-flight", "arrow-flight"),
    ),
    headless_ports=_exposed(("query-port", "query")),
    health_port="http",
    member_port="edit-log",
    client_port="query",
    default_volumes=(
        DefaultVolume(name="fe-meta", suffixes=("meta",), path="meta", precious=True),
        DefaultVolume(name="fe-log", suffixes=("log",), path="log"),
    ),
    template_named=True,
    claim_retention=("whenDeleted",),
    frontend_service="{cluster}-fe-service.{namespace}",
    knows_query_port=False,
    disruption_budget=True,
    any_order=True,
)

FE_OBSERVER = replace(
    FE, name="fe-observer", title="observer", spec_field="starRocksFeObserverSpec", always_safe=True, any_order=False
)
"""Frontends without a vote: they replay the journal, answer queries, and never lead."""

BE = Component(
    name="be",
    process="be",
    title="backend",
    spec_field="starRocksBeSpec",
    env_field="beEnvVars",
    ports={"be": Port(keys=("be_port",), default=9060), **_COMPUTE_PORTS},
    container_ports=_exposed(("be-port", "be"), *_COMPUTE_CONTAINER),
    external_ports=_exposed(("be", "be"), *_COMPUTE_EXTERNAL),
    headless_ports=_exposed(*_COMPUTE_HEADLESS),
    health_port="webserver",
    member_port="heartbeat",
    client_port="webserver",
    default_volumes=(
        DefaultVolume(name="be-data", suffixes=("data", "storage"), path="storage", precious=True),
        DefaultVolume(name="be-log", suffixes=("log",), path="log"),
    ),
    graceful_from=((3, 3, 19), (3, 4, 8), (3, 5, 6)),
    template_named=True,
    claim_retention=("whenDeleted",),
    disruption_budget=True,
)

CN = Component(
    name="cn",
    process="cn",
    title="compute node",
    spec_field="starRocksCnSpec",
    env_field="cnEnvVars",
    ports={"thrift": Port(keys=("thrift_port", "be_port"), default=9060), **_COMPUTE_PORTS},
    container_ports=_exposed(("thrift-port", "thrift"), *_COMPUTE_CONTAINER),
    external_ports=_exposed(("thrift", "thrift"), *_COMPUTE_EXTERNAL),
    headless_ports=_exposed(*_COMPUTE_HEADLESS),
    health_port="webserver",
    member_port="heartbeat",
    client_port="webserver",
    default_volumes=(DefaultVolume(name="cn-log", suffixes=("log",), path="log"),),
    graceful_from=((3, 3, 17), (3, 4, 6), (3, 5, 2)),
    template_named=False,
    claim_retention=("whenDeleted", "whenScaled"),
    disruption_budget=False,
)

CN_GROUP = replace(
    CN,
    title="compute node of a group",
    spec_field="",
    knows_query_port=False,
    frontend_service="",
    start="bin/start_cn.sh",
    host_type="IP",
)
"""Compute nodes of a ComputeNodeGroup. The image's entrypoint would register them by name at frontends that cannot
resolve it, and at a Service that there is not; so the process itself is started, and the operator registers it."""

FE_PROXY = Component(
    name="fe-proxy",
    process="",
    title="frontend proxy",
    spec_field="starRocksFeProxySpec",
    env_field="",
    ports={"http": Port(keys=(), default=8080)},
    container_ports=_exposed(("http-port", "http")),
    external_ports=_exposed(("http-port", "http")),
    headless_ports=(),
    health_port="http",
    health_path="/nginx/health",
    member_port="",
    client_port="http-port",
    default_volumes=(),
    template_named=False,
    claim_retention=(),
    disruption_budget=False,
)
"""Not a member of the cluster: stateless, and no StatefulSet."""

COMPONENTS: dict[str, Component] = {component.name: component for component in (FE, FE_OBSERVER, BE, CN)}
"""The components that are members, frontends first."""

FIELD_ENVIRONMENT = (
    ("POD_NAME", "metadata.name"),
    ("POD_IP", "status.podIP"),
    ("HOST_IP", "status.hostIP"),
    ("POD_NAMESPACE", "metadata.namespace"),
)
"""Environment that every main container takes from its pod, in this order."""
