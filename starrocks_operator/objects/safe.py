"""The profile `safe`: what it adds to the pod template of the official operator, and nothing else.

Frontends start by our script, so that none with empty metadata founds a second cluster; pods prefer nodes of their
own; and processes run with the rights they need.
"""

from __future__ import annotations

from typing import Any

from starrocks_operator.components import RUN_AS, Component
from starrocks_operator.model import ComponentSpec, StarRocksCluster
from starrocks_operator.objects.config_maps import START_SCRIPT
from starrocks_operator.objects.metadata import selector
from starrocks_operator.objects.names import (
    headless_service_name,
    marker_name,
    scripts_name,
    stateful_set_name,
)
from starrocks_operator.objects.security import runs_as_root

SCRIPTS_MOUNT = "/etc/starrocks/operator"
MARKER_MOUNT = "/etc/starrocks/bootstrap"
OBSERVER_VARIABLE = "IS_FE_OBSERVER"  # the images' own entrypoints know it from 4.1 on
FRONTENDS_VARIABLE = "FE_GROUP"
_SCRIPTS_VOLUME = "starrocks-operator-scripts"
_MARKER_VOLUME = "starrocks-bootstrap"


def hardened(
    template: dict[str, Any], cluster: StarRocksCluster, component: Component, spec: ComponentSpec, *, frontends: str
) -> dict[str, Any]:
    """The template with the additions of this profile; what the user said himself stays.

    frontends: the governing Service of an adopted StatefulSet of the frontends, if it has another than ours.
    """
    pod = dict(template["spec"])
    main, *sidecars = pod["containers"]
    if component.process == "fe":
        pod["volumes"] = [*pod["volumes"], *_frontend_volumes(cluster)]
        main = _guarded(main, spec)
    if component.name == "fe-observer":
        main = _observing(main, cluster, frontends or headless_service_name(cluster, "fe"))
    if spec.affinity is None:
        pod["affinity"] = _spread(cluster, component)
    pod["securityContext"] = _pod_security(pod["securityContext"], spec)
    main = {**main, "securityContext": _container_security(main["securityContext"], spec)}
    pod["containers"] = [main, *sidecars]
    return {**template, "spec": pod}


def _guarded(main: dict[str, Any], spec: ComponentSpec) -> dict[str, Any]:
    """The frontend container with marker and scripts, started by our script unless the user has a command."""
    mounts = [
        *main["volumeMounts"],
        {"name": _SCRIPTS_VOLUME, "mountPath": SCRIPTS_MOUNT, "readOnly": True},
        {"name": _MARKER_VOLUME, "mountPath": MARKER_MOUNT, "readOnly": True},
    ]
    command = list(spec.command) or ["/bin/bash", f"{SCRIPTS_MOUNT}/{START_SCRIPT}"]
    return {**main, "volumeMounts": mounts, "command": command}


def _observing(main: dict[str, Any], cluster: StarRocksCluster, service: str) -> dict[str, Any]:
    """Told to join as an observer, and whom to ask: the frontends have a StatefulSet and a Service of their own."""
    said = {OBSERVER_VARIABLE: "true", FRONTENDS_VARIABLE: f"{stateful_set_name(cluster, 'fe')}.{service}"}
    kept = [entry for entry in main["env"] if entry["name"] not in said]
    return {**main, "env": [*kept, *({"name": name, "value": value} for name, value in said.items())]}


def _frontend_volumes(cluster: StarRocksCluster) -> list[dict[str, Any]]:
    return [
        {"name": _SCRIPTS_VOLUME, "configMap": {"name": scripts_name(cluster)}},
        {"name": _MARKER_VOLUME, "configMap": {"name": marker_name(cluster), "optional": True}},
    ]


def _spread(cluster: StarRocksCluster, component: Component) -> dict[str, Any]:
    term = {
        "topologyKey": "kubernetes.io/hostname",
        "labelSelector": {"matchLabels": selector(cluster, component.name)},
    }
    preferred = [{"weight": 100, "podAffinityTerm": term}]
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}


def _pod_security(context: dict[str, Any], spec: ComponentSpec) -> dict[str, Any]:
    seccomp = {"seccompProfile": {"type": "RuntimeDefault"}}
    if runs_as_root(spec):
        return {**context, **seccomp}
    return {**context, **seccomp, "fsGroup": RUN_AS if spec.fs_group is None else spec.fs_group}


def _container_security(context: dict[str, Any], spec: ComponentSpec) -> dict[str, Any]:
    """root keeps the runtime's capabilities: without them it could not write the files of user `starrocks`."""
    if runs_as_root(spec):
        return context
    as_user = {"runAsUser": RUN_AS, "runAsGroup": RUN_AS, "runAsNonRoot": True}
    return {"capabilities": {"drop": ["ALL"]}, **context, **as_user}
