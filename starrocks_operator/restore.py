"""`disasterRecovery`: the official operator restores a cluster from a snapshot with it; this one never does.

What it must not do either is to get in the way: a restore that was begun is left to whoever began it, and a resource
that asks for its data back is never answered with a new, empty cluster.
"""

from __future__ import annotations

from starrocks_operator.decision import Finding
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.observed import Observed

_BEGUN = ("todo", "doing")


def hindrance(cluster: StarRocksCluster, observed: Observed, *, founded: bool) -> Finding | None:
    """Why nothing may be applied; None: nothing stands in the way. founded: there are frontends, or there were."""
    if not _is_due(cluster) or not _shares_data(observed):
        return None
    if (phase := _phase(cluster)) in _BEGUN:
        return Finding(
            reason="RestoreUnderWay",
            message=f"Another operator began to restore this cluster, and its phase is {phase}. Nothing is applied "
            "until it is done: let that operator finish, or set disasterRecovery.enabled to false to give it up.",
            blocks="everything",
            degraded=True,
        )
    if founded:
        return None
    return Finding(
        reason="RestoreNotSupported",
        message="disasterRecovery asks for a restore, which this operator does not do, and a cluster founded now would "
        "be empty. Let the official operator restore it and hand it over when that is done, or set "
        "disasterRecovery.enabled to false to begin without data.",
        blocks="everything",
        degraded=True,
    )


def remark(cluster: StarRocksCluster) -> Finding | None:
    """What is said of a cluster that has its frontends and asks for a restore: it is not done."""
    if not _is_due(cluster):
        return None
    return Finding(
        reason="FieldNotActedUpon",
        message="disasterRecovery is accepted and not acted upon yet.",
        remark=True,
    )


def _is_due(cluster: StarRocksCluster) -> bool:
    """As the official operator judges it: not yet done for this generation."""
    wish = cluster.spec.disaster_recovery
    if wish is None or not wish.enabled:
        return False
    told = cluster.status.disaster_recovery_status if cluster.status else None
    reached = (told.observed_generation or 0) if told else -1
    return wish.generation > reached or (wish.generation == reached and _phase(cluster) != "done")


def _phase(cluster: StarRocksCluster) -> str:
    told = cluster.status.disaster_recovery_status if cluster.status else None
    return (told.phase or "") if told else ""


def _shares_data(observed: Observed) -> bool:
    """Only such clusters have snapshots to be restored from."""
    file = observed.configurations.get("fe")
    return file is not None and "shared_data" in file.properties.get("run_mode", "")
