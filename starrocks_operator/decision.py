"""A Decision: what is to be done for one cluster now, what is not, and why, as data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from starrocks_operator.observed import ObjectKey
from starrocks_operator.step import Step

COMPONENTS = (
    "fe",
    "fe-observer",
    "be",
    "cn",
    "hpa",
    "fe_proxy",
    "compute-node-group",
)  # in the order in which the roles apply them


@dataclass(frozen=True, kw_only=True)
class Customs:
    """Two settings of the official operator that show in its pod templates: adopted pods must not restart.

    withheld_variables: names of ours that no container gets (its KUBE_STARROCKS_UNSUPPORTED_ENVS).
    plain_volume_names: volumes of mounted ConfigMaps and Secrets have their name (its --volume-name-with-hash=false).
    """

    withheld_variables: tuple[str, ...] = ()
    plain_volume_names: bool = False

    @classmethod
    def of(cls, context: Mapping[str, Any]) -> Customs:
        """Those in the document of a Context."""
        told = context.get("customs") or {}
        return cls(**{**told, "withheld_variables": tuple(told.get("withheld_variables", ()))})


NO_CUSTOMS = Customs()
WAREHOUSE = "warehouse"  # the role that applies all components of a warehouse


@dataclass(frozen=True, kw_only=True)
class Context:
    """What building the objects needs besides the CR: decided once, by the watcher, and handed to the roles as JSON.

    profile: `upstream` or `safe`.
    components: those whose objects may be applied now (their gates are open); a subset of COMPONENTS.
    replicas: the replicas each StatefulSet shall have, by component. Differs from the CR until a scale-in is over.
    wished: the replicas that the spec asks for; an orphaned component keeps what it has.
    live: the replicas that each existing StatefulSet has.
    domain: the DNS domain of the Kubernetes cluster.
    cluster_id: the cluster id that was recorded at bootstrap; empty before.
    properties: each component's configuration file, for the ports; by component.
    service_names, pod_management: what an existing StatefulSet has and must keep, by component.
    frontend_claims: the frontends' volume claims, which carry the cluster id.
    claim_sizes: the sizes that its volume claims were made with, by component and volume.
    memory: what must not be forgotten of members on their way out, as lines for the marker.
    customs: what the operator was told of pod templates, for all clusters alike.
    formers: StatefulSets that are about to be made anew, written down, by component: see `objects.former`.
    shapes: what StatefulSets must have while their pods are replaced, by component: see `objects.shape`.
    kept: the pod templates that they keep although this operator would make others, likewise: see `quiet.templates`.
    restarts: the moment from which the pods of a component shall be, if one was asked for: see `objects.restarts`.
    configurations: the operator's ConfigMaps that pods mount as their configuration, by component; empty: none.
    files: of users' configuration files, the hashes with which pods were found (`base`) and shall be (`now`).
    accepted: entries of the configuration that existing members must keep, by component, as they are now.
    debugged: the pods that their owner debugs, by component: see `objects.debugging`.
    host_sysctls: what their nodes' kernels are to have, by component: see `objects.host_sysctls`.
    """

    profile: str
    components: tuple[str, ...]
    replicas: Mapping[str, int]
    cluster_id: str = ""
    properties: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    service_names: Mapping[str, str] = field(default_factory=dict)
    pod_management: Mapping[str, str] = field(default_factory=dict)
    claim_sizes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    frontend_claims: tuple[str, ...] = ()
    wished: Mapping[str, int] = field(default_factory=dict)
    live: Mapping[str, int] = field(default_factory=dict)
    memory: tuple[str, ...] = ()
    domain: str = "cluster.local"
    shapes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    formers: Mapping[str, str] = field(default_factory=dict)
    configurations: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    accepted: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    customs: Customs = NO_CUSTOMS
    kept: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    restarts: Mapping[str, str] = field(default_factory=dict)
    debugged: Mapping[str, str] = field(default_factory=dict)
    host_sysctls: Mapping[str, str] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        return json.loads(json.dumps(asdict(self), sort_keys=True))  # type: ignore[no-any-return]

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> Context:
        lists = {name: tuple(document.get(name, ())) for name in ("components", "frontend_claims", "memory")}
        return cls(**{**document, **lists, "customs": Customs.of(document)})


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something a person should know: becomes part of a condition and, when it appears, an Event.

    reason: CamelCase, stable: ScaleInRefused, ScaleInStalled, SplitBrain, LeaderMissing, PasswordRefused, …
    blocks: what it stops: "nothing", "membership" (no step is taken), "everything" (nothing is applied either).
    degraded: whether it makes `Degraded` True.
    remark: it does not contradict `Ready`; it is said beside it.
    """

    reason: str
    message: str
    blocks: str = "nothing"
    degraded: bool = False
    remark: bool = False


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What is to be done for one cluster.

    apply: the objects that must be written, by component, in order: only those that are absent, outdated or drifted.
    prune: objects of ours that are no longer wanted.
    step: the one membership step to take, if any.
    waits: what we wait for, each a sentence in plain words. Empty, with nothing to do: the cluster is as wished.
    findings: see Finding.
    held: components whose gate is closed, with the reason.
    fingerprint: identifies (apply, prune, step): the same fingerprint twice in a row, unchanged world: no run.
    pace: if all that is waited for takes its time anyway, after how many seconds FE is worth another look.
    online: what the status is to remember of parameters that are set while frontends run.
    rollout: what the status is to remember of a roll; empty: nothing is rolled.
    plan: what is to be done and waits for its approval, or has it; None: no plan is asked for.
    asleep: it hibernates: there are no pods, and nobody to ask.
    released: of what is deleted and has a finalizer: nothing that it was for is left to do.
    """

    context: Context
    apply: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    prune: tuple[ObjectKey, ...] = ()
    step: Step | None = None
    waits: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    held: Mapping[str, str] = field(default_factory=dict)
    changes: tuple[str, ...] = ()  # why each object in `apply` is written, in words, for the log
    fingerprint: str = ""
    pace: float | None = None
    rollout: Mapping[str, Any] = field(default_factory=dict)
    released: bool = False
    asleep: bool = False
    plan: Mapping[str, Any] | None = None
    online: str = ""

    @property
    def due(self) -> bool:
        """Whether Ansible has anything to do."""
        return bool(self.step or self.prune or any(self.apply.values()))
