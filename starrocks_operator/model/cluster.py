"""StarRocksCluster: the resource as a frozen, typed value."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

from pydantic import Field, ValidationError

from starrocks_operator.model.base import MAX_LENGTH, Model
from starrocks_operator.model.component import (
    BackendSpec,
    ComponentSpec,
    ComputeNodeSpec,
    FrontendProxySpec,
    FrontendSpec,
)
from starrocks_operator.model.kubernetes import Int64, StringMap
from starrocks_operator.model.observers import FrontendObserverSpec
from starrocks_operator.model.rules import violations
from starrocks_operator.model.rules.rule import Violation
from starrocks_operator.model.status import StarRocksClusterStatus

GROUP = "starrocks.com"
VERSION = "v1"
KIND = "StarRocksCluster"
PLURAL = "starrocksclusters"

ComponentName = Literal["fe", "fe-observer", "be", "cn"]
COMPONENT_NAMES: tuple[ComponentName, ...] = ("fe", "fe-observer", "be", "cn")


class MalformedClusterError(ValueError):
    """An object that does not have the shape of a StarRocksCluster; the apiserver would have refused it."""


class Key(NamedTuple):
    """Which cluster: its namespace and name."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class Metadata(Model):
    """The parts of the metadata that the operator reads."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    generation: int = 0
    resource_version: str = ""
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None
    labels: StringMap = Field(default_factory=dict)
    annotations: StringMap = Field(default_factory=dict)


class Resource(Model):
    """What every resource of ours has: an identity, and a way from the apiserver's form and back."""

    api_version: str = ""
    kind: str = ""
    metadata: Metadata = Metadata()

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Self:
        """Read an object as the apiserver gives it. What v1 expands in full never fails here; variables and
        containers that the CRD has no room to expand may."""
        try:
            return cls.model_validate(dict(raw))
        except ValidationError as failure:
            metadata = raw.get("metadata") or {}
            where = "; ".join(
                f"{'.'.join(str(part) for part in error['loc'])}: {_said(error['msg'])}" for error in failure.errors()
            )
            name = f"{metadata.get('namespace')}/{metadata.get('name')}"
            kind = raw.get("kind") or cls.model_fields["kind"].default
            message = f"{kind} {name} cannot be read ({where}): correct these fields."
            raise MalformedClusterError(message) from None

    @property
    def key(self) -> Key:
        """Namespace and name."""
        return Key(self.metadata.namespace, self.metadata.name)

    @property
    def namespace(self) -> str:
        """The namespace of the resource and of all its objects."""
        return self.metadata.namespace

    @property
    def name(self) -> str:
        """The name of the resource, and the prefix of all its objects' names."""
        return self.metadata.name

    @property
    def uid(self) -> str:
        """The identity of this very object: one deleted and made anew has another."""
        return self.metadata.uid

    @property
    def generation(self) -> int:
        """The generation of the spec."""
        return self.metadata.generation

    @property
    def annotations(self) -> StringMap:
        """The annotations of the resource itself."""
        return self.metadata.annotations

    @property
    def is_deleted(self) -> bool:
        """Whether the apiserver is already deleting it."""
        return self.metadata.deletion_timestamp is not None

    def written_status(self, status: Mapping[str, Any]) -> dict[str, Any]:
        """A status in the form in which the resource has it."""
        return dict(status)


class DisasterRecovery(Model):
    """Restore from a cluster snapshot (shared-data clusters only)."""

    enabled: bool = False
    """Whether to restore."""
    generation: Int64 = 0
    """Raise it to restore once more."""


class StarRocksClusterSpec(Model):
    """The cluster that is wanted."""

    service_account: str = Field("", json_schema_extra={"maxLength": MAX_LENGTH})
    """Deprecated: ignored; each component has its own serviceAccount."""
    fe: FrontendSpec | None = Field(None, alias="starRocksFeSpec")
    """Frontends."""
    fe_observer: FrontendObserverSpec | None = Field(None, alias="starRocksFeObserverSpec")
    """Observers: frontends without a vote. What is not said is as in starRocksFeSpec."""
    be: BackendSpec | None = Field(None, alias="starRocksBeSpec")
    """Backends."""
    cn: ComputeNodeSpec | None = Field(None, alias="starRocksCnSpec")
    """Compute nodes."""
    fe_proxy: FrontendProxySpec | None = Field(None, alias="starRocksFeProxySpec")
    """HTTP proxy in front of the frontends."""
    disaster_recovery: DisasterRecovery | None = None
    """Restore from a cluster snapshot (shared-data clusters only)."""
    wait_for_full_rollout: bool = False
    """Whether backends and compute nodes wait until every frontend has been rolled out."""
    deletion_protection: bool = False
    """Whether the admission policies refuse to delete the cluster, its StatefulSets and its volume claims."""

    def component(self, name: ComponentName) -> ComponentSpec | None:
        """The spec of a component, or None if the cluster has none."""
        return {"fe": self.fe, "fe-observer": self._observers, "be": self.be, "cn": self.cn}[name]

    @cached_property
    def _observers(self) -> FrontendSpec | None:
        return self.fe_observer.like(self.fe or FrontendSpec()) if self.fe_observer is not None else None

    @property
    def components(self) -> dict[ComponentName, ComponentSpec]:
        """The components that the cluster has, frontends first."""
        named = ((name, self.component(name)) for name in COMPONENT_NAMES)
        return {name: spec for name, spec in named if spec is not None}


class StarRocksCluster(Resource):
    """One StarRocks cluster: frontends, backends and compute nodes."""

    kind: str = KIND
    spec: StarRocksClusterSpec = StarRocksClusterSpec()
    """The cluster that is wanted."""
    status: StarRocksClusterStatus | None = None
    """The cluster that is there."""

    def __hash__(self) -> int:
        return hash((self.key, self.uid, self.metadata.resource_version))

    @property
    def resource_name(self) -> str:
        """The name of the resource that owns the objects; a warehouse's differs from their prefix."""
        return self.metadata.name

    @property
    def frontends_of(self) -> str:
        """The StarRocksCluster whose frontends the backends and compute nodes join: itself, but for a warehouse."""
        return self.metadata.name

    @property
    def warehouse(self) -> str:
        """What FE calls the warehouse of its compute nodes; empty: they are in FE's default one."""
        return ""

    def broken_rules(self) -> Iterator[Violation]:
        """Every rule that it breaks; for objects older than the rules."""
        yield from violations(self.to_dict())


def _said(message: str) -> str:
    """What pydantic says, without its own words for an error of ours."""
    return message.removeprefix("Value error, ").lower()
