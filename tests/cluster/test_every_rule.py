"""No rule of any CRD is only written down: the real API server refuses something by each, at its place, in its words.

The broken resources are those of `tests/rule_cases.py`, moved to every component that has the same rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import yaml

from lab.controlplane.plane import ControlPlane
from lab.stack import CRDS, ROOT, install_crd, wait_for
from starrocks_operator.model import GROUP_PLURAL, PLURAL, WAREHOUSE_PLURAL
from tests.cluster.crds import Server
from tests.rule_cases import BROKEN, VOLUME, Case, document

Document = dict[str, Any]
COMPONENTS = (
    "starRocksFeSpec",
    "starRocksFeObserverSpec",
    "starRocksBeSpec",
    "starRocksCnSpec",
    "starRocksFeProxySpec",
)
TWINS = (("secrets", "configMaps"), ("configMaps", "secrets"), ("requests", "limits"), ("limits", "requests"))


@dataclass(frozen=True)
class Written:
    """A rule as the CRD has it: the node that it is at, and the fixed words of what it says."""

    node: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.node or 'the resource'}: {' … '.join(self.words)}"


def written(crd: Document, version: str) -> set[Written]:
    """Every rule of a version."""
    schemas = {each["name"]: each["schema"]["openAPIV3Schema"] for each in crd["spec"]["versions"]}
    return set(_rules(schemas[version]))


def _rules(schema: Mapping[str, Any], node: str = "") -> Iterator[Written]:
    for rule in schema.get("x-kubernetes-validations", ()):
        expression = rule.get("messageExpression", "")
        literals = re.findall(r'"((?:[^"\\]|\\.)*)"', expression)
        yield Written(node, (literals[0], literals[-1]) if expression else (rule["message"],))
    for name, child in schema.get("properties", {}).items():
        yield from _rules(child, f"{node}.{name}".lstrip("."))
    if "items" in schema:
        yield from _rules(schema["items"], f"{node}[]")


def said(refusals: Mapping[str, str], rules: set[Written]) -> set[Written]:
    """The rules by which something was refused."""
    where = {re.sub(r"\[\d+\]", "[]", "" if field == "<nil>" else field): words for field, words in refusals.items()}
    return {rule for rule in rules if rule.node in where and all(word in where[rule.node] for word in rule.words)}


def broken_clusters(crd: Document) -> Iterator[Document]:
    for case in BROKEN:
        yield case.document
        for spec in _specs(case):
            for component in COMPONENTS:
                known = _properties(crd, "spec", component)
                base = document()
                base["spec"][component] = {key: value for key, value in spec.items() if key in known}
                yield base


def broken_warehouses(crd: Document) -> Iterator[Document]:
    sound, known = {"image": "starrocks/cn-ubuntu:3.5.5"}, _properties(crd, "spec", "template")
    yield warehouse(sound, name="a" * 40)
    yield warehouse(sound, name="one")
    yield warehouse(sound, cluster="")
    for case in BROKEN:
        for spec in _specs(case):
            yield warehouse({key: value for key, value in spec.items() if key in known})


def broken_groups() -> Iterator[Document]:
    spec = {"feInfo": {"addresses": ["fe:9030"]}, "cnImage": "starrocks/cn-ubuntu:3.5.5"}
    yield {
        "apiVersion": "starrocks.com/v1alpha1",
        "kind": "ComputeNodeGroup",
        "metadata": {"name": "9nodes"},
        "spec": spec,
    }


def _specs(case: Case) -> Iterator[Document]:
    """The spec of the component that a case breaks, also with the same fault in a field of the same kind."""
    parts = case.at.split(".")
    spec = case.document.get("spec", {}).get(parts[1] if len(parts) > 1 else "")
    if isinstance(spec, dict):
        yield spec
        for one, other in TWINS:
            if one in spec:
                yield {key: value for key, value in spec.items() if key != one} | {other: spec[one]}


def _properties(crd: Document, *path: str) -> Mapping[str, Any]:
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for step in path:
        schema = schema["properties"][step]
    properties: Mapping[str, Any] = schema["properties"]
    return properties


def warehouse(template: Mapping[str, Any], *, name: str = "reports", cluster: str = "one") -> Document:
    return {
        "apiVersion": "starrocks.com/v1",
        "kind": "StarRocksWarehouse",
        "metadata": {"name": name},
        "spec": {"starRocksCluster": cluster, "template": dict(template)},
    }


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> ControlPlane:
    install_crd(control_plane)
    return control_plane


@pytest.mark.parametrize("version", ["v1", "v1alpha1"])
def test_every_rule_of_clusters(plane: ControlPlane, version: str) -> None:
    server, rules = Server(plane, plural=PLURAL), written(_crd(0), version)
    wait_for(lambda: server.refusals(document()) == {}, what="the CRD to be served")
    silent = set(rules)
    for broken in broken_clusters(_crd(0)):
        silent -= said(server.refusals(broken | {"apiVersion": f"starrocks.com/{version}"}), rules)
    whole = document() | {"apiVersion": f"starrocks.com/{version}"}
    big, small = (VOLUME | {"storageSize": size} for size in ("2Gi", "1Gi"))
    with_volumes = [name for name in COMPONENTS if "storageVolumes" in _properties(_crd(0), "spec", name)]
    for component in with_volumes:
        whole["spec"].setdefault(component, {})["storageVolumes"] = [big]
    name = server.create(whole)["metadata"]["name"]
    for component in with_volumes:
        change = {"spec": {component: {"storageVolumes": [small]}}}
        silent -= said(server.refusals_of_change(name, change, version=version), rules)
    server.delete(name)
    assert not silent, "\n".join(sorted(map(str, silent)))


def test_every_rule_of_warehouses(plane: ControlPlane) -> None:
    server, rules = Server(plane, plural=WAREHOUSE_PLURAL), written(_crd(1), "v1")
    sound = warehouse({"image": "starrocks/cn-ubuntu:3.5.5", "storageVolumes": [VOLUME | {"storageSize": "2Gi"}]})
    wait_for(lambda: server.refusals(sound) == {}, what="the CRD to be served")
    silent = set(rules)
    for broken in broken_warehouses(_crd(1)):
        silent -= said(server.refusals(broken), rules)
    name = server.create(sound)["metadata"]["name"]
    for change in (
        {"starRocksCluster": "two"},
        {"template": {"storageVolumes": [VOLUME | {"storageSize": "1Gi"}]}},
    ):
        silent -= said(server.refusals_of_change(name, {"spec": change}), rules)
    server.delete(name)
    assert not silent, "\n".join(sorted(map(str, silent)))


def test_every_rule_of_groups(plane: ControlPlane) -> None:
    server, rules = Server(plane, plural=GROUP_PLURAL), written(_crd(2), "v1alpha1")
    wait_for(lambda: "" not in server.refusals(next(broken_groups())), what="the CRD to be served")
    silent = set(rules)
    for broken in broken_groups():
        silent -= said(server.refusals(broken), rules)
    assert not silent, "\n".join(sorted(map(str, silent)))


def _crd(number: int) -> Document:
    crd: Document = yaml.safe_load((ROOT / CRDS[number]).read_text())
    return crd
