"""What a step does on the API server, as data: one object applied, or one object deleted.

Pure: the manifest is made by the same function that makes it for an ordinary apply, from the decision that was just
made afresh, so that the next apply finds nothing to change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from starrocks_operator.components import COMPONENTS
from starrocks_operator.decision import Context, Decision
from starrocks_operator.membership import pods_of
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects import build
from starrocks_operator.objects.names import stateful_set_name
from starrocks_operator.objects.sleep import AWAKE
from starrocks_operator.observed import Observed, Raw
from starrocks_operator.rollout import SHAPING_STEPS, is_shaped, roll_of, shape_of, shape_of_step
from starrocks_operator.step import Step, StepKind


@dataclass(frozen=True, kw_only=True)
class Deed:
    """One write. It is refused if the object is not the very one, and for an apply the very version, that was read.

    verb: `apply` (server-side, with `manifest`), `patch` (a merge patch, with `manifest`), `delete`, or `orphan`
        (deleted without what belongs to it). version: the resource version that was read; empty: any.
    """

    verb: str
    kind: str
    namespace: str
    name: str
    uid: str
    manifest: Mapping[str, Any] | None = None
    version: str = ""


_DELETED = {
    StepKind.DELETE_META_VOLUME: "PersistentVolumeClaim",
    StepKind.DELETE_POD: "Pod",
    StepKind.ORPHAN_STATEFUL_SET: "StatefulSet",
    StepKind.DELETE_BACKEND_VOLUME: "PersistentVolumeClaim",
}


def deed_of(step: Step, *, cluster: StarRocksCluster, observed: Observed, decision: Decision) -> Deed | None:
    """The write that does a step; None if the object that it is about is gone, or another one by now."""
    if step.kind == StepKind.SHRINK_STATEFUL_SET:
        return _shrunk(step, cluster, observed, decision)
    if step.kind in SHAPING_STEPS:
        return _reshaped(step, cluster, observed, decision)
    if step.kind == StepKind.GROW_CLAIM:
        return _grown(step, cluster, observed)
    if step.kind == StepKind.SLEEP_STATEFUL_SET:
        return _asleep(step, cluster, observed, decision)
    kind = _DELETED[step.kind]
    live = observed.children.get(kind, step.target)
    if live is None or live["metadata"].get("uid") != step.fact("uid"):
        return None
    version = str(live["metadata"].get("resourceVersion", "")) if kind == "StatefulSet" else ""
    return Deed(
        verb="orphan" if kind == "StatefulSet" else "delete",
        kind=kind,
        namespace=cluster.namespace,
        name=step.target,
        uid=step.fact("uid"),
        version=version,
    )


def workload_component(cluster: StarRocksCluster, name: str) -> str:
    """The component whose StatefulSet has this name; empty: none."""
    return next((component for component in COMPONENTS if stateful_set_name(cluster, component) == name), "")


def is_done(step: Step, live: Raw | None) -> bool:
    """Whether the object, looked at again, shows that the step was done."""
    if step.kind == StepKind.SHRINK_STATEFUL_SET:
        return live is not None and str((live.get("spec") or {}).get("replicas")) == step.fact("to")
    if step.kind in SHAPING_STEPS:
        return live is not None and is_shaped(step, live)
    if step.kind == StepKind.GROW_CLAIM:
        return live is not None and requested(live) == step.fact("to")
    if step.kind == StepKind.SLEEP_STATEFUL_SET:
        return live is not None and (live.get("spec") or {}).get("replicas") == 0
    if live is None:
        return True
    metadata = live["metadata"]
    return bool(metadata.get("uid") != step.fact("uid") or metadata.get("deletionTimestamp"))


def _shrunk(step: Step, cluster: StarRocksCluster, observed: Observed, decision: Decision) -> Deed | None:
    component = workload_component(cluster, step.target)
    replicas = {**decision.context.replicas, component: int(step.fact("to"))}
    return _applied(cluster, observed, component, replace(decision.context, replicas=replicas)) if component else None


def _grown(step: Step, cluster: StarRocksCluster, observed: Observed) -> Deed | None:
    live = observed.children.get("PersistentVolumeClaim", step.target)
    if live is None or live["metadata"].get("uid") != step.fact("uid") or requested(live) != step.fact("from"):
        return None
    return Deed(
        verb="patch",
        kind="PersistentVolumeClaim",
        namespace=cluster.namespace,
        name=step.target,
        uid=step.fact("uid"),
        version=str(live["metadata"].get("resourceVersion", "")),
        manifest={"spec": {"resources": {"requests": {"storage": step.fact("to")}}}},
    )


def requested(claim: Raw) -> str:
    """The size that a claim asks for."""
    return str((((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}).get("storage", ""))


def _asleep(step: Step, cluster: StarRocksCluster, observed: Observed, decision: Decision) -> Deed | None:
    """No replicas, how many there were, and nothing else: the template stays as it is."""
    component, context = step.fact("component"), decision.context
    desired = _stateful_set(cluster, component, replace(context, shapes={}))
    live = observed.children.get("StatefulSet", step.target)
    if live is None or desired is None or live["metadata"].get("uid") != step.fact("uid"):
        return None
    roll = roll_of(component, desired, live, pods_of(observed.children))
    shape = shape_of(roll, observed.revisions, keep=True).document()
    shape["annotations"] = {**shape.get("annotations", {}), AWAKE: step.fact("from")}
    replicas, shapes = {**context.replicas, component: 0}, {**context.shapes, component: shape}
    return _applied(cluster, observed, component, replace(context, replicas=replicas, shapes=shapes))


def _reshaped(step: Step, cluster: StarRocksCluster, observed: Observed, decision: Decision) -> Deed | None:
    component, context = step.fact("component"), decision.context
    desired = _stateful_set(cluster, component, replace(context, shapes={}))
    live = observed.children.get("StatefulSet", stateful_set_name(cluster, component))
    if live is None or desired is None:
        return None
    roll = roll_of(component, desired, live, pods_of(observed.children))
    shape = shape_of_step(step, roll).document()
    return _applied(cluster, observed, component, replace(context, shapes={**context.shapes, component: shape}))


def _applied(cluster: StarRocksCluster, observed: Observed, component: str, context: Context) -> Deed | None:
    """The component's StatefulSet as this context makes it, bound to the version that was read."""
    name = stateful_set_name(cluster, component)
    live, wanted = observed.children.get("StatefulSet", name), _stateful_set(cluster, component, context)
    if live is None or wanted is None:
        return None
    metadata = {**wanted["metadata"], "resourceVersion": live["metadata"].get("resourceVersion", "")}
    return Deed(
        verb="apply",
        kind="StatefulSet",
        namespace=cluster.namespace,
        name=name,
        uid=live["metadata"].get("uid", ""),
        manifest={**wanted, "metadata": metadata},
    )


def _stateful_set(cluster: StarRocksCluster, component: str, context: Context) -> Mapping[str, Any] | None:
    objects = build(cluster, replace(context, components=(component,)))[component]
    return next((item for item in objects if item["kind"] == "StatefulSet"), None)
