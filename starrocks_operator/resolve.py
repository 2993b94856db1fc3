"""Resolving what building the objects needs besides the CR: profile, replicas, configuration, what must be kept.

Each answer comes from the first source that has one, so that it survives a lost status: the objects in Kubernetes
remember what was decided for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starrocks_operator.components import COMPONENTS
from starrocks_operator.config import Settled, by_policy
from starrocks_operator.decision import NO_CUSTOMS, Context, Customs, Finding
from starrocks_operator.membership.frontend_count import growable_to, is_refused
from starrocks_operator.membership.memory import Memory
from starrocks_operator.model import COMPONENT_NAMES, StarRocksCluster
from starrocks_operator.objects.claim_marks import frontend_claims
from starrocks_operator.objects.debugging import debugged_pods
from starrocks_operator.objects.host_sysctls import host_sysctls_of
from starrocks_operator.objects.metadata import PROFILE
from starrocks_operator.objects.names import stateful_set_name
from starrocks_operator.objects.restarts import restarts_of
from starrocks_operator.objects.sleep import awake_replicas
from starrocks_operator.objects.volumes import Claim
from starrocks_operator.observed import Children, Observed, Raw

PROFILES = ("safe", "upstream")
MOST_REPLICAS = 1000  # the CRD says the same; an older object may ask for more
Workloads = Mapping[str, Raw]


def workloads_of(cluster: StarRocksCluster, children: Children) -> Workloads:
    """The live StatefulSets, by component."""
    found = {name: children.get("StatefulSet", stateful_set_name(cluster, name)) for name in COMPONENT_NAMES}
    return {name: raw for name, raw in found.items() if raw is not None}


def context_of(
    cluster: StarRocksCluster,
    observed: Observed,
    workloads: Workloads,
    *,
    cluster_id: str,
    default_profile: str,
    domain: str,
    customs: Customs = NO_CUSTOMS,
    settled: Mapping[str, Settled] | None = None,
) -> Context:
    """The context with every component that the cluster has, before any gate is asked."""
    components: list[str] = list(cluster.spec.components)
    if cluster.spec.cn is not None and cluster.spec.cn.auto_scaling_policy is not None:
        components.append("hpa")
    if cluster.spec.fe_proxy is not None:
        components.append("fe_proxy")
    specs = {name: _spec(raw) for name, raw in workloads.items()}
    configurations = observed.configurations
    profile = profile_of(cluster, workloads, default=default_profile)
    ours = by_policy(cluster, settled or {}, profile)
    return Context(
        profile=profile,
        components=tuple(components),
        replicas=_grown(cluster, observed, workloads),
        cluster_id=cluster_id,
        properties={name: dict(configurations[name].properties) for name in sorted(configurations)},
        service_names={name: spec["serviceName"] for name, spec in specs.items() if spec.get("serviceName")},
        pod_management={
            name: spec["podManagementPolicy"] for name, spec in specs.items() if spec.get("podManagementPolicy")
        },
        frontend_claims=tuple(claim["metadata"]["name"] for claim in frontend_claims(cluster, observed.children)),
        claim_sizes={
            name: {claim.name: claim.size for claim in map(Claim.of, templates) if claim.size}
            for name, spec in specs.items()
            if (templates := spec.get("volumeClaimTemplates"))
        },
        wished=wished_of(cluster, workloads),
        domain=domain,
        customs=customs,
        live={name: live for name, raw in workloads.items() if (live := live_replicas(raw)) is not None},
        memory=Memory.of(cluster, observed.children).lines,
        restarts=restarts_of(cluster, workloads, observed.now),
        debugged=debugged_pods(cluster),
        host_sysctls=host_sysctls_of(cluster, workloads) if profile == "safe" else {},
        configurations={name: one.inline for name, one in ours.items() if one.inline},
        files={name: {"base": one.base, "now": one.now} for name, one in ours.items() if one.base and not one.inline},
        accepted={name: one.accepted for name, one in ours.items() if one.inline or one.base},
    )


def profile_of(cluster: StarRocksCluster, workloads: Workloads, *, default: str) -> str:
    """The owner's word; else what was decided before; else upstream for a StatefulSet that another operator made."""
    asked = cluster.annotations.get(PROFILE, "")
    if asked in PROFILES:
        return asked
    for name in COMPONENT_NAMES:  # the frontends' word first; if their StatefulSet is gone, the others remember
        if (workload := workloads.get(name)) is not None and not COMPONENTS[name].always_safe:
            recorded = (workload["metadata"].get("annotations") or {}).get(PROFILE, "")
            return recorded if recorded in PROFILES else "upstream"
    return default


def profile_finding(cluster: StarRocksCluster) -> Finding | None:
    asked = cluster.annotations.get(PROFILE)
    if asked is None or asked in PROFILES:
        return None
    return Finding(
        reason="UnknownProfile",
        message=f"The annotation {PROFILE} is {asked[:40]!r}; it may be {' or '.join(PROFILES)}. It is ignored.",
        remark=True,
    )


def replicas_of(cluster: StarRocksCluster, workloads: Workloads, children: Children) -> dict[str, int]:
    """The replicas each StatefulSet shall have: never fewer than it has. Only a step of the membership takes one
    away, when its member may go; from then on this follows. Where there is none, it adopts all pods that are there."""
    replicas = {}
    for name, count in wished_of(cluster, workloads).items():
        live = standing_replicas(workloads.get(name))
        replicas[name] = max(count, _pods_up_to(cluster, name, children) if live is None else live)
    return replicas


def _grown(cluster: StarRocksCluster, observed: Observed, workloads: Workloads) -> dict[str, int]:
    """The same, with frontends and observers only as far as their volumes allow."""
    replicas = replicas_of(cluster, workloads, observed.children)
    for name, workload in workloads.items():
        live = standing_replicas(workload)
        if COMPONENTS[name].process == "fe" and live is not None and replicas[name] > live:
            replicas[name] = growable_to(cluster, observed, workload, live=live, wished=replicas[name], component=name)
    return replicas


def wished_of(cluster: StarRocksCluster, workloads: Workloads) -> dict[str, int]:
    """The replicas that the spec asks for. An orphaned component keeps what it has."""
    wished: dict[str, int] = {}
    for name in COMPONENT_NAMES:
        spec, live = cluster.spec.component(name), standing_replicas(workloads.get(name))
        if name == "fe" and live is not None and is_refused(cluster, live):
            wished[name] = live
        elif spec is not None:
            wished[name] = max(min(spec.replicas, MOST_REPLICAS), 0)
        elif live is not None:
            wished[name] = live
    return wished


def _pods_up_to(cluster: StarRocksCluster, name: str, children: Children) -> int:
    """One more than the highest ordinal among the component's pods: a new StatefulSet adopts them all."""
    prefix = f"{stateful_set_name(cluster, name)}-"
    names = (raw["metadata"]["name"] for raw in children.of_kind("Pod"))
    ordinals = (pod.removeprefix(prefix) for pod in names if pod.startswith(prefix))
    return max((int(ordinal) + 1 for ordinal in ordinals if ordinal.isdecimal()), default=0)


def live_replicas(workload: Raw | None) -> int | None:
    """What the StatefulSet's spec says; 1 is Kubernetes' default."""
    return None if workload is None else int(_spec(workload).get("replicas", 1))


def standing_replicas(workload: Raw | None) -> int | None:
    """The same, and while it sleeps what it had before: all of these come back."""
    asleep = awake_replicas(workload)
    return live_replicas(workload) if asleep is None else asleep


def _spec(workload: Raw) -> Mapping[str, Any]:
    return workload.get("spec") or {}
