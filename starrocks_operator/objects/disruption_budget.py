"""PodDisruptionBudgets: a drain takes one frontend or backend at a time, never two."""

from __future__ import annotations

from starrocks_operator.components import Component
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.metadata import Object, labels, make_object, selector
from starrocks_operator.objects.names import disruption_budget_name


def disruption_budget(cluster: StarRocksCluster, component: Component, replicas: int) -> Object | None:
    """None for a component of one pod: a budget would only block the drain of its node for ever.

    Pods that are not healthy anyway may always be evicted.
    """
    if not component.disruption_budget or replicas < 2:
        return None
    return make_object(
        cluster,
        api_version="policy/v1",
        kind="PodDisruptionBudget",
        name=disruption_budget_name(cluster, component.name),
        labels=labels(cluster, component.name),
        spec={
            "maxUnavailable": 1,
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
            "selector": {"matchLabels": selector(cluster, component.name)},
        },
    )
