"""The profile `safe`: what it adds to the pod template of the official operator, and nothing else.

Pods are started, probed and stopped by our scripts: no frontend with empty metadata founds a second cluster, no backend
registers itself again after it was dropped, nothing is killed for waiting, and any pod can be debugged. Pods prefer
nodes of their own; and processes run with the rights they need.
"""

from __future__ import annotations

from typing import Any

from starrocks_operator.components import RUN_AS, Component
from starrocks_operator.model import ComponentSpec, StarRocksCluster
from starrocks_operator.objects.debugging import debug_mount, debug_volume
from starrocks_operator.objects.host_sysctls import init_container
from starrocks_operator.objects.metadata import selector
from starrocks_operator.objects.names import (
    headless_service_name,
    marker_name,
    stateful_set_name,
)
from starrocks_operator.objects.pod_scripts import SELF_REGISTRATION, scripted, scripts_mount, scripts_volume
from starrocks_operator.objects.security import runs_as_root

MARKER_MOUNT = "/etc/starrocks/bootstrap"
OBSERVER_VARIABLE = "IS_FE_OBSERVER"  # the images' own entrypoints know it from 4.1 on
FRONTENDS_VARIABLE = "FE_GROUP"
_MARKER_VOLUME = "starrocks-bootstrap"


def hardened(
    template: dict[str, Any],
    cluster: StarRocksCluster,
    component: Component,
    spec: ComponentSpec,
    *,
    web_port: int,
    frontends: str,
    host_sysctls: str = "",
) -> dict[str, Any]:
    """The template with the additions of this profile; what the user said himself stays.

    web_port: where the process answers by HTTP. frontends: the governing Service of an adopted StatefulSet of the
    frontends, if it has another than ours. host_sysctls: see there.
    """
    pod = dict(template["spec"])
    main, *sidecars = pod["containers"]
    pod["volumes"] = [*pod.get("volumes", ()), *_volumes(cluster, component)]
    main = scripted(
        {**main, "volumeMounts": [*main.get("volumeMounts", ()), *_mounts(component)]}, component, spec, web_port
    )
    if component.name == "fe-observer":
        main = _observing(main, cluster, frontends or headless_service_name(cluster, "fe"))
    if cluster.warehouse:
        main = _told(main, {SELF_REGISTRATION: "true"}, keep=True)  # the image's script makes the warehouse, too
    if host_sysctls:
        pod["initContainers"] = [init_container(spec.image, host_sysctls), *pod.get("initContainers", ())]
    if spec.affinity is None:
        pod["affinity"] = _spread(cluster, component)
    pod["securityContext"] = _pod_security(pod["securityContext"], spec)
    main = {**main, "securityContext": _container_security(main["securityContext"], spec)}
    pod["containers"] = [main, *sidecars]
    return {**template, "spec": pod}


def _volumes(cluster: StarRocksCluster, component: Component) -> list[dict[str, Any]]:
    found = [scripts_volume(cluster, component), debug_volume(cluster, component)]
    if component.process == "fe":
        found.append({"name": _MARKER_VOLUME, "configMap": {"name": marker_name(cluster), "optional": True}})
    return found


def _mounts(component: Component) -> list[dict[str, Any]]:
    found = [scripts_mount(), debug_mount()]
    if component.process == "fe":
        found.append({"name": _MARKER_VOLUME, "mountPath": MARKER_MOUNT, "readOnly": True})
    return found


def _observing(main: dict[str, Any], cluster: StarRocksCluster, service: str) -> dict[str, Any]:
    """Told to join as an observer, and whom to ask: the frontends have a StatefulSet and a Service of their own."""
    said = {OBSERVER_VARIABLE: "true", FRONTENDS_VARIABLE: f"{stateful_set_name(cluster, 'fe')}.{service}"}
    return _told(main, said, keep=False)


def _told(main: dict[str, Any], said: dict[str, str], *, keep: bool) -> dict[str, Any]:
    """With these variables; keep: those that the user has set himself stay."""
    there = {entry["name"] for entry in main["env"]}
    new = {name: value for name, value in said.items() if not (keep and name in there)}
    kept = [entry for entry in main["env"] if entry["name"] not in new]
    return {**main, "env": [*kept, *({"name": name, "value": value} for name, value in new.items())]}


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
