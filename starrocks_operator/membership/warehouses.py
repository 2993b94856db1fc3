"""Warehouses: what a warehouse needs of its cluster, and how a cluster's FE forgets a warehouse that was deleted."""

from __future__ import annotations

from dataclasses import replace

from starrocks_operator.decision import Finding
from starrocks_operator.membership.compute_nodes import COMPUTE_NODES
from starrocks_operator.membership.hosts import Group
from starrocks_operator.membership.node_table import Kind
from starrocks_operator.membership.outlook import Outlook
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.model.warehouse import SUFFIX
from starrocks_operator.observed import ComputeRow, FrontendView, Observed
from starrocks_operator.step import Step, StepKind

MULTI_WAREHOUSE = "multi-warehouse"
UNSUPPORTED = "FE cannot have warehouses"
UNKNOWN = "held until FE says whether it can have warehouses"
_WORKLOAD = f"{SUFFIX}-cn"


def kind_of(cluster: StarRocksCluster) -> Kind:
    """Compute nodes, in the warehouse in which they work."""
    return replace(COMPUTE_NODES, warehouse=cluster.warehouse) if cluster.warehouse else COMPUTE_NODES


def obstacle(cluster: StarRocksCluster, observed: Observed) -> str:
    """Why nothing is made for a warehouse yet. One that is there is not touched for want of an answer."""
    if not cluster.warehouse:
        return ""
    if observed.cluster_problem:
        return observed.cluster_problem
    features = observed.view.features if observed.view else None
    if features is not None:
        return "" if MULTI_WAREHOUSE in features else UNSUPPORTED
    return "" if observed.children.get("StatefulSet", f"{cluster.name}-cn") is not None else UNKNOWN


def warehouse_finding(cluster: StarRocksCluster, observed: Observed) -> Finding | None:
    """What a person has to do before there can be this warehouse."""
    found = obstacle(cluster, observed)
    if found == UNSUPPORTED:
        return Finding(
            reason="WarehouseUnsupported",
            message=f"The frontends of {cluster.frontends_of} do not list the feature {MULTI_WAREHOUSE}: only "
            "enterprise editions of StarRocks have warehouses, in clusters with run_mode = shared_data. Nothing is "
            "made. For more compute nodes without a warehouse use starRocksCnSpec.",
            blocks="membership",
            degraded=True,
        )
    if observed.cluster_problem and cluster.warehouse:
        return Finding(reason="ClusterMissing", message=observed.cluster_problem, blocks="membership", degraded=True)
    return None


def group_of_warehouse(name: str, namespace: str) -> Group:
    """How the pods of the StarRocksWarehouse of this name are named."""
    return Group(namespace=namespace, stateful_set=f"{name}{_WORKLOAD}", service=f"{name}{_WORKLOAD}-search")


def left_behind(cluster: StarRocksCluster, view: FrontendView | None) -> tuple[str, ...]:
    """StarRocksWarehouses of this namespace by the names of their dead compute nodes, whether or not they exist."""
    found = set()
    for row in (view.compute_nodes if view else None) or ():
        labels = row.host.lower().split(".")
        name = labels[1].removesuffix(f"{_WORKLOAD}-search") if len(labels) > 2 else ""
        if name and not row.alive and group_of_warehouse(name, cluster.namespace).ordinal_of_host(row.host) is not None:
            found.add(name)
    return tuple(sorted(found))


def farewell(cluster: StarRocksCluster, observed: Observed) -> Outlook:
    """The next step by which FE forgets the warehouses that are gone: first their nodes, when they are dead."""
    outlook = Outlook()
    for name in observed.departed:
        outlook = outlook.then(_farewell(name, cluster, observed))
    return outlook


def _farewell(name: str, cluster: StarRocksCluster, observed: Observed) -> Outlook:
    warehouse = name.replace("-", "_")
    group = group_of_warehouse(name, cluster.namespace)
    rows = (observed.view.compute_nodes if observed.view else None) or ()
    own = [row for row in rows if group.ordinal_of_host(row.host) is not None]
    if alive := [row for row in own if row.alive]:
        words = f"warehouse {warehouse} was deleted: FE still counts {len(alive)} of its compute nodes as alive"
        return Outlook(waits=(words,))
    step = _forget_node(own[-1], warehouse) if own else _drop(warehouse)
    return Outlook(step=step, waits=(f"warehouse {warehouse} was deleted: FE is told to forget it",))


def _forget_node(row: ComputeRow, warehouse: str) -> Step:
    return Step(
        kind=StepKind.DROP_COMPUTE_NODE,
        target=row.target,
        reason=f"Its StarRocksWarehouse was deleted, and it is dead: warehouse {warehouse} is to be forgotten.",
        reversible=True,
        expects=(("id", row.id), ("alive", "false"), ("within", warehouse)),
    )


def _drop(warehouse: str) -> Step:
    return Step(
        kind=StepKind.DROP_WAREHOUSE,
        target=warehouse,
        reason="Its StarRocksWarehouse was deleted.",
        reversible=False,
        expects=(),
    )


def departed_of(step: Step | None) -> str:
    """The StarRocksWarehouse that is gone, and for whose sake a cluster takes this step; empty: none."""
    if step is None:
        return ""
    warehouse = step.target if step.kind == StepKind.DROP_WAREHOUSE else step.fact("within")
    return warehouse.replace("_", "-")  # names in Kubernetes have no underscores
