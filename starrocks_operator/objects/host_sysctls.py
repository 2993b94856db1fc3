"""Parameters of the nodes' kernels that the user asks for, set by an init container before StarRocks starts.

They are the whole node's, not the pod's, so only a privileged container can set them, and only those are taken that
StarRocks asks for and that do no harm to others when they are raised. What the kernel has for each pod alone (`net.*`)
belongs into the field `sysctls`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.pod_scripts import HOST_SYSCTLS, run, scripts_mount
from starrocks_operator.observed import Raw

ANNOTATION = "starrocks.com/host-sysctls"
"""On the resource: `vm.max_map_count=2000000,vm.swappiness=0`, for the nodes of backends and compute nodes."""

CONTAINER = "starrocks-host-sysctls"
COMPONENTS = ("be", "cn")
_SEPARATOR = " "


@dataclass(frozen=True, kw_only=True)
class _Parameter:
    """rule: what is enough. low, high: what may be asked for."""

    rule: str
    low: int
    high: int


_PARAMETERS: Mapping[str, _Parameter] = {
    "fs.aio-max-nr": _Parameter(rule="at-least", low=65_536, high=2**31 - 1),
    "fs.file-max": _Parameter(rule="at-least", low=65_536, high=2**31 - 1),
    "kernel.pid_max": _Parameter(rule="at-least", low=32_768, high=4_194_304),
    "kernel.threads-max": _Parameter(rule="at-least", low=32_768, high=4_194_304),
    "vm.max_map_count": _Parameter(rule="at-least", low=65_530, high=2**31 - 1),
    "vm.overcommit_memory": _Parameter(rule="exactly", low=0, high=1),
    "vm.swappiness": _Parameter(rule="exactly", low=0, high=100),
}


class HostSysctlError(ValueError):
    """The annotation asks for what cannot be done; a sentence."""


def wishes(text: str) -> str:
    """What the init container is told: `at-least:vm.max_map_count=2000000`, by name, separated by blanks."""
    found: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (side.strip() for side in part.partition("="))
        known = _PARAMETERS.get(name)
        if known is None:
            raise HostSysctlError(f"{name[:60]!r} is none of {', '.join(_PARAMETERS)}.")
        if not value.isascii() or not value.isdecimal() or len(value) > 10 or not known.low <= int(value) <= known.high:
            raise HostSysctlError(f"{name} may be a number from {known.low} to {known.high}, not {value[:40]!r}.")
        if name in found:
            raise HostSysctlError(f"{name} is there twice.")
        found[name] = f"{known.rule}:{name}={int(value)}"
    return _SEPARATOR.join(found[name] for name in sorted(found))


def host_sysctls_of(cluster: StarRocksCluster, workloads: Mapping[str, Raw]) -> dict[str, str]:
    """The same by component. While it is not understood, each keeps what its StatefulSet has."""
    components = [name for name in COMPONENTS if name in cluster.spec.components]
    try:
        told = dict.fromkeys(components, wishes(cluster.annotations.get(ANNOTATION, "")))
    except HostSysctlError:
        told = {name: _in_force(workloads.get(name)) for name in components}
    return {name: words for name, words in told.items() if words}


def init_container(image: str, words: str) -> dict[str, Any]:
    """The container that sees to it. It is the only one with such rights, and it ends before the others begin."""
    return {
        "name": CONTAINER,
        "image": image,
        "command": run(HOST_SYSCTLS),
        "args": words.split(_SEPARATOR),
        "volumeMounts": [scripts_mount()],
        "securityContext": {"privileged": True, "runAsUser": 0, "runAsGroup": 0, "runAsNonRoot": False},
    }


def _in_force(workload: Raw | None) -> str:
    template = ((workload or {}).get("spec") or {}).get("template") or {}
    for container in (template.get("spec") or {}).get("initContainers") or ():
        if container.get("name") == CONTAINER:
            return _SEPARATOR.join(map(str, container.get("args") or ()))
    return ""
