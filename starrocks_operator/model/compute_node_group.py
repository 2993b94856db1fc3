"""ComputeNodeGroup: compute nodes in Kubernetes for a StarRocks whose frontends are elsewhere.

The objects are made by the builder of StarRocksCluster: `as_cluster` is the group as a cluster that has compute nodes
and nothing else.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from starrocks_operator.model import kubernetes as k8s
from starrocks_operator.model.autoscaling import AutoScalingPolicy
from starrocks_operator.model.base import MAX_ITEMS, REQUIRED, Keywords, Model
from starrocks_operator.model.cluster import (
    GROUP,
    Resource,
    StarRocksCluster,
    StarRocksClusterSpec,
)
from starrocks_operator.model.component import NUMBER_OF_PODS, ComputeNodeSpec
from starrocks_operator.model.kubernetes import Int32, QuantityMap, StringMap
from starrocks_operator.model.status import Condition, NextStep

GROUP_KIND = "ComputeNodeGroup"
GROUP_PLURAL = "computenodegroups"
GROUP_VERSION = "v1alpha1"
GROUP_API = f"{GROUP}/{GROUP_VERSION}"
FINALIZER = "starrocks.com/compute-nodes-leave"
DEFAULT_QUERY_PORT = 9030
MOST_NODES = 1000

_NAME: Keywords = {"maxLength": 253}
_IMAGE: Keywords = {"minLength": 1, "maxLength": 1024}
_ADDRESS: Keywords = {"maxItems": 16, "minItems": 1, "items": {"type": "string", "minLength": 1, "maxLength": 261}}


class FrontendInfo(Model):
    """The frontends that the compute nodes belong to."""

    addresses: tuple[str, ...] = Field((), json_schema_extra=_ADDRESS | REQUIRED)
    """Frontends as host:query_port; without a port: 9030. Name all of them: queries are kept off a node at each."""
    account_secret: str = Field("", json_schema_extra=_NAME)
    """Secret with the keys username (absent: root) and password of an account that may change the system."""


class ConfigMapKey(Model):
    """Where cn.conf is."""

    name: str = Field("", json_schema_extra=_NAME)
    """ConfigMap."""
    key: str = Field("cn.conf", json_schema_extra=_NAME)
    """Key in it."""


class ComputeNodeGroupSpec(Model):
    """The compute nodes that are wanted."""

    fe_info: FrontendInfo = Field(default_factory=FrontendInfo, json_schema_extra=REQUIRED)
    """The frontends that the compute nodes belong to."""
    cn_image: str = Field("", json_schema_extra=_IMAGE | REQUIRED)
    """Image with the compute node."""
    components_image: str = Field("", json_schema_extra={"maxLength": 1024})
    """Ignored: the operator itself registers and removes compute nodes."""
    replicas: Int32 = Field(1, json_schema_extra=NUMBER_OF_PODS)
    """How many compute nodes. With autoScalingPolicy, the autoscaler writes it: leave it out."""
    command: tuple[str, ...] = Field((), json_schema_extra={"maxItems": MAX_ITEMS})
    """Start script in the image, as an absolute path; absent: /opt/starrocks/cn/bin/start_cn.sh."""
    args: tuple[str, ...] = Field((), json_schema_extra={"maxItems": MAX_ITEMS})
    """Arguments of the start script."""
    env_vars: tuple[k8s.EnvVar, ...] = Field((), alias="cnEnvVars")
    """Environment of the container."""
    config: ConfigMapKey | None = None
    """ConfigMap with cn.conf."""
    image_pull_policy: str | None = Field(None, json_schema_extra={"maxLength": 64})
    """Always, IfNotPresent (default) or Never."""
    image_pull_secrets: tuple[k8s.LocalObjectReference, ...] = ()
    """Secrets for pulling the image."""
    requests: QuantityMap = Field(default_factory=dict, json_schema_extra={"maxProperties": MAX_ITEMS})
    """Resources requested; an autoscaler needs them."""
    limits: QuantityMap = Field(default_factory=dict, json_schema_extra={"maxProperties": MAX_ITEMS})
    """Resource limits."""
    pod_labels: StringMap = Field(default_factory=dict)
    """Further labels of the pods."""
    annotations: StringMap = Field(default_factory=dict)
    """Annotations of the pods."""
    service_account: str = Field("", json_schema_extra=_NAME)
    """ServiceAccount of the pods."""
    node_selector: StringMap = Field(default_factory=dict)
    """Labels a node must have."""
    affinity: k8s.Affinity | None = None
    """Affinity of the pods."""
    tolerations: tuple[k8s.Toleration, ...] = ()
    """Taints the pods tolerate."""
    auto_scaling_policy: AutoScalingPolicy | None = None
    """Lets a HorizontalPodAutoscaler choose the number of compute nodes."""

    @property
    def wished(self) -> int:
        """How many compute nodes there shall be."""
        return max(0, min(self.replicas, MOST_NODES))


class GroupMember(Model):
    """A compute node of ours in FE."""

    pod: str
    """Its pod."""
    address: str
    """By which FE knows it: the pod's address and the heartbeat port."""
    id: str = ""
    """FE's number for it; empty: FE has not shown it yet."""
    alive: bool | None = None
    """Whether FE reaches it; absent: not known."""
    state: str = ""
    """joining, joined, leaving or gone."""
    since: str = ""
    """Since when it is leaving."""


class ComputeNodeGroupStatus(Model):
    """The compute nodes that are there."""

    phase: str = ""
    """running, reconciling, failed or deleting."""
    reason: str = ""
    """What it waits for, or what is wrong."""
    observed_generation: k8s.Int64 = 0
    """Generation of the spec that this is about."""
    replicas: Int32 = 0
    """Pods that are there."""
    ready_replicas: Int32 = 0
    """Compute nodes that FE reaches."""
    selector: str = ""
    """Labels of the pods, for the autoscaler."""
    members: tuple[GroupMember, ...] = ()
    """What is registered in FE on behalf of this group, and nothing else is ever removed there."""
    next_step: NextStep | None = None
    """The step to be taken in FE next."""
    conditions: tuple[Condition, ...] = Field(
        (), json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}
    )
    """Ready, FrontendsReachable and Degraded."""
    notes: tuple[str, ...] = ()
    """What is accepted and ignored."""


class ComputeNodeGroup(Resource):
    """Compute nodes for a StarRocks whose frontends are elsewhere."""

    api_version: str = GROUP_API
    kind: str = GROUP_KIND
    spec: ComputeNodeGroupSpec = ComputeNodeGroupSpec()
    status: ComputeNodeGroupStatus | None = None

    def as_cluster(self) -> StarRocksCluster:
        """The same as a cluster of compute nodes alone, for the builder."""
        spec = self.spec
        asked: dict[str, Any] = {
            "replicas": spec.wished,
            "image": spec.cn_image,
            "command": spec.command,
            "args": spec.args,
            "env_vars": spec.env_vars,
            "image_pull_policy": spec.image_pull_policy,
            "image_pull_secrets": spec.image_pull_secrets,
            "requests": spec.requests,
            "limits": spec.limits,
            "pod_labels": spec.pod_labels,
            "annotations": spec.annotations,
            "service_account": spec.service_account,
            "node_selector": spec.node_selector,
            "affinity": spec.affinity,
            "tolerations": spec.tolerations,
            "auto_scaling_policy": spec.auto_scaling_policy,
        }
        if spec.config is not None and spec.config.name:
            asked["config_map_info"] = {"configMapName": spec.config.name, "resolveKey": spec.config.key}
        return StarRocksCluster(
            api_version=GROUP_API,
            kind=GROUP_KIND,
            metadata=self.metadata,
            spec=StarRocksClusterSpec(cn=ComputeNodeSpec(**asked)),
        )
