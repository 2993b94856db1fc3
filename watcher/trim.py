"""What is kept of an object: a fleet's objects live in memory, and most of what the API sends is read by nobody.

The rest is also what wakes the operator: an object that differs only in what is dropped here did not change.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from starrocks_operator.objects.pod_scripts import SELF_REGISTRATION

Raw = dict[str, Any]

_METADATA = frozenset({"name", "namespace", "uid", "resourceVersion", "generation", "labels", "annotations"})
_METADATA |= {"ownerReferences", "creationTimestamp", "deletionTimestamp", "finalizers"}
_NOISE = frozenset({"kubectl.kubernetes.io/last-applied-configuration"})
_INTERNED = 128  # strings up to this length are shared: a fleet repeats them


def trim(raw: Mapping[str, Any]) -> Raw:
    """A copy of `raw` with what the operator reads of an object of its kind."""
    keep = _KINDS.get(raw["kind"], _whole)
    kept = {name: value for name, value in keep(raw).items() if name != "metadata"}
    return _intern({**kept, "metadata": _metadata(raw["metadata"])})  # type: ignore[no-any-return]


def _metadata(metadata: Mapping[str, Any]) -> Raw:
    kept = {name: value for name, value in metadata.items() if name in _METADATA}
    if annotations := kept.get("annotations"):
        kept["annotations"] = {name: value for name, value in annotations.items() if name not in _NOISE}
    return kept


def _whole(raw: Mapping[str, Any]) -> Raw:
    return dict(raw)


def _pod(raw: Mapping[str, Any]) -> Raw:
    spec, status = raw.get("spec") or {}, raw.get("status") or {}
    return {
        "apiVersion": raw.get("apiVersion", "v1"),
        "kind": "Pod",
        "spec": {
            **_only(spec, ("nodeName", "hostname", "subdomain")),
            "volumes": [
                _only(volume, ("name", "persistentVolumeClaim", "configMap")) for volume in spec.get("volumes") or ()
            ],
            "containers": [_container(container) for container in spec.get("containers") or ()],
        },
        "status": {
            **_only(status, ("phase", "reason", "message", "podIP", "startTime")),
            **_only(status, ("containerStatuses", "initContainerStatuses")),
            "conditions": [_without(condition, ("lastProbeTime",)) for condition in status.get("conditions") or ()],
        },
    }


def _container(container: Mapping[str, Any]) -> Raw:
    """Of its environment only what tells whether a node registers itself."""
    said = [entry for entry in container.get("env") or () if entry.get("name") == SELF_REGISTRATION]
    return {**_only(container, ("name", "image", "command")), **({"env": said} if said else {})}


def _claim(raw: Mapping[str, Any]) -> Raw:
    status = raw.get("status") or {}
    kept = _only(status, ("phase", "capacity", "allocatedResourceStatuses"))
    if conditions := status.get("conditions"):
        kept["conditions"] = [_without(condition, ("lastProbeTime",)) for condition in conditions]
    return {**raw, "status": kept}


def _autoscaler(raw: Mapping[str, Any]) -> Raw:
    return {**raw, "status": _only(raw.get("status") or {}, ("currentReplicas", "desiredReplicas"))}


def _deployment(raw: Mapping[str, Any]) -> Raw:
    counts = ("observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "conditions")
    return {**raw, "status": _only(raw.get("status") or {}, counts)}


def _only(value: Mapping[str, Any], names: Iterable[str]) -> Raw:
    return {name: value[name] for name in names if name in value}


def _without(value: Mapping[str, Any], names: Iterable[str]) -> Raw:
    dropped = frozenset(names)
    return {name: item for name, item in value.items() if name not in dropped}


def _intern(value: Any) -> Any:
    if isinstance(value, dict):
        return {sys.intern(name): _intern(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_intern(item) for item in value]
    return sys.intern(value) if type(value) is str and len(value) <= _INTERNED else value


_KINDS: Mapping[str, Callable[[Mapping[str, Any]], Raw]] = {
    "Pod": _pod,
    "Deployment": _deployment,
    "PersistentVolumeClaim": _claim,
    "HorizontalPodAutoscaler": _autoscaler,
    "PodDisruptionBudget": lambda raw: _without(raw, ("status",)),
}
