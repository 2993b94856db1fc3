"""The objects of a ComputeNodeGroup: the builder of StarRocksCluster, with what differs taken from the table."""

from __future__ import annotations

from collections.abc import Mapping

from starrocks_operator.components import CN_GROUP
from starrocks_operator.decision import Context
from starrocks_operator.model import ComputeNodeGroup
from starrocks_operator.objects.autoscaler import autoscaler
from starrocks_operator.objects.metadata import Object
from starrocks_operator.objects.services import headless_service
from starrocks_operator.objects.stateful_set import stateful_set

PART = "compute-node-group"
"""What the role that applies these objects is called in a decision."""


def build_group(group: ComputeNodeGroup, *, replicas: int, properties: Mapping[str, str]) -> tuple[Object, ...]:
    """replicas: the pods that there shall be: more than wished for while compute nodes leave. properties: cn.conf."""
    cluster = group.as_cluster()
    spec, policy = cluster.spec.cn, group.spec.auto_scaling_policy
    if spec is None:  # as_cluster always gives one; said for the type checker
        return ()
    name = CN_GROUP.name
    context = Context(
        profile="upstream", components=(name,), replicas={name: replicas}, properties={name: dict(properties)}
    )
    service = headless_service(cluster, CN_GROUP, spec, properties)
    made = (service, stateful_set(cluster, CN_GROUP, spec, context))
    return (*made, autoscaler(cluster, policy)) if policy is not None else made


def build_of(group: ComputeNodeGroup, context: Context) -> dict[str, tuple[Object, ...]]:
    """The same as a decision's context says."""
    replicas, properties = context.replicas[CN_GROUP.name], context.properties.get(CN_GROUP.name, {})
    return {PART: build_group(group, replicas=replicas, properties=properties)}
