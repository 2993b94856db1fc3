"""What was seen of one cluster: its objects in Kubernetes, and its members as FE tells them.

Everything here is plain data. The watcher fills it from its indexes, the `member` module from fresh reads; both
decide with the same pure function on the same type, so they can only differ if the world did.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any

Raw = Mapping[str, Any]


@dataclass(frozen=True, order=True)
class ObjectKey:
    """A Kubernetes object of one namespace: ("StatefulSet", "sample-fe")."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"

    @classmethod
    def of(cls, raw: Raw) -> ObjectKey:
        return cls(raw["kind"], raw["metadata"]["name"])


@dataclass(frozen=True)
class Children:
    """The labelled objects of one cluster, as the API server returned them (status included where it matters).

    Kinds: StatefulSet, Pod, PersistentVolumeClaim, Service, ConfigMap, HorizontalPodAutoscaler, PodDisruptionBudget.
    """

    objects: Mapping[ObjectKey, Raw] = field(default_factory=dict)

    @classmethod
    def of(cls, raws: Iterable[Raw]) -> Children:
        return cls({ObjectKey.of(raw): raw for raw in raws})

    def get(self, kind: str, name: str) -> Raw | None:
        return self.objects.get(ObjectKey(kind, name))

    def of_kind(self, kind: str) -> tuple[Raw, ...]:
        return self._by_kind.get(kind, ())

    @cached_property
    def _by_kind(self) -> dict[str, tuple[Raw, ...]]:
        found: dict[str, list[Raw]] = {}
        for key in sorted(self.objects):
            found.setdefault(key.kind, []).append(self.objects[key])
        return {kind: tuple(raws) for kind, raws in found.items()}


class Outcome(StrEnum):
    """How one frontend took our question."""

    ANSWERED = "answered"
    REFUSED = "refused"  # nothing listens, or no route
    HUNG = "hung"  # connected, and no answer in time: what a frontend without a leader does
    DENIED = "denied"  # wrong password, or rights missing
    FAILED = "failed"  # an error text
    UNTRUSTED = "untrusted"  # TLS: demanded and not had, or the certificate is not one to be trusted


class Login(StrEnum):
    """As whom a frontend let us in."""

    GIVEN = "given"  # root, with the password that the CR names; without one, if it names none
    FORMER = "former"  # root, with the password that it had before
    EMPTY = "empty"  # root, without a password although the CR names one
    ACCOUNT = "account"  # the operator's own account
    ACCOUNT_FORMER = "account-former"  # the same, with the password that it had before
    REFUSED = "refused"  # nobody


@dataclass(frozen=True, kw_only=True)
class FrontendRow:
    """A row of SHOW FRONTENDS or SHOW PROC '/frontends' (reference: starrocks-sql §1)."""

    name: str
    host: str
    edit_log_port: int
    role: str  # LEADER | FOLLOWER | OBSERVER | …
    cluster_id: str
    joined: bool
    alive: bool
    replayed_journal_id: int = 0
    query_port: int = 0
    start_time: str = ""
    version: str = ""
    error: str = ""

    @property
    def target(self) -> str:
        return f"{self.host}:{self.edit_log_port}"


@dataclass(frozen=True, kw_only=True)
class ComputeRow:
    """A row of SHOW BACKENDS or SHOW COMPUTE NODES: what the two have in common, and tablets for backends."""

    id: str
    host: str
    heartbeat_port: int
    alive: bool
    decommissioned: bool = False
    tablets: int | None = None
    running_queries: int | None = None
    last_start_time: str = ""
    version: str = ""
    error: str = ""
    status_code: str = ""
    warehouse: str = ""
    used_bytes: int | None = None
    free_bytes: int | None = None

    @property
    def target(self) -> str:
        return f"{self.host}:{self.heartbeat_port}"


@dataclass(frozen=True, kw_only=True)
class FrontendAnswer:
    """What one frontend, asked by itself, said of the frontends it knows (its local view, which may be old)."""

    pod: str
    outcome: Outcome
    error: str = ""
    rows: tuple[FrontendRow, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Health:
    """How the tablets are, and what is going on with them; None: this release does not tell.

    unhealthy: tablets that lack good copies. clones: those that are being copied, or wait for it. backups: running
    backup and restore jobs. fewest_copies: the fewest replicas that any partition shall have. images: of the metadata,
    that the leader's process has written or handed to others.
    """

    unhealthy: int | None = None
    clones: int | None = None
    backups: int | None = None
    fewest_copies: int | None = None
    images: int | None = None


@dataclass(frozen=True, kw_only=True)
class FrontendView:
    """The members as FE tells them, at one moment.

    leader: host of the frontend that says of itself that it leads *and* answered a statement only a leader can
        answer; None: nobody does.
    frontends, backends, compute_nodes: the leader's rows; None: unknown (never the same as "none").
    settings: the leader's values of the settings that were asked for; None: none was.
    replication: the most replicas that any partition has; None: not asked, or this release cannot tell.
    blacklists: by pod, ids of the compute nodes to which the frontend was told to send no queries; empty: this release
        has no such lists; None: not asked.
    """

    asked_at: datetime
    answers: tuple[FrontendAnswer, ...] = ()
    leader: str | None = None
    frontends: tuple[FrontendRow, ...] | None = None
    backends: tuple[ComputeRow, ...] | None = None
    compute_nodes: tuple[ComputeRow, ...] | None = None
    settings: Mapping[str, str] | None = None
    replication: int | None = None
    blacklists: Mapping[str, frozenset[str]] | None = None
    backend_blacklists: Mapping[str, frozenset[str]] | None = None  # the same of backends
    login: str = ""  # how the leader let us in: see Login
    root: str = ""  # how it lets root in; empty: not asked
    health: Health | None = None  # None: not asked
    features: frozenset[str] | None = None  # what the leader says it can do; None: not asked, or no answer
    edition: str = ""  # of the credentials that were used
    parameters: Mapping[str, Mapping[str, Parameter]] | None = None  # by pod and key; None: not asked


@dataclass(frozen=True, kw_only=True)
class Questions:
    """What the leader is asked besides its members. Nothing, while nobody leaves.

    settings: keys of its settings. replication: the most replicas that any partition has. blacklists: to be answered
        by every frontend, which compute nodes get no queries. root: whether root's password is the one in the CR.
    health: how the tablets are. copies: the fewest replicas that any partition has. jobs_port: where it is asked for
        its running jobs and its images; 0: nowhere.
    http_port: where its features are asked for; 0: nowhere.
    parameters: to be answered by every frontend, what it has for them.
    """

    settings: tuple[str, ...] = ()
    replication: bool = False
    blacklists: bool = False
    backend_blacklists: bool = False
    root: bool = False
    health: bool = False
    copies: bool = False
    jobs_port: int = 0
    http_port: int = 0
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Accounts:
    """Where the passwords are, and in which version: never the passwords.

    root: where root's is, such as "Secret root-password@812"; empty: the CR names none.
    operator: the same of the operator's own account; empty: it has none. user: that account's name.
    unusable: why the password at `root` or `operator` must not be set in FE, if so.
    problem: why the operator's own account cannot be used, if so.
    """

    root: str = ""
    operator: str = ""
    user: str = ""
    unusable: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Configuration:
    """A component's configuration file as found in the user's ConfigMap; `missing` names what was not there.

    digest: the hash of its text. changed: when the ConfigMap was last written, as the API server tells it.
    """

    properties: Mapping[str, str] = field(default_factory=dict)
    missing: str = ""
    digest: str = ""
    changed: str = ""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a frontend: its value there, and whether it can be set while the frontend runs."""

    value: str
    mutable: bool


@dataclass(frozen=True, kw_only=True)
class Protection:
    """What there is for deletionProtection, of a cluster that asks for it. None: that cannot be seen.

    policies: whether all of them are in force; missing: the names of those that are not. namespace: whether it has the
        label that protects it.
    """

    policies: bool | None
    missing: tuple[str, ...] = ()
    namespace: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Observed:
    """Everything a decision depends on besides the StarRocksCluster itself."""

    now: datetime
    children: Children
    view: FrontendView | None = None  # None: not asked yet, or nobody to ask
    configurations: Mapping[str, Configuration] = field(default_factory=dict)  # by component: fe, be, cn
    missing_references: tuple[str, ...] = ()  # ConfigMaps and Secrets that the CR names and that do not exist
    credentials_problem: str = ""  # why no password could be read, if so
    protection: Protection | None = None  # None: not looked for
    accounts: Accounts = Accounts()
    cluster_problem: str = ""  # of a warehouse: why there are no frontends to join, if so
    revisions: Mapping[str, Raw] = field(default_factory=dict)  # ControllerRevisions that `rollout` asks for, by name
    expandable: Mapping[str, bool | None] = field(default_factory=dict)
    """Whether the StorageClasses of claims that are to grow let them; None: that cannot be seen. Others: not asked."""
    mentioned: frozenset[str] | None = None  # ConfigMaps that ControllerRevisions mount; None: not looked
    departed: tuple[str, ...] = ()  # StarRocksWarehouses of this cluster that are gone, and which FE may still have
