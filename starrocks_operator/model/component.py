"""What can be said about one component: frontends, backends, compute nodes and the frontend proxy."""

from pydantic import Field

from starrocks_operator.model import kubernetes as k8s
from starrocks_operator.model.autoscaling import AutoScalingPolicy
from starrocks_operator.model.base import MAX_ITEMS, MAX_LENGTH, Keywords, Model
from starrocks_operator.model.kubernetes import Int32, Int64, QuantityMap, StringMap
from starrocks_operator.model.service import ServiceSpec
from starrocks_operator.model.volumes import ConfigMapInfo, MountInfo, StorageVolume

_LIST: Keywords = {"maxItems": MAX_ITEMS}
_WORD: Keywords = {"maxLength": 64}
_NOT_NEGATIVE: Keywords = {"minimum": 0}
NUMBER_OF_PODS: Keywords = {"minimum": 0, "maximum": 1000}


class LoadSpec(Model):
    """What every workload has."""

    replicas: Int32 = Field(1, json_schema_extra=NUMBER_OF_PODS)
    """How many pods."""
    image: str = Field("", json_schema_extra={"maxLength": 1024})
    """Container image."""
    image_pull_policy: str | None = Field(None, json_schema_extra=_WORD)
    """Always, IfNotPresent (default) or Never."""
    image_pull_secrets: tuple[k8s.LocalObjectReference, ...] = ()
    """Secrets for pulling the image."""
    requests: QuantityMap = Field(default_factory=dict, json_schema_extra={"maxProperties": MAX_ITEMS})
    """Resources requested, e.g. cpu and memory."""
    limits: QuantityMap = Field(default_factory=dict, json_schema_extra={"maxProperties": MAX_ITEMS})
    """Resource limits, e.g. cpu and memory."""
    claims: tuple[k8s.ResourceClaim, ...] = Field(
        (), json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    )
    """Dynamic resource claims used by the main container."""
    annotations: StringMap = Field(default_factory=dict)
    """Annotations of the pods."""
    shared_labels: StringMap = Field(default_factory=dict)
    """Further labels of every object made for this component."""
    pod_labels: StringMap = Field(default_factory=dict)
    """Further labels of the pods."""
    scheduler_name: str = ""
    """Scheduler of the pods."""
    node_selector: StringMap = Field(default_factory=dict, json_schema_extra={"x-kubernetes-map-type": "atomic"})
    """Labels a node must have."""
    affinity: k8s.Affinity | None = None
    """Affinity of the pods."""
    tolerations: tuple[k8s.Toleration, ...] = ()
    """Taints the pods tolerate."""
    topology_spread_constraints: tuple[k8s.TopologySpreadConstraint, ...] = ()
    """How the pods spread over zones and nodes."""
    service: ServiceSpec | None = None
    """The external Service."""
    storage_volumes: tuple[StorageVolume, ...] = Field((), json_schema_extra=_LIST)
    """Volumes of the pods; without one for metadata or data the pods keep it in an emptyDir and lose it."""
    service_account: str = Field("", json_schema_extra={"maxLength": MAX_LENGTH})
    """ServiceAccount of the pods."""
    config_map_info: ConfigMapInfo | None = None
    """ConfigMap with the configuration file."""
    startup_probe_failure_seconds: Int32 | None = Field(None, json_schema_extra=_NOT_NEGATIVE)
    """Seconds until a start counts as failed; absent: 300; 0 turns the probe off."""
    liveness_probe_failure_seconds: Int32 | None = Field(None, json_schema_extra=_NOT_NEGATIVE)
    """Seconds until a pod counts as dead; absent: 15; 0 turns the probe off."""
    readiness_probe_failure_seconds: Int32 | None = Field(None, json_schema_extra=_NOT_NEGATIVE)
    """Seconds until a pod counts as not ready; absent: 15; 0 turns the probe off."""
    lifecycle: k8s.Lifecycle | None = None
    """postStart and preStop of the main container; the default preStop stops the process gracefully."""
    share_process_namespace: bool | None = None
    """Whether the containers of a pod see each other's processes."""
    priority_class_name: str = ""
    """PriorityClass of the pods."""
    pod_security_context: k8s.Opaque | None = None
    """Fields of a pod's securityContext, laid over those that the operator sets."""
    security_context: k8s.Opaque | None = None
    """Fields of the main container's securityContext, laid over those that the operator sets."""


class DeprecatedProbe(Model):
    """A probe as v1alpha1 had it."""

    type: str = ""
    """tcp or command."""
    initial_delay_seconds: Int32 | None = None
    """Ignored."""
    period_seconds: Int32 | None = None
    """Ignored."""


class ComponentSpec(LoadSpec):
    """Frontends, backends and compute nodes: everything of a workload, and more."""

    env_vars: tuple[k8s.EnvVar, ...] = ()
    """Environment of the main container."""
    run_as_non_root: bool | None = None
    """true: uid, gid and fsGroup 1000."""
    capabilities: k8s.Capabilities | None = None
    """Linux capabilities of the main container."""
    config_maps: tuple[MountInfo, ...] = Field((), json_schema_extra=_LIST)
    """ConfigMaps to mount."""
    config: StringMap = Field(default_factory=dict)
    """Configuration file, by key; instead of configMapInfo."""
    secrets: tuple[MountInfo, ...] = Field((), json_schema_extra=_LIST)
    """Secrets to mount."""
    host_aliases: tuple[k8s.HostAlias, ...] = ()
    """Further lines of /etc/hosts."""
    termination_grace_period_seconds: Int64 | None = Field(None, json_schema_extra=_NOT_NEGATIVE)
    """Seconds between the order to stop and the kill; absent: 120."""
    sidecars: tuple[k8s.Container, ...] = ()
    """Containers beside the main one."""
    init_containers: tuple[k8s.Container, ...] = ()
    """Containers before the main one."""
    dns_config: k8s.PodDNSConfig | None = None
    """DNS settings of the pods."""
    dns_policy: str | None = Field(None, json_schema_extra=_WORD)
    """ClusterFirst (default), ClusterFirstWithHostNet, Default or None."""
    command: tuple[str, ...] = ()
    """Command of the main container, instead of the image's entrypoint."""
    args: tuple[str, ...] = ()
    """Arguments of the main container."""
    update_strategy: k8s.UpdateStrategy | None = None
    """Update strategy of the StatefulSet."""
    read_only_root_filesystem: bool | None = None
    """Whether the main container's root file system is read-only."""
    sysctls: tuple[k8s.Sysctl, ...] = ()
    """Kernel parameters of the pods."""
    persistent_volume_claim_retention_policy: k8s.PersistentVolumeClaimRetentionPolicy | None = None
    """What becomes of claims; absent: they are kept."""
    min_ready_seconds: Int32 | None = Field(None, json_schema_extra=_NOT_NEGATIVE)
    """Seconds a pod must be ready to count as available."""
    pod_management_policy: str | None = Field(None, json_schema_extra=_WORD)
    """Parallel (default) or OrderedReady."""

    name: str | None = None
    """Deprecated, from v1alpha1: ignored."""
    probe: DeprecatedProbe | None = None
    """Deprecated, from v1alpha1: ignored; see the *ProbeFailureSeconds."""
    fs_group: Int64 | None = None
    """Deprecated, from v1alpha1: instead of 1000 in profile safe; see podSecurityContext."""


class FrontendSpec(ComponentSpec):
    """Frontends (FE): the catalogue and the SQL port; one of them leads, a majority must live."""

    env_vars: tuple[k8s.EnvVar, ...] = Field((), alias="feEnvVars")
    """Environment of the frontend container."""


class BackendSpec(ComponentSpec):
    """Backends (BE): they store tablets."""

    env_vars: tuple[k8s.EnvVar, ...] = Field((), alias="beEnvVars")
    """Environment of the backend container."""
    replica_instances: Int32 | None = None
    """Deprecated, from v1alpha1: ignored; replicas counts."""


class ComputeNodeSpec(ComponentSpec):
    """Compute nodes (CN): they compute and store nothing."""

    env_vars: tuple[k8s.EnvVar, ...] = Field((), alias="cnEnvVars")
    """Environment of the compute node container."""
    auto_scaling_policy: AutoScalingPolicy | None = None
    """Lets a HorizontalPodAutoscaler choose the number of compute nodes."""


class FrontendProxySpec(LoadSpec):
    """The HTTP proxy in front of the frontends, for stream load from outside."""

    resolver: str = ""
    """Name server of the proxy; absent: the cluster's."""
