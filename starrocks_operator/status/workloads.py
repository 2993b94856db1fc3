"""The status of each component as the official operator reports it: phase, pods by state, names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starrocks_operator.components import COMPONENTS
from starrocks_operator.membership import Rosters
from starrocks_operator.membership.slots import Roster, Row
from starrocks_operator.model import COMPONENT_NAMES, ComponentName, StarRocksCluster
from starrocks_operator.objects.metadata import COMPONENT_LABEL, OWNER_LABEL, PROFILE
from starrocks_operator.objects.names import (
    autoscaler_name,
    external_service_name,
    stateful_set_name,
)
from starrocks_operator.observed import Children, FrontendView
from starrocks_operator.rollout import of_one_revision
from starrocks_operator.status.standing import Standing, told


@dataclass(frozen=True, kw_only=True)
class Workload(Standing):
    """One component as it stands: what the conditions and its own status are made from.

    membership: whether FE's members of ours are exactly the wanted ones and all alive; None: FE was not heard.
    """

    component: ComponentName
    membership: bool | None
    orphaned: bool = False

    @property
    def title(self) -> str:
        return COMPONENTS[self.component].title

    @property
    def complete(self) -> bool:
        """As many pods as wanted, all ready and of the wanted revision."""
        return self.present and self.rolled_out and len(self.ready) == len(self.pods) == self.wanted

    @property
    def too_many(self) -> bool:
        """More pods than wanted, and nothing else is amiss."""
        return self.present and self.rolled_out and len(self.ready) == len(self.pods) > self.wanted

    @property
    def phase(self) -> str:
        if self.failed:
            return "failed"
        return "running" if self.complete and self.membership else "reconciling"

    @property
    def reason(self) -> str:
        """Why it is not running, in a sentence; empty if it is."""
        if self.failed:
            return self.trouble
        if not self.present:
            return f"the {self.title}s have no StatefulSet yet"
        if len(self.pods) != self.wanted:
            return f"{len(self.pods)} pods of {self.wanted}"
        if len(self.ready) != self.wanted:
            return f"{len(self.ready)} pods of {self.wanted} are ready"
        if not self.rolled_out:
            return "pods are being replaced by new ones"
        if not self.membership:
            return f"not all {self.title}s are alive members" if self.membership is False else "FE has not been heard"
        return ""


def workloads_of(
    cluster: StarRocksCluster,
    children: Children,
    rosters: Rosters,
    view: FrontendView | None,
) -> tuple[Workload, ...]:
    """All components that the cluster has or had, frontends first."""
    heard = {
        "fe": view is not None and view.frontends is not None,
        "fe-observer": view is not None and view.frontends is not None,
        "be": view is not None and view.backends is not None,
        "cn": view is not None and view.compute_nodes is not None,
    }
    by_component: dict[str, Roster[Any]] = {
        "fe": rosters.fe,
        "fe-observer": rosters.observers,
        "be": rosters.be,
        "cn": rosters.cn,
    }
    found = []
    for name in COMPONENT_NAMES:
        spec = cluster.spec.component(name)
        live = children.get("StatefulSet", stateful_set_name(cluster, name))
        if spec is None and live is None:
            continue
        roster = by_component[name]
        own = tuple(slot.pod for slot in roster.slots if slot.pod is not None)
        wanted = spec.replicas if spec else int(((live or {}).get("spec") or {}).get("replicas", 1))
        found.append(
            Workload(
                component=name,
                wanted=wanted,
                present=live is not None,
                pods=own,
                rolled_out=live is not None and of_one_revision(live, own),
                membership=_as_wanted(roster, wanted) if heard[name] else None,
                orphaned=spec is None,
            )
        )
    return tuple(found)


def component_status(workload: Workload, cluster: StarRocksCluster, children: Children) -> dict[str, Any]:
    """starRocksFeStatus and its siblings."""
    name = workload.component
    live = children.get("StatefulSet", stateful_set_name(cluster, name))
    status: dict[str, Any] = {
        "phase": workload.phase,
        "reason": workload.reason,
        "serviceName": external_service_name(cluster, name),
        "resourceNames": [stateful_set_name(cluster, name)] if workload.present else [],
        "profile": ((live or {"metadata": {}})["metadata"].get("annotations") or {}).get(PROFILE, ""),
        **workload.instances,
    }
    if name == "cn":
        status |= _scale(cluster, workload, children)
    return told(status)


def _scale(cluster: StarRocksCluster, workload: Workload, children: Children) -> dict[str, Any]:
    """What the scale subresource shows to the autoscaler; the selector is there from the start."""
    scaler = autoscaler_name(cluster)
    present = children.get("HorizontalPodAutoscaler", scaler) is not None
    return {
        "replicas": len(workload.pods),
        "selector": f"{COMPONENT_LABEL}=cn,{OWNER_LABEL}={stateful_set_name(cluster, 'cn')}",
        "hpaName": scaler if present else "",
        "horizontalScaler": {"name": scaler, "version": "v2"} if present else None,
    }


def _as_wanted(roster: Roster[Row], wanted: int) -> bool:
    """Whether FE's members of ours are exactly the first `wanted` ordinals, each once, in role and alive."""
    registered = [slot for slot in roster.slots if slot.rows]
    ordinals = [slot.ordinal for slot in registered]
    return (
        len(ordinals) == wanted
        and ordinals == list(range(len(ordinals)))
        and all(
            len(slot.rows) == 1 and _in_place(slot.rows[0], observers=roster.component == "fe-observer")
            for slot in registered
        )
    )


def _in_place(row: Row, *, observers: bool) -> bool:
    return (
        row.alive
        and getattr(row, "joined", True)
        and (getattr(row, "role", "") == "OBSERVER") == observers
        and not getattr(row, "decommissioned", False)
    )
