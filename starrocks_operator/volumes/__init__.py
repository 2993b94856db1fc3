"""Volumes in the course of time: how they grow, and what becomes of a backend that lost its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from starrocks_operator.decision import Context
from starrocks_operator.membership import Rosters
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.observed import Observed
from starrocks_operator.rollout.roll import Roll
from starrocks_operator.volumes.growth import Growth, growth_of
from starrocks_operator.volumes.left import left_of
from starrocks_operator.volumes.lost import lost_of

__all__ = ["Growth", "volumes_of"]


def volumes_of(
    cluster: StarRocksCluster, observed: Observed, context: Context, rolls: Mapping[str, Roll], rosters: Rosters
) -> Growth:
    """What comes next for the volumes of a cluster."""
    growth = growth_of(cluster, observed, context, rolls)
    left = left_of(observed, rolls)
    lost = lost_of(cluster, observed, context, rosters.be, growth.resting(rolls))
    return replace(growth, outlook=growth.outlook.then(lost).then(left))
