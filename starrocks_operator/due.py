"""Which objects must be written: those that are absent, outdated or drifted; and which of ours must go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starrocks_operator.components import COMPONENTS, FE_PROXY
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects import drift
from starrocks_operator.objects.former import is_remembered
from starrocks_operator.objects.metadata import APPLIED_HASH, COMPONENT_LABEL
from starrocks_operator.objects.names import autoscaler_name, debug_name, external_service_name, former_name, proxy_name
from starrocks_operator.observed import Children, ObjectKey, Raw
from starrocks_operator.recall import Recall

Object = Mapping[str, Any]

_drifts: Recall[str] = Recall(8192)


@dataclass(frozen=True, kw_only=True)
class Due:
    """What one component needs: the objects to write, why each, and what stands in the way."""

    objects: tuple[Object, ...] = ()
    changes: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()


def due(cluster: StarRocksCluster, wanted: Sequence[Object], children: Children) -> Due:
    """Compare the wanted objects of a component with the live ones."""
    waits = tuple(wait for item in wanted if (wait := _obstacle(cluster, item, children)))
    if waits:
        return Due(waits=waits)
    reasons = [(item, _reason(item, children)) for item in wanted]
    return Due(
        objects=tuple(item for item, reason in reasons if reason),
        changes=tuple(f"{ObjectKey.of(item)}: {reason}" for item, reason in reasons if reason),
    )


def prunable(
    cluster: StarRocksCluster, wanted: Iterable[Object], children: Children, *, components: Iterable[str]
) -> tuple[ObjectKey, ...]:
    """Objects of ours that nobody wants any more: autoscaler, frontend proxy; of those named, disruption budgets and
    lists of pods to be debugged.

    StatefulSets and claims are never among them, nor what pods that still run may need.
    """
    keys = {ObjectKey.of(item) for item in wanted}
    components = frozenset(components)
    found = [
        ObjectKey.of(raw)
        for raw in children.of_kind("PodDisruptionBudget")
        if (raw["metadata"].get("labels") or {}).get(COMPONENT_LABEL) in components
    ]
    for name in (name for name in COMPONENTS if name in components):
        found += [ObjectKey("ConfigMap", named(cluster, name)) for named in (former_name, debug_name)]
    if "hpa" in components:
        found += [ObjectKey("HorizontalPodAutoscaler", autoscaler_name(cluster))]
    if "fe_proxy" in components:
        found += [
            ObjectKey("Deployment", proxy_name(cluster)),
            ObjectKey("Service", external_service_name(cluster, FE_PROXY.name)),
            ObjectKey("ConfigMap", proxy_name(cluster)),
        ]
    return tuple(key for key in found if key not in keys and _may_be_deleted(cluster, children.get(key.kind, key.name)))


def owner_uid(raw: Raw) -> str:
    """The uid of the object's controller; empty if it has none."""
    references = raw["metadata"].get("ownerReferences") or ()
    return next((str(owner.get("uid", "")) for owner in references if owner.get("controller")), "")


def _may_be_deleted(cluster: StarRocksCluster, live: Raw | None) -> bool:
    return live is not None and owner_uid(live) == cluster.uid and not live["metadata"].get("deletionTimestamp")


def _obstacle(cluster: StarRocksCluster, wanted: Object, children: Children) -> str:
    """Why the object cannot be written yet: it is on its way out, or it is somebody else's."""
    key = ObjectKey.of(wanted)
    live = children.get(key.kind, key.name)
    if live is None:
        return ""
    if live["metadata"].get("deletionTimestamp"):
        return f"{key} is being deleted; it is made again when it is gone"
    owner = owner_uid(live) if key.kind != "PersistentVolumeClaim" else ""  # claims are only marked
    if owner and owner != cluster.uid:
        return f"{key} belongs to another owner (uid {owner}), probably this cluster's predecessor, and has to go first"
    return ""


def _reason(wanted: Object, children: Children) -> str:
    key = ObjectKey.of(wanted)
    live = children.get(key.kind, key.name)
    if live is None or (key.kind == "StatefulSet" and is_remembered(live)):
        return "it does not exist"
    applied = (live["metadata"].get("annotations") or {}).get(APPLIED_HASH)
    if applied is None:
        return "it was not made by this operator"
    if applied != wanted["metadata"]["annotations"][APPLIED_HASH]:
        return "what is wanted of it has changed"
    version = live["metadata"].get("resourceVersion")
    if not version:
        return drift.missing(live, wanted) or ""
    return _drifts.get(
        (live["metadata"].get("uid"), str(key)), (version, applied), lambda: drift.missing(live, wanted) or ""
    )
