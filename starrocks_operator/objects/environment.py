"""The environment of a main container, in the order in which it has always been."""

from __future__ import annotations

from typing import Any

from starrocks_operator.components import DEFAULT_ROOT, FIELD_ENVIRONMENT, Component
from starrocks_operator.model import ComponentSpec, StarRocksCluster

ROOT_VARIABLE = "STARROCKS_ROOT"
WAREHOUSE_VARIABLE = "KUBE_STARROCKS_MULTI_WAREHOUSE"


def root_path(spec: ComponentSpec) -> str:
    """Where StarRocks lies in the image."""
    return custom_root(spec) or DEFAULT_ROOT


def custom_root(spec: ComponentSpec) -> str:
    """The user's own root, if the environment names one; else empty."""
    for entry in spec.env_vars:
        if entry.get("name", "").upper() == ROOT_VARIABLE:
            return str(entry.get("value", ""))
    return ""


def environment(
    cluster: StarRocksCluster, component: Component, spec: ComponentSpec, *, query_port: int, configuration: str = ""
) -> list[dict[str, Any]]:
    """The user's variables first, then ours unless the user has set them.

    Of equal names the last counts, as it does in a container: server-side apply refuses to keep both.
    """
    entries = {entry["name"]: dict(entry) for entry in spec.env_vars}
    for name, path in FIELD_ENVIRONMENT:
        entries.setdefault(name, {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}})
    for name, value in _values(cluster, component, query_port):
        entries.setdefault(name, {"name": name, "value": value})
    info = spec.config_map_info
    if configuration or (info is not None and info.config_map_name and info.resolve_key):
        name = "CONFIGMAP_MOUNT_PATH"
        entries.pop(name, None)
        entries[name] = {"name": name, "value": component.configuration_mount}
    return list(entries.values())


def _values(cluster: StarRocksCluster, component: Component, query_port: int) -> list[tuple[str, str]]:
    service = component.frontend_service.format(cluster=cluster.frontends_of, namespace=cluster.metadata.namespace)
    values = [("HOST_TYPE", component.host_type), ("COMPONENT_NAME", component.process)]
    if service:
        values.append(("FE_SERVICE_NAME", service))
    if component.knows_query_port:
        values.append(("FE_QUERY_PORT", str(query_port)))
    if cluster.warehouse:
        values.append((WAREHOUSE_VARIABLE, cluster.warehouse))
    return values
