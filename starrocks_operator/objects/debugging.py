"""Pods that their owner debugs: their names where they can read them, and nowhere in a pod template.

The list is mounted into all pods of the component, and each looks for itself when its container starts: so nothing is
rolled when the annotation comes or goes. A pod that crashes again and again takes note at its next start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from starrocks_operator.components import Component
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.metadata import Object, labels, make_object
from starrocks_operator.objects.names import debug_name, pod_name

DEBUG = "starrocks.com/debug"
"""Annotation on the resource: the pods, separated by commas, each as `fe-1` or by its full name."""

MOUNT = "/etc/starrocks/debug"
VOLUME = "starrocks-debug"
_KEY = "pods"  # the file that the scripts read
_MEMBER = re.compile(r"([a-z][a-z-]*)-(0|[1-9]\d{0,4})")


def debugged_pods(cluster: StarRocksCluster) -> dict[str, str]:
    """By component, the names of its pods that are named, separated by blanks."""
    found: dict[str, list[str]] = {}
    for _, member in _words(cluster):
        if member is not None:
            component, ordinal = member
            found.setdefault(component, []).append(pod_name(cluster, component, ordinal))
    return {component: " ".join(dict.fromkeys(pods)) for component, pods in sorted(found.items())}


def not_understood(cluster: StarRocksCluster) -> tuple[str, ...]:
    """Words of the annotation that name no pod of this cluster."""
    return tuple(word for word, member in _words(cluster) if member is None)


def names_in(debugged: Mapping[str, str]) -> frozenset[str]:
    """The pods of all components."""
    return frozenset(name for names in debugged.values() for name in names.split())


def can_be_debugged(pod: Mapping[str, Any]) -> bool:
    """Whether this pod was made from a template that mounts the list."""
    return any(volume.get("name") == VOLUME for volume in (pod.get("spec") or {}).get("volumes") or ())


def debug_list(cluster: StarRocksCluster, component: Component, names: str) -> Object:
    """The ConfigMap that names them."""
    return make_object(
        cluster,
        api_version="v1",
        kind="ConfigMap",
        name=debug_name(cluster, component.name),
        labels=labels(cluster, component.name),
        data={_KEY: names},
    )


def debug_volume(cluster: StarRocksCluster, component: Component) -> dict[str, Any]:
    return {"name": VOLUME, "configMap": {"name": debug_name(cluster, component.name), "optional": True}}


def debug_mount() -> dict[str, Any]:
    return {"name": VOLUME, "mountPath": MOUNT, "readOnly": True}


def _words(cluster: StarRocksCluster) -> Iterator[tuple[str, tuple[str, int] | None]]:
    for part in cluster.annotations.get(DEBUG, "").split(","):
        if word := part.strip():
            yield word, _member(cluster, word) or _member(cluster, word.removeprefix(f"{cluster.metadata.name}-"))


def _member(cluster: StarRocksCluster, word: str) -> tuple[str, int] | None:
    match = _MEMBER.fullmatch(word)
    return (match[1], int(match[2])) if match and match[1] in cluster.spec.components else None
