"""All objects of a cluster, by component, in the order in which they are applied."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import cast

from starrocks_operator.components import COMPONENTS, Component
from starrocks_operator.decision import WAREHOUSE, Context
from starrocks_operator.model import ComponentName, ComponentSpec, StarRocksCluster
from starrocks_operator.objects.autoscaler import autoscaler
from starrocks_operator.objects.claim_marks import claim_mark
from starrocks_operator.objects.config_maps import marker
from starrocks_operator.objects.debugging import debug_list
from starrocks_operator.objects.disruption_budget import disruption_budget
from starrocks_operator.objects.former import former
from starrocks_operator.objects.frontend_proxy import frontend_proxy
from starrocks_operator.objects.inline_configuration import inline_config_map, inline_name
from starrocks_operator.objects.metadata import Object
from starrocks_operator.objects.names import pod_name
from starrocks_operator.objects.pod_scripts import scripts, scripts_in
from starrocks_operator.objects.services import external_service, headless_service
from starrocks_operator.objects.stateful_set import stateful_set


def build(cluster: StarRocksCluster, context: Context) -> dict[str, tuple[Object, ...]]:
    """The objects of every component in context.components; none for a component that the cluster does not have."""
    return {name: tuple(_objects(cluster, name, context)) for name in context.components}


def objects_of(cluster: StarRocksCluster, context: Context, component: str) -> tuple[Object, ...]:
    """What the role of this name applies; a warehouse has one role for all that it is."""
    built = build(cluster, context)
    return tuple(chain.from_iterable(built.values())) if component == WAREHOUSE else built.get(component, ())


def _objects(cluster: StarRocksCluster, name: str, context: Context) -> Iterator[Object]:
    if name == "hpa":
        policy = cluster.spec.cn.auto_scaling_policy if cluster.spec.cn else None
        if policy is not None:
            yield autoscaler(cluster, policy)
        return
    if name == "fe_proxy":
        if cluster.spec.fe_proxy is not None:
            yield from frontend_proxy(cluster, cluster.spec.fe_proxy, context)
        return
    spec = cluster.spec.components.get(cast(ComponentName, name))
    if spec is not None:
        yield from _workload(cluster, COMPONENTS[name], spec, context)


def _workload(
    cluster: StarRocksCluster, component: Component, spec: ComponentSpec, context: Context
) -> Iterator[Object]:
    """What pods need comes before the StatefulSet that makes them."""
    name = component.name
    properties = context.properties.get(name, {})
    safe = context.profile == "safe" or component.always_safe
    if name == "fe":
        leaving = _leaving_frontends(cluster, context)
        yield marker(cluster, context.cluster_id, leaving=leaving, memory=context.memory)
    workload = stateful_set(cluster, component, spec, context)
    if safe:
        yield from _for_scripts(cluster, component, context, workload)
    if (mounted := context.configurations.get(name)) and mounted == inline_name(cluster, component, spec):
        yield inline_config_map(cluster, component, spec)
    yield headless_service(cluster, component, spec, properties, name=context.service_names.get(name, ""))
    yield external_service(cluster, component, spec, properties)
    if document := context.formers.get(name):
        yield former(cluster, name, document)
    yield workload
    budget = disruption_budget(cluster, component, context.replicas.get(name, spec.replicas)) if safe else None
    if budget is not None:
        yield budget
    if name == "fe" and context.cluster_id:
        yield from (claim_mark(cluster, claim, context.cluster_id) for claim in context.frontend_claims)


def _for_scripts(
    cluster: StarRocksCluster, component: Component, context: Context, workload: Object
) -> Iterator[Object]:
    """What this release would mount into new pods; not where their template is kept, and mounts what it did before."""
    ours = scripts(cluster, component)
    if component.name not in context.kept or scripts_in(workload["spec"]["template"]) == ours["metadata"]["name"]:
        yield ours
    if names := context.debugged.get(component.name):
        yield debug_list(cluster, component, names)


def _leaving_frontends(cluster: StarRocksCluster, context: Context) -> tuple[str, ...]:
    return tuple(
        pod_name(cluster, name, ordinal)
        for name, live in sorted(context.live.items())
        if COMPONENTS[name].process == "fe"
        for ordinal in range(context.wished.get(name, live), live)
    )
