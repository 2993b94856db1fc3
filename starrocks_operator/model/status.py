"""Status of a StarRocksCluster: everything the official operator reports, and what an owner asks next.

`phase` is required wherever the official CRD requires it. Timestamps are RFC 3339 strings.
"""

from pydantic import Field

from starrocks_operator.model.base import REQUIRED, Keywords, Model
from starrocks_operator.model.kubernetes import Int32, Int64, Opaque

_SET_OF_TYPES: Keywords = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}
_TIME: Keywords = {"format": "date-time"}


class Condition(Model):
    """One judgement about the cluster: Ready, Progressing, Degraded or QuorumSafe."""

    type: str
    """What is judged."""
    status: str = Field("", json_schema_extra=REQUIRED | {"enum": ["True", "False", "Unknown"]})
    """True, False or Unknown."""
    reason: str = ""
    """Why, in one word."""
    message: str = ""
    """Why, in a sentence."""
    observed_generation: Int64 = 0
    """The generation that was judged."""
    last_transition_time: str | None = Field(None, json_schema_extra=_TIME)
    """When the status last changed."""


class Member(Model):
    """A member of the cluster: as the frontends see it, and the pod that runs it."""

    kind: str = Field("", json_schema_extra={"enum": ["frontend", "backend", "computeNode"]})
    """frontend, backend or computeNode."""
    name: str = ""
    """The pod; empty when no pod of this cluster has that host."""
    host: str = ""
    """The host it is registered by."""
    id: str | None = None
    """Its id: a node name for frontends, a number otherwise."""
    role: str | None = None
    """LEADER, FOLLOWER or OBSERVER; frontends only."""
    alive: bool | None = None
    """Whether the frontends count it as alive."""
    joined: bool | None = None
    """Whether it is registered."""
    version: str | None = None
    """The StarRocks version it reports."""
    start_time: str | None = None
    """When it last started, as it reports."""
    tablets: Int64 | None = None
    """Tablets on it; backends only."""
    state: str | None = None
    """Where it stands, in one word."""
    leaving_since: str | None = Field(None, json_schema_extra=_TIME)
    """Since when it is no longer wanted."""
    ordered_by: str | None = None
    """operator: it is this operator that told the frontends to take it out; written before they are told."""
    ordered_at: str | None = Field(None, json_schema_extra=_TIME)
    """When that was written."""
    tablets_left: Int64 | None = None
    """Tablets that it still has to give away."""
    tablets_per_minute: Int64 | None = None
    """How fast it does."""
    progress_at: str | None = Field(None, json_schema_extra=_TIME)
    """When there was one fewer for the last time."""
    estimated_end: str | None = Field(None, json_schema_extra=_TIME)
    """When it will have given away all, at that rate."""
    message: str | None = None
    """What is wrong with it, in a sentence."""


class Bootstrap(Model):
    """The founding of the cluster: after it, no frontend ever founds another one."""

    cluster_id: str = ""
    """The cluster id that the frontends agreed on."""
    at: str | None = Field(None, json_schema_extra=_TIME)
    """When it was first seen."""


class ProtectionStatus(Model):
    """What there is for deletionProtection."""

    policies: str = Field("", json_schema_extra={"enum": ["present", "absent", "unknown"]})
    """Whether the admission policies are installed."""
    namespace: str = Field("", json_schema_extra={"enum": ["labelled", "unlabelled", "unknown"]})
    """Whether the namespace is labelled starrocks.com/deletion-protection=true."""


class HeldSetting(Model):
    """A setting of the frontends that is changed while members leave, and restored after it."""

    name: str = ""
    """Its key."""
    was: str = ""
    """The value to be restored."""
    since: str | None = Field(None, json_schema_extra=_TIME)
    """When it was changed."""


class AccountsStatus(Model):
    """Where the passwords came from, and in which version, that FE last accepted."""

    root: str | None = None
    """Root's."""
    operator: str | None = None
    """The operator's own account's."""


class NextStep(Model):
    """The recorded next step: it is decided again, and is the same, before it is taken."""

    kind: str = ""
    """What kind of step."""
    target: str = ""
    """What it is taken on."""
    reason: str = ""
    """Why, in a sentence."""
    hash: str = ""
    """Fingerprint of the step and of what it expects."""
    reversible: bool = False
    """Whether it can be taken back."""
    recorded_at: str | None = Field(None, json_schema_extra=_TIME)
    """When it was recorded."""


class Reconcile(Model):
    """The last run that changed something."""

    fingerprint: str = ""
    """Fingerprint of the objects that were applied."""
    last_run_at: str | None = Field(None, json_schema_extra=_TIME)
    """When it ended."""
    result: str | None = None
    """Whether it succeeded."""
    message: str | None = None
    """What failed, in a sentence."""
    failures: Int32 | None = None
    """How many runs in a row have failed."""


class HorizontalScaler(Model):
    """The HorizontalPodAutoscaler of the compute nodes."""

    name: str = ""
    """Its name."""
    version: str = ""
    """The version of its API."""


class ComponentStatus(Model):
    """One component, as the official operator reports it, and its pod template's profile."""

    phase: str = Field("", json_schema_extra=REQUIRED)
    """running, reconciling or failed."""
    reason: str | None = None
    """Why, in a sentence."""
    service_name: str | None = None
    """The external Service."""
    running_instances: tuple[str, ...] | None = None
    """Pods that are ready."""
    creating_instances: tuple[str, ...] | None = None
    """Pods that are on their way."""
    failed_instances: tuple[str, ...] | None = None
    """Pods that fail."""
    resource_names: tuple[str, ...] | None = None
    """The workload."""
    profile: str | None = None
    """upstream: pod templates as the official operator makes them; safe: our own."""
    ready_replicas: Int32 | None = None
    """Pods that are ready, counted."""


class ComputeNodeStatus(ComponentStatus):
    """Compute nodes: also what the scale subresource shows to the HorizontalPodAutoscaler."""

    hpa_name: str | None = None
    """Deprecated: see horizontalScaler."""
    horizontal_scaler: HorizontalScaler | None = None
    """The HorizontalPodAutoscaler."""
    replicas: Int32 | None = None
    """Pods that exist."""
    selector: str | None = None
    """Label selector of the pods."""


class DisasterRecoveryStatus(Model):
    """A restore from a cluster snapshot."""

    phase: str | None = None
    """todo, doing or done."""
    reason: str | None = None
    """Why, in a sentence."""
    start_timestamp: Int64 | None = None
    """When it began (Unix time)."""
    end_timestamp: Int64 | None = None
    """When it ended (Unix time)."""
    observed_generation: Int64 | None = None
    """The generation of disasterRecovery that was restored."""


class StarRocksClusterStatus(Model):
    """The cluster that is there."""

    phase: str = Field("", json_schema_extra=REQUIRED)
    """running, reconciling or failed."""
    reason: str | None = None
    """Why, in a sentence."""
    observed_generation: Int64 | None = None
    """The generation that this status speaks of."""
    conditions: tuple[Condition, ...] = Field((), json_schema_extra=_SET_OF_TYPES)
    """Ready, Progressing, Degraded and QuorumSafe."""
    version: str | None = None
    """The StarRocks version of the leader."""
    fe: ComponentStatus | None = Field(None, alias="starRocksFeStatus")
    """Frontends."""
    fe_observer: ComponentStatus | None = Field(None, alias="starRocksFeObserverStatus")
    """Observers."""
    be: ComponentStatus | None = Field(None, alias="starRocksBeStatus")
    """Backends."""
    cn: ComputeNodeStatus | None = Field(None, alias="starRocksCnStatus")
    """Compute nodes."""
    fe_proxy: ComponentStatus | None = Field(None, alias="starRocksFeProxyStatus")
    """HTTP proxy in front of the frontends."""
    disaster_recovery_status: DisasterRecoveryStatus | None = None
    """Restore from a cluster snapshot."""
    members: tuple[Member, ...] = ()
    """Every member that the frontends know, and every pod that is not one yet."""
    bootstrap: Bootstrap | None = None
    """The founding of the cluster."""
    held_settings: tuple[HeldSetting, ...] = ()
    """Settings of the frontends that are changed while members leave."""
    online_configuration: str | None = None
    """Parameters of frontends that were set online."""
    rollout: Opaque | None = None
    """Pods that are being replaced: whose turn it is, the gate that objects, how many are done."""
    protection: ProtectionStatus | None = None
    """What there is for deletionProtection, if it is asked for."""
    accounts: AccountsStatus | None = None
    """Passwords that FE accepted, by where they are."""
    next_step: NextStep | None = None
    """The step that comes next."""
    plan: Opaque | None = None
    """What is to be done, if a plan is asked for."""
    waiting_for: tuple[str, ...] = ()
    """What the cluster waits for, in plain words."""
    reconcile: Reconcile | None = None
    """The last run that changed something."""
