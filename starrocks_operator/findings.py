"""What a person should know about a cluster, told from the CR and its objects alone; membership adds its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from starrocks_operator import restore
from starrocks_operator.components import COMPONENTS
from starrocks_operator.config import Settled, file_findings
from starrocks_operator.decision import Context, Finding
from starrocks_operator.membership import pods_of
from starrocks_operator.membership.frontend_count import refusal
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.observed import Observed
from starrocks_operator.protection import protection_finding
from starrocks_operator.recall import Recall
from starrocks_operator.resolve import Workloads, live_replicas, profile_finding

_broken: Recall[tuple[str, ...]] = Recall(1024)


def blocking_everything(cluster: StarRocksCluster) -> tuple[Finding, ...]:
    """The rules again, for objects that are older than the rules."""
    broken = _broken.get(
        cluster.uid,
        (cluster.key, cluster.spec),
        lambda: tuple(str(violation) for violation in cluster.broken_rules()),
    )
    if not broken:
        return ()
    message = f"Nothing is applied until the spec is corrected: {' '.join(broken)}"
    return (Finding(reason="InvalidSpec", message=message[:2000], blocks="everything", degraded=True),)


def standing_findings(cluster: StarRocksCluster, observed: Observed, workloads: Workloads) -> tuple[Finding, ...]:
    """Findings of the CR and its objects."""
    found = [
        refusal(cluster, live_replicas(workloads.get("fe"))),
        *_orphans(cluster, workloads),
        *_missing_references(observed),
        profile_finding(cluster),
        protection_finding(cluster, observed),
        restore.remark(cluster),
    ]
    return tuple(finding for finding in found if finding is not None)


def configuration_findings(
    cluster: StarRocksCluster, observed: Observed, settled: Mapping[str, Settled], context: Context
) -> tuple[Finding, ...]:
    """Configurations that are not taken, and files whose change waits for a person."""
    refused = (
        Finding(reason="ConfigurationRefused", message=f"{one.refusal} What is in force stays.", degraded=True)
        for one in settled.values()
        if one.refusal
    )
    return (*refused, *file_findings(cluster, settled, pods_of(observed.children), context.profile))


def _orphans(cluster: StarRocksCluster, workloads: Workloads) -> Iterator[Finding]:
    for name in workloads:
        if name not in cluster.spec.components and live_replicas(workloads[name]):
            entry = COMPONENTS[name]
            yield Finding(
                reason="ComponentOrphaned",
                message=f"{entry.spec_field} was removed from the spec; the {entry.title}s, their StatefulSet, "
                "Services and volumes stay as they are. Put it back, or delete them by hand.",
            )


def _missing_references(observed: Observed) -> Iterator[Finding]:
    for reference in observed.missing_references:
        kind = reference.replace("/", " ").partition(" ")[0]
        yield Finding(
            reason=f"{kind}Missing" if kind in ("ConfigMap", "Secret") else "ReferenceMissing",
            message=f"{reference} does not exist, and pods that need it cannot start. Create it in this namespace.",
            degraded=True,
        )
    for name, configuration in observed.configurations.items():
        if configuration.missing and configuration.missing not in observed.missing_references:
            yield Finding(
                reason="ConfigMapMissing",
                message=f"The configuration of {COMPONENTS[name].title}s cannot be read: {configuration.missing} does "
                "not exist. Without it the ports are unknown: nothing that depends on them is applied.",
                blocks="membership",
                degraded=True,
            )
