"""Rules about the cluster as a whole: its name, its frontends, keys that people misspell."""

from collections.abc import Mapping
from typing import Any

from starrocks_operator.model.rules.judges import must
from starrocks_operator.model.rules.rule import Rule
from starrocks_operator.model.rules.shapes import subdomain

LONGEST_NAME = 46
"""`<name>-fe` labels its pods with a revision hash, and a StatefulSet name over 52 characters gets no pods."""

LONGEST_NAME_WITH_OBSERVERS = 40
"""For the same reason: their StatefulSet is `<name>-fe-observer`."""

MISSPELT_SPEC_KEYS: Mapping[str, str] = {
    "StarRocksFeSpec": "starRocksFeSpec",
    "StarRocksBeSpec": "starRocksBeSpec",
    "StarRocksCnSpec": "starRocksCnSpec",
    "feSpec": "starRocksFeSpec",
    "beSpec": "starRocksBeSpec",
    "cnSpec": "starRocksCnSpec",
}
"""Keys that the CRD knows only in order to refuse them with a hint, also to clients that do not check field names."""


def _has_frontends(cluster: Any) -> bool:
    return "starRocksFeSpec" in (cluster.get("spec") or {})


def _may_have_observers(cluster: Any) -> bool:
    spec = cluster.get("spec") or {}
    name = cluster.get("metadata", {}).get("name", "")
    return "starRocksFeObserverSpec" not in spec or len(name) <= LONGEST_NAME_WITH_OBSERVERS


def _carries_name(cluster: Any) -> bool:
    name = cluster.get("metadata", {}).get("name", "")
    text = name.replace("-", "a")
    return (
        len(name) <= LONGEST_NAME and text.isalnum() and text.isascii() and name == name.lower() and name[0].isalpha()
    )


def _misspelt(wrong: str, right: str) -> Rule:
    return Rule(
        name="misspelt-key",
        at=f"spec.{wrong}",
        cel="false",
        message=f"there is no {wrong}: write {right}",
        judge=must(lambda _value: False),
    )


RULES: tuple[Rule, ...] = (
    Rule(
        name="cluster-name",
        at="",
        cel=f"self.metadata.name.size() <= {LONGEST_NAME} && self.metadata.name.matches('^[a-z][-a-z0-9]*$')",
        message="metadata.name is not a name that the cluster's pods and services can carry: use at most "
        f"{LONGEST_NAME} lower-case letters, digits and '-', and begin with a letter",
        judge=must(_carries_name),
        only_at_creation=True,
    ),
    Rule(
        name="frontends",
        at="",
        cel="has(self.spec) && has(self.spec.starRocksFeSpec)",
        message="spec.starRocksFeSpec is missing: a cluster needs at least one frontend, better three",
        judge=must(_has_frontends),
        spares_old=True,
    ),
    Rule(
        name="zero-frontends",
        at="spec.starRocksFeSpec.replicas",
        cel="self >= 1",
        message="a cluster without frontends cannot work: set replicas to 1, or to 3 to survive the loss of one",
        judge=must(lambda replicas: replicas >= 1),
    ),
    Rule(
        name="observers",
        at="",
        cel="!has(self.spec) || !has(self.spec.starRocksFeObserverSpec) || "
        f"self.metadata.name.size() <= {LONGEST_NAME_WITH_OBSERVERS}",
        message="the name is too long for observers, whose pods carry it: a cluster with starRocksFeObserverSpec has "
        f"at most {LONGEST_NAME_WITH_OBSERVERS} characters in metadata.name",
        judge=must(_may_have_observers),
    ),
    subdomain(
        name="service-account",
        at="spec.serviceAccount",
        message="no ServiceAccount can have this name: use lower-case letters, digits and '-', e.g. starrocks-account",
    ),
    *(_misspelt(wrong, right) for wrong, right in MISSPELT_SPEC_KEYS.items()),
)
