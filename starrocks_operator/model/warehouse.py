"""StarRocksWarehouse: compute nodes of their own that work for the frontends of another resource's cluster.

To everything that builds, decides and tells, it is a cluster that has nothing but compute nodes: its name is
`<warehouse>-warehouse`, from which all the names and labels follow that existing warehouses have. What differs is said
by a few properties of StarRocksCluster: who owns the objects, whose frontends are joined, what FE calls it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Self

from pydantic import Field

from starrocks_operator.model.base import MAX_LENGTH, REQUIRED, Model
from starrocks_operator.model.cluster import StarRocksCluster
from starrocks_operator.model.component import ComputeNodeSpec
from starrocks_operator.model.kubernetes import EnvVar, Int64, Opaque
from starrocks_operator.model.rules import RULES
from starrocks_operator.model.rules.judges import always, must
from starrocks_operator.model.rules.rule import Rule, Violation
from starrocks_operator.model.status import ComputeNodeStatus, Condition, Member, NextStep, Reconcile

WAREHOUSE_KIND = "StarRocksWarehouse"
WAREHOUSE_PLURAL = "starrockswarehouses"
SUFFIX = "-warehouse"
PROTECTION = "starrocks.com.starrockswarehouse/protection"
"""A finalizer that the official operator puts on a warehouse's StatefulSet. Nobody would remove it any more."""

LONGEST_NAME = 39
"""A StatefulSet `<name>-warehouse-cn` whose name has more than 52 characters gets no pods."""

_CN_SPEC, _CN_STATUS = "starRocksCnSpec", "starRocksCnStatus"


class WarehouseTemplate(ComputeNodeSpec):
    """The compute nodes of a warehouse."""

    env_vars: tuple[EnvVar, ...] = Field(())
    """Environment of the compute node container."""


class StarRocksWarehouseSpec(Model):
    """The warehouse that is wanted."""

    cluster: str = Field("", alias="starRocksCluster", json_schema_extra=REQUIRED | {"maxLength": MAX_LENGTH})
    """The StarRocksCluster, in the same namespace, whose frontends its compute nodes join."""
    template: WarehouseTemplate
    """Its compute nodes."""


class StarRocksWarehouseStatus(ComputeNodeStatus):
    """The warehouse that is there."""

    observed_generation: Int64 | None = None
    """The generation that this status speaks of."""
    conditions: tuple[Condition, ...] = Field(
        (), json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}
    )
    """Ready, Progressing and Degraded."""
    version: str | None = None
    """The StarRocks version of the leader."""
    members: tuple[Member, ...] = ()
    """Its compute nodes."""
    rollout: Opaque | None = None
    """The roll that is under way; see docs/operate.md."""
    plan: Opaque | None = None
    """What is to be done, if a plan is asked for."""
    next_step: NextStep | None = None
    """The step that comes next."""
    waiting_for: tuple[str, ...] = ()
    """What the warehouse waits for, in plain words."""
    reconcile: Reconcile | None = None
    """The last run that changed something."""


class Warehouse(StarRocksCluster):
    """A StarRocksWarehouse, seen as a cluster of compute nodes alone."""

    kind: str = WAREHOUSE_KIND
    joins: str = ""
    """The StarRocksCluster whose frontends its compute nodes join."""

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Self:
        """Read a StarRocksWarehouse as the apiserver gives it."""
        metadata, spec = dict(raw.get("metadata") or {}), raw.get("spec") or {}
        template = dict(spec.get("template") or {})
        template["cnEnvVars"] = template.pop("envVars", None)
        return super().parse(
            {
                "apiVersion": raw.get("apiVersion", ""),
                "kind": WAREHOUSE_KIND,
                "metadata": metadata | {"name": f"{metadata.get('name', '')}{SUFFIX}"},
                "joins": spec.get("starRocksCluster") or "",
                "spec": {_CN_SPEC: template},
                "status": _as_cluster_status(raw["status"]) if raw.get("status") else None,
            }
        )

    @property
    def resource_name(self) -> str:
        return self.metadata.name.removesuffix(SUFFIX)

    @property
    def frontends_of(self) -> str:
        return self.joins

    @property
    def warehouse(self) -> str:
        return self.resource_name.replace("-", "_")

    def written_status(self, status: Mapping[str, Any]) -> dict[str, Any]:
        """Flat, as the official operator writes it: that of the compute nodes, and what is said of the whole."""
        whole = {name: status[name] for name in _WHOLE if status.get(name) not in (None, "", [], {})}
        if "conditions" in whole:
            whole["conditions"] = [one for one in whole["conditions"] if one["type"] != "QuorumSafe"]
        if "members" in whole:
            own = [one for one in whole["members"] if one["kind"] == "computeNode" and one.get("name")]
            whole = {name: value for name, value in whole.items() if name != "members"} | (
                {"members": own} if own else {}
            )
        return {**(status.get(_CN_STATUS) or {}), **whole}

    def broken_rules(self) -> Iterator[Violation]:
        yield from violations({"metadata": {"name": self.resource_name}, "spec": self._written_spec()})

    def _written_spec(self) -> dict[str, Any]:
        template = self.spec.cn.to_dict() if self.spec.cn else {}
        return {"starRocksCluster": self.joins, "template": template}


_WHOLE = (
    "phase",
    "reason",
    "observedGeneration",
    "conditions",
    "version",
    "members",
    "rollout",
    "plan",
    "nextStep",
    "waitingFor",
    "reconcile",
)


def _as_cluster_status(flat: Mapping[str, Any]) -> dict[str, Any]:
    whole = {name: value for name, value in flat.items() if name in _WHOLE}
    nodes = {name: value for name, value in flat.items() if name not in _WHOLE or name in ("phase", "reason")}
    return {**whole, _CN_STATUS: nodes}


OWN_RULES: tuple[Rule, ...] = (
    Rule(
        name="warehouse-name",
        at="",
        cel=f"self.metadata.name.size() <= {LONGEST_NAME} && self.metadata.name.matches('^[a-z][-a-z0-9]*$')",
        message="metadata.name is not a name that the warehouse's pods can carry: use at most "
        f"{LONGEST_NAME} lower-case letters, digits and '-', and begin with a letter",
        judge=must(lambda raw: _carries_name(raw["metadata"]["name"])),
        only_at_creation=True,
    ),
    Rule(
        name="warehouse-is-not-its-cluster",
        at="",
        # `!=` of a name, whose length the apiserver does not bound, would be too costly for it
        cel="!(self.metadata.name.startsWith(self.spec.starRocksCluster) && "
        "self.metadata.name.size() == self.spec.starRocksCluster.size())",
        message="a warehouse must not have the name of its StarRocksCluster: give it another metadata.name",
        judge=must(lambda raw: raw["metadata"]["name"] != raw["spec"]["starRocksCluster"]),
        only_at_creation=True,
    ),
    Rule(
        name="warehouse-stays",
        at="spec.starRocksCluster",
        cel="self == oldSelf",
        message="a warehouse stays with its cluster: make another one for the other cluster",
        judge=always,
        judge_change=lambda new, old: None if new == old else "",
    ),
    Rule(
        name="warehouse-cluster",
        at="spec.starRocksCluster",
        cel="self != ''",
        message="name the StarRocksCluster, of the same namespace, that the warehouse belongs to",
        judge=must(bool),
    ),
)


def _carries_name(name: str) -> bool:
    text = name.replace("-", "a")
    return (
        len(name) <= LONGEST_NAME and text.isalnum() and text.isascii() and text == text.lower() and text[0].isalpha()
    )


def rules() -> Iterator[tuple[tuple[str, ...], Rule]]:
    """Schema node and rule: a warehouse's own, and those of compute nodes, which are here in the template."""
    yield from ((node, rule) for rule in OWN_RULES for node in rule.nodes())
    for rule in RULES:
        for node in rule.nodes():
            if node[:2] == ("spec", _CN_SPEC):
                yield ("spec", "template", *node[2:]), rule


def violations(raw: Mapping[str, Any]) -> Iterator[Violation]:
    """Every rule that a StarRocksWarehouse breaks."""
    yield from (violation for rule in OWN_RULES for violation in rule.violations(raw))
    prefix, nodes = f"spec.{_CN_SPEC}", {"spec": {_CN_SPEC: (raw.get("spec") or {}).get("template")}}
    for rule in RULES:
        for violation in rule.violations(nodes):
            if violation.path.startswith(prefix):
                yield Violation(violation.rule, f"spec.template{violation.path[len(prefix) :]}", violation.message)
