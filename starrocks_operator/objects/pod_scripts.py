"""The scripts that run inside of pods: how a main container is started, probed and stopped by them.

They are mounted from an immutable ConfigMap whose name has the hash of its content. So a pod that dies comes back with
the scripts that its template was made with, whatever the operator's release has by then; and those that nothing refers
to any more are collected like configurations.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from starrocks_operator.components import GRACE_PERIOD_SECONDS, Component
from starrocks_operator.model import ComponentSpec, StarRocksCluster
from starrocks_operator.objects.inline_configuration import CONFIGURATION_LABEL
from starrocks_operator.objects.metadata import Object, content_hash, labels, make_object
from starrocks_operator.objects.names import scripts_name
from starrocks_operator.objects.prestop import stops_gracefully
from starrocks_operator.objects.probes import inside_probes

MOUNT = "/etc/starrocks/operator"
VOLUME = "starrocks-operator-scripts"
NODE_START = "node_start.sh"
HOST_SYSCTLS = "host_sysctls.sh"
SELF_REGISTRATION = "STARROCKS_SELF_REGISTRATION"
"""Environment of backends and compute nodes: `true` lets the image's own script register them, as upstream does."""

_SHELL = "/bin/bash"
_PROBE, _STOP = "pod_probe.sh", "pod_stop.sh"
_EVERYWHERE = ("pod.sh", _PROBE, _STOP)
_BY_PROCESS = {
    "fe": (*_EVERYWHERE, "fe_start.sh"),
    "be": (*_EVERYWHERE, NODE_START, HOST_SYSCTLS),
    "cn": (*_EVERYWHERE, NODE_START, HOST_SYSCTLS),
}
_HASH_DIGITS = 8
_AFTER_THE_HOOK = 10
"""Seconds of the grace period that are left when our preStop hook gives up: the process is told to end once more."""


def scripts(cluster: StarRocksCluster, component: Component) -> Object:
    """The ConfigMap with the scripts of this component's pods."""
    data = {name: shipped(name) for name in _BY_PROCESS[component.process]}
    return make_object(
        cluster,
        api_version="v1",
        kind="ConfigMap",
        name=scripts_name(cluster, component.name, content_hash(data)[:_HASH_DIGITS]),
        labels={**labels(cluster, component.name), CONFIGURATION_LABEL: component.name},
        data=data,
        immutable=True,
    )


def scripts_in(template: Mapping[str, Any]) -> str:
    """The ConfigMap with scripts that a pod template mounts; empty: none."""
    volumes = (template.get("spec") or {}).get("volumes") or ()
    found: Mapping[str, Any] = next((volume for volume in volumes if volume.get("name") == VOLUME), {})
    return str((found.get("configMap") or {}).get("name", ""))


@cache
def shipped(name: str) -> str:
    """A script as the package has it."""
    return (files("starrocks_operator") / "scripts" / name).read_text(encoding="utf-8")


def scripts_volume(cluster: StarRocksCluster, component: Component) -> dict[str, Any]:
    return {"name": VOLUME, "configMap": {"name": scripts(cluster, component)["metadata"]["name"]}}


def scripts_mount() -> dict[str, Any]:
    return {"name": VOLUME, "mountPath": MOUNT, "readOnly": True}


def scripted(main: dict[str, Any], component: Component, spec: ComponentSpec, port: int) -> dict[str, Any]:
    """The main container, started, probed and stopped by our scripts; a command and a hook of the user's stay.

    port: of its web server.
    """
    kept = {name: value for name, value in main.items() if not name.endswith("Probe")}
    lifecycle = dict(main.get("lifecycle") or {})
    if not (spec.lifecycle or {}).get("preStop"):
        lifecycle["preStop"] = {"exec": {"command": _stop(component, spec)}}
    return {
        **kept,
        "command": list(spec.command) or _start(component),
        **inside_probes(spec, [*run(_PROBE), component.process], port),
        "lifecycle": lifecycle,
    }


def run(script: str) -> list[str]:
    """The command that runs one of them."""
    return [_SHELL, f"{MOUNT}/{script}"]


def registers_itself(pod: Mapping[str, Any]) -> bool:
    """Whether what starts a node's pod adds it to the cluster. In doubt it does."""
    containers = (pod.get("spec") or {}).get("containers") or ()
    ours = next((each for each in containers if f"{MOUNT}/{NODE_START}" in (each.get("command") or ())), None)
    if ours is None:
        return True
    said = (str(entry.get("value", "")) for entry in ours.get("env") or () if entry.get("name") == SELF_REGISTRATION)
    return next(said, "").lower() in ("true", "1")


def _start(component: Component) -> list[str]:
    return run("fe_start.sh") if component.process == "fe" else [*run(NODE_START), component.process]


def _stop(component: Component, spec: ComponentSpec) -> list[str]:
    given = spec.termination_grace_period_seconds
    grace = GRACE_PERIOD_SECONDS if given is None else given
    manner = "graceful" if stops_gracefully(component, spec.image) else "plain"
    return [*run(_STOP), component.process, manner, str(max(grace - _AFTER_THE_HOOK, 1))]
