"""The pod template of a component, exactly as the official operator makes it: adopted pods must not restart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starrocks_operator.components import GRACE_PERIOD_SECONDS, RUN_AS, Component
from starrocks_operator.decision import Customs
from starrocks_operator.model import ComponentSpec, LoadSpec, StarRocksCluster
from starrocks_operator.objects.configuration import port_of, ports_of
from starrocks_operator.objects.environment import custom_root, environment, root_path
from starrocks_operator.objects.metadata import selector, without_empty
from starrocks_operator.objects.names import stateful_set_name
from starrocks_operator.objects.prestop import stop_command
from starrocks_operator.objects.probes import probes
from starrocks_operator.objects.volumes import Volumes, volumes_of

FILE_HASH = "starrocks.com/configuration-hash"
"""On pods: the hash of the user's configuration file, once that differs from the one with which they were found."""
SERVICE_ARGUMENT = "$(FE_SERVICE_NAME)"

Properties = Mapping[str, Mapping[str, str]]


def pod_template(
    cluster: StarRocksCluster,
    component: Component,
    spec: ComponentSpec,
    properties: Properties,
    *,
    customs: Customs,
    configuration: str = "",
    file_hash: str = "",
) -> dict[str, Any]:
    """properties: the configuration files by component; a backend needs the frontends' for their query port.
    configuration: the operator's ConfigMap to be mounted. file_hash: of the user's file, if pods are to show it."""
    volumes = volumes_of(component, spec, plain_names=customs.plain_volume_names, configuration=configuration)
    query_port = ports_of("fe", properties.get("fe", {}))["query"]
    variables = environment(cluster, component, spec, query_port=query_port, configuration=configuration)
    main = _main_container(component, spec, own=properties.get(component.name, {}), volumes=volumes, env=variables)
    main["env"] = [entry for entry in main["env"] if _is_given(entry["name"], spec, customs)]
    metadata = {
        "name": stateful_set_name(cluster, component.name) if component.template_named else None,
        "namespace": cluster.metadata.namespace,
        "labels": {**spec.shared_labels, **spec.pod_labels, **selector(cluster, component.name)},
        "annotations": {**spec.annotations, **({FILE_HASH: file_hash} if file_hash else {})},
    }
    return {"metadata": without_empty(metadata), "spec": _pod_spec(spec, main, volumes)}


def _is_given(name: str, spec: ComponentSpec, customs: Customs) -> bool:
    """The user's variables always are."""
    return name not in customs.withheld_variables or any(entry.get("name") == name for entry in spec.env_vars)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []  # v1alpha1 does not look into it


def _host_aliases(spec: ComponentSpec) -> list[dict[str, Any]]:
    """One entry for each address: pods may have more, but server-side apply cannot keep two apart."""
    merged: dict[str, dict[str, Any]] = {}
    for alias in spec.host_aliases:
        before = merged.get(str(alias.get("ip")))
        names = (
            {"hostnames": [name for each in (before, alias) for name in _listed(each.get("hostnames"))]}
            if before
            else {}
        )
        merged[str(alias.get("ip"))] = {**alias, **names}
    return list(merged.values())


def _pod_spec(spec: ComponentSpec, main: dict[str, Any], volumes: Volumes) -> dict[str, Any]:
    grace_period = spec.termination_grace_period_seconds
    content = {
        "initContainers": list(spec.init_containers),
        "containers": [main, *spec.sidecars],
        "volumes": volumes.volumes,
        "terminationGracePeriodSeconds": GRACE_PERIOD_SECONDS if grace_period is None else grace_period,
        "hostAliases": _host_aliases(spec),
        "dnsPolicy": spec.dns_policy,
        "dnsConfig": spec.dns_config,
        **placement(spec),
        "securityContext": {
            "fsGroupChangePolicy": "OnRootMismatch",
            **({"fsGroup": RUN_AS} if spec.run_as_non_root else {}),
            **({"sysctls": list(spec.sysctls)} if spec.sysctls else {}),
        },
    }
    return without_empty(content)


def placement(spec: LoadSpec) -> dict[str, Any]:
    """What every pod says of itself, whatever runs in it: where it may run, and as whom."""
    return {
        "serviceAccountName": spec.service_account,
        "affinity": spec.affinity,
        "topologySpreadConstraints": list(spec.topology_spread_constraints),
        "tolerations": list(spec.tolerations),
        "imagePullSecrets": list({str(secret.get("name")): secret for secret in spec.image_pull_secrets}.values()),
        "nodeSelector": dict(spec.node_selector),
        "schedulerName": spec.scheduler_name,
        "priorityClassName": spec.priority_class_name,
        "automountServiceAccountToken": False,
        "shareProcessNamespace": spec.share_process_namespace,
    }


def resources(spec: LoadSpec) -> dict[str, Any]:
    return without_empty({"requests": dict(spec.requests), "limits": dict(spec.limits), "claims": list(spec.claims)})


def _main_container(
    component: Component,
    spec: ComponentSpec,
    *,
    own: Mapping[str, str],
    volumes: Volumes,
    env: list[dict[str, Any]],
) -> dict[str, Any]:
    root = root_path(spec)
    lifecycle = spec.lifecycle or {}
    stop = {"exec": {"command": stop_command(component, image=spec.image, root=root)}}
    content = {
        "name": component.process,
        "image": spec.image,
        "command": list(spec.command) or [component.entrypoint(root)],
        "args": list(spec.args) or ([] if component.start else [SERVICE_ARGUMENT]),
        "workingDir": custom_root(spec),
        "ports": container_ports(component, own),
        "env": env,
        "resources": resources(spec),
        "volumeMounts": volumes.mounts,
        "imagePullPolicy": spec.image_pull_policy or "IfNotPresent",
        **probes(component, spec, port_of(component, component.health_port, own)),
        "lifecycle": without_empty(
            {"postStart": lifecycle.get("postStart"), "preStop": lifecycle.get("preStop") or stop}
        ),
        "securityContext": _security_context(spec),
    }
    return without_empty(content)


def container_ports(component: Component, properties: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {"name": exposed.name, "containerPort": port_of(component, exposed.port, properties), "protocol": "TCP"}
        for exposed in component.container_ports
    ]


def _security_context(spec: ComponentSpec) -> dict[str, Any]:
    content: dict[str, Any] = {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": bool(spec.read_only_root_filesystem),
        "capabilities": spec.capabilities,
    }
    if spec.run_as_non_root:
        content |= {"runAsUser": RUN_AS, "runAsGroup": RUN_AS, "runAsNonRoot": True}
    return without_empty(content)
