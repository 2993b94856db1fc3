"""The two Services of a component: the headless one that names its pods, and the external one for clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starrocks_operator.components import Component, Exposed
from starrocks_operator.model import LoadSpec, ServicePort, ServiceSpec, StarRocksCluster
from starrocks_operator.objects.configuration import port_of
from starrocks_operator.objects.metadata import Object, labels, make_object, selector, without_empty
from starrocks_operator.objects.names import external_service_name, headless_service_name

_WITH_NODE_PORTS = ("NodePort", "LoadBalancer")


def headless_service(
    cluster: StarRocksCluster,
    component: Component,
    spec: LoadSpec,
    properties: Mapping[str, str],
    *,
    name: str = "",
) -> Object:
    """Names pods before they are ready: frontends must find each other in order to become ready.

    name: the governing Service of an adopted StatefulSet, if it has another name than ours.
    """
    return make_object(
        cluster,
        api_version="v1",
        kind="Service",
        name=name or headless_service_name(cluster, component.name),
        labels=labels(cluster, component.name),
        spec={
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            **_families(spec.service or ServiceSpec()),
            "selector": selector(cluster, component.name),
            "ports": _ports(component, component.headless_ports, properties, overrides=()),
        },
    )


def external_service(
    cluster: StarRocksCluster, component: Component, spec: LoadSpec, properties: Mapping[str, str]
) -> Object:
    """For clients, and the Service that the images' entrypoints ask for the frontends."""
    wished = spec.service or ServiceSpec()
    service_type = wished.type or "ClusterIP"
    content: dict[str, Any] = {"type": service_type, "selector": selector(cluster, component.name)}
    if service_type == "LoadBalancer" and wished.load_balancer_ip:
        content["loadBalancerIP"] = wished.load_balancer_ip
    if service_type == "LoadBalancer" and wished.load_balancer_source_ranges:
        content["loadBalancerSourceRanges"] = list(wished.load_balancer_source_ranges)
    if service_type in _WITH_NODE_PORTS and wished.external_traffic_policy:
        content["externalTrafficPolicy"] = wished.external_traffic_policy
    if wished.cluster_ip:
        content["clusterIP"] = wished.cluster_ip
    content |= _families(wished)
    overrides = (*wished.ports, *_deprecated_port(component, wished))
    content["ports"] = _ports(component, component.external_ports, properties, overrides=overrides)
    return make_object(
        cluster,
        api_version="v1",
        kind="Service",
        name=external_service_name(cluster, component.name),
        labels={**labels(cluster, component.name), **wished.labels},
        annotations=wished.annotations,
        spec=content,
    )


def _families(wished: ServiceSpec) -> dict[str, Any]:
    """Both Services of a component speak the same: members find each other where clients find them."""
    return without_empty({"ipFamilies": list(wished.ip_families), "ipFamilyPolicy": wished.ip_family_policy})


def _deprecated_port(component: Component, wished: ServiceSpec) -> tuple[ServicePort, ...]:
    """The one port that v1alpha1 could name, as an entry of the list that took its place."""
    if not wished.port:
        return ()
    return (ServicePort(name=wished.port_name or component.client_port, port=wished.port),)


def _ports(
    component: Component,
    exposed: tuple[Exposed, ...],
    properties: Mapping[str, str],
    *,
    overrides: tuple[ServicePort, ...],
) -> list[dict[str, Any]]:
    """Every open port, changed as the user's list says."""
    made = []
    for entry in exposed:
        number = port_of(component, entry.port, properties)
        if not number:
            continue
        override = _override(entry.name, number, overrides)
        port: dict[str, Any] = {
            "name": entry.name,
            "protocol": "TCP",
            "port": (override and override.port) or number,
            "targetPort": number,
        }
        if override and override.node_port:
            port["nodePort"] = override.node_port
        if app_protocol := (override and override.app_protocol) or component.ports[entry.port].app_protocol:
            port["appProtocol"] = app_protocol
        made.append(port)
    return made


def _override(name: str, number: int, overrides: tuple[ServicePort, ...]) -> ServicePort | None:
    """What the user says of this port: found by container port, else by name."""
    by_number = (port for port in overrides if port.container_port == number)
    by_name = (port for port in overrides if port.name == name)
    return next(by_number, None) or next(by_name, None)
