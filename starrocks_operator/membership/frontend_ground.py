"""What the frontends' table stands on, gathered from the cluster, its status and what was seen."""

from __future__ import annotations

from datetime import datetime, timedelta

from starrocks_operator.decision import Context
from starrocks_operator.membership.frontend_count import known_frontends
from starrocks_operator.membership.frontend_table import Ground
from starrocks_operator.membership.memory import Memory
from starrocks_operator.membership.slots import DEFAULT_GRACE
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.names import stateful_set_name
from starrocks_operator.observed import FrontendView, Observed


def frontend_ground(
    cluster: StarRocksCluster,
    observed: Observed,
    context: Context,
    *,
    view: FrontendView,
    since: datetime | None,
    grace: timedelta = DEFAULT_GRACE,
    component: str = "fe",
) -> Ground:
    """component: the group of frontends that is asked about, `fe` or `fe-observer`."""
    return Ground(
        now=observed.now,
        view=view,
        since=since,
        grace=grace,
        known=known_frontends(Memory.of(cluster, observed.children)),
        claims={raw["metadata"]["name"]: raw for raw in observed.children.of_kind("PersistentVolumeClaim")},
        workload=observed.children.get("StatefulSet", stateful_set_name(cluster, component)),
        meta_dir=(context.properties.get(component) or {}).get("meta_dir", ""),
    )
