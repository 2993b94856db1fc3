"""The slots of a whole cluster: names, ports and replicas from the cluster and its context, rows from FE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from starrocks_operator.components import COMPONENTS
from starrocks_operator.decision import Context
from starrocks_operator.membership.hosts import Group
from starrocks_operator.membership.pods import Pod
from starrocks_operator.membership.slots import R, Roster, roster
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.configuration import port_of
from starrocks_operator.objects.names import CLUSTER_DOMAIN, headless_service_name, stateful_set_name
from starrocks_operator.observed import Children, ComputeRow, FrontendRow, FrontendView


@dataclass(frozen=True, kw_only=True)
class Rosters:
    """All slots of a cluster. Without an answer of FE the slots have no rows: see `FrontendView`."""

    fe: Roster[FrontendRow]
    observers: Roster[FrontendRow]
    be: Roster[ComputeRow]
    cn: Roster[ComputeRow]


def group_of(cluster: StarRocksCluster, component: str, context: Context) -> Group:
    """How the pods of a component are named; an adopted StatefulSet keeps its governing Service."""
    return Group(
        namespace=cluster.namespace,
        stateful_set=stateful_set_name(cluster, component),
        service=context.service_names.get(component) or headless_service_name(cluster, component),
    )


def _frontends_joined(cluster: StarRocksCluster, context: Context) -> Group:
    if not cluster.warehouse:
        return group_of(cluster, "fe", context)
    name = f"{cluster.frontends_of}-fe"
    return Group(namespace=cluster.namespace, stateful_set=name, service=f"{name}-search")


def member_port(component: str, context: Context) -> int:
    """The port by which FE knows a member of this component."""
    entry = COMPONENTS[component]
    return port_of(entry, entry.member_port, context.properties.get(component) or {})


def pods_of(children: Children) -> dict[str, Pod]:
    """The cluster's pods by name."""
    return {raw["metadata"]["name"]: Pod.of(raw) for raw in children.of_kind("Pod")}


def rosters_of(
    cluster: StarRocksCluster, context: Context, pods: Mapping[str, Pod], view: FrontendView | None
) -> Rosters:
    """The slots of every component, in the cluster domain in which FE knows its own frontends."""
    frontends = (view.frontends if view else None) or ()
    theirs = _frontends_joined(cluster, context)
    domain = next((found for row in frontends if (found := theirs.domain_of_host(row.host))), CLUSTER_DOMAIN)

    def of(component: str, rows: tuple[R, ...]) -> Roster[R]:
        return roster(
            component=component,
            group=group_of(cluster, component, context),
            replicas=context.wished.get(component, 0),
            live=context.live.get(component),
            port=member_port(component, context),
            pods=pods,
            rows=rows,
            domain=domain,
        )

    observers = of("fe-observer", frontends)
    return Rosters(
        fe=of("fe", observers.foreign),  # who is no observer of ours is a frontend, ours or foreign
        observers=replace(observers, foreign=()),
        be=of("be", (view.backends if view else None) or ()),
        cn=of("cn", (view.compute_nodes if view else None) or ()),
    )
