"""The external Service of a component. The headless one is the operator's own business."""

from pydantic import Field

from starrocks_operator.model.base import MAX_ITEMS, MAX_LENGTH, Model
from starrocks_operator.model.kubernetes import Int32, StringMap


class ServicePort(Model):
    """A port of the external Service that differs from the default: found by containerPort, else by name."""

    name: str = Field("", json_schema_extra={"maxLength": 63})
    """Name of the port, e.g. query."""
    port: Int32 | None = None
    """Port of the Service."""
    container_port: Int32 | None = None
    """Port of the container that it leads to."""
    node_port: Int32 | None = None
    """Port on every node, for types NodePort and LoadBalancer."""
    app_protocol: str | None = None
    """Protocol spoken on the port, e.g. mysql or http."""


class ServiceExposure(Model):
    """How an external Service is reached."""

    type: str | None = Field(None, json_schema_extra={"maxLength": 64})
    """ClusterIP (default), NodePort or LoadBalancer."""
    load_balancer_ip: str = Field("", alias="loadBalancerIP", json_schema_extra={"maxLength": MAX_LENGTH})
    """Address asked of the load balancer; only for type LoadBalancer."""
    load_balancer_source_ranges: tuple[str, ...] = ()
    """Client networks that the load balancer admits."""
    external_traffic_policy: str | None = Field(None, json_schema_extra={"maxLength": 64})
    """Cluster or Local; only for types NodePort and LoadBalancer."""
    ip_families: tuple[str, ...] = ()
    """IPv4 and IPv6, the first one first; also of the headless Service."""
    ip_family_policy: str = ""
    """SingleStack, PreferDualStack or RequireDualStack; also of the headless Service."""
    annotations: StringMap = Field(default_factory=dict)
    """Annotations of the Service."""
    labels: StringMap = Field(default_factory=dict)
    """Further labels of the Service."""


class ServiceSpec(ServiceExposure):
    """The external Service `<cluster>-<component>-service`."""

    ports: tuple[ServicePort, ...] = Field((), json_schema_extra={"maxItems": MAX_ITEMS})
    """Ports that differ from the default."""
    cluster_ip: str = Field("", alias="clusterIP")
    """Deprecated, from v1alpha1: address of the Service, chosen once."""
    port: Int32 | None = None
    """Deprecated, from v1alpha1: as an entry of ports; they win."""
    port_name: str = ""
    """Deprecated, from v1alpha1: name of that port; absent: the one that clients use."""
