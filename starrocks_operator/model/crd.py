"""The CustomResourceDefinitions, assembled from the model and its rules.

`python -m starrocks_operator.model.crd` writes the files under `crds/`; a test fails when one is stale.
"""

import copy
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from starrocks_operator.model.base import Model
from starrocks_operator.model.cluster import GROUP, KIND, PLURAL, VERSION, StarRocksClusterSpec
from starrocks_operator.model.component import FrontendProxySpec
from starrocks_operator.model.observers import FrontendObserverSpec
from starrocks_operator.model.rules import MISSPELT_SPEC_KEYS, RULES
from starrocks_operator.model.rules.rule import Rule
from starrocks_operator.model.schema import Schema, structural
from starrocks_operator.model.status import StarRocksClusterStatus
from starrocks_operator.model.warehouse import (
    WAREHOUSE_KIND,
    WAREHOUSE_PLURAL,
    StarRocksWarehouseSpec,
    StarRocksWarehouseStatus,
)
from starrocks_operator.model.warehouse import rules as rules_of_warehouses

_DIRECTORY = Path(__file__).parents[2] / "crds"
TARGET = _DIRECTORY / "starrocks.com_starrocksclusters.yaml"
WAREHOUSE_TARGET = _DIRECTORY / "starrocks.com_starrockswarehouses.yaml"
LARGEST = 250_000
"""Bytes of JSON: beyond 262,144 a plain `kubectl apply` cannot keep its last-applied annotation."""

_HEADER = "# Generated from the typed model: run `python -m {module}` after changing it.\n"

_COLUMNS = (
    ("Phase", "string", ".status.phase"),
    ("FeStatus", "string", ".status.starRocksFeStatus.phase"),
    ("BeStatus", "string", ".status.starRocksBeStatus.phase"),
    ("CnStatus", "string", ".status.starRocksCnStatus.phase"),
    ("FeProxyStatus", "string", ".status.starRocksFeProxyStatus.phase"),
    ("Ready", "string", '.status.conditions[?(@.type=="Ready")].status'),
    ("QuorumSafe", "string", '.status.conditions[?(@.type=="QuorumSafe")].status'),
    ("Age", "date", ".metadata.creationTimestamp"),
)
_BRIEF_SPECS: dict[str, type[Model]] = {
    "starRocksFeProxySpec": FrontendProxySpec,
    "starRocksFeObserverSpec": FrontendObserverSpec,
}
_BRIEF_STATUSES = ("starRocksFeProxyStatus", "starRocksFeObserverStatus", "starRocksBeStatus")
_OPAQUE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_SCALE = {
    "specReplicasPath": ".spec.starRocksCnSpec.replicas",
    "statusReplicasPath": ".status.starRocksCnStatus.replicas",
    "labelSelectorPath": ".status.starRocksCnStatus.selector",
}
_WAREHOUSE_COLUMNS = (
    ("status", "string", ".status.phase"),
    ("reason", "string", ".status.reason"),
    ("Ready", "string", '.status.conditions[?(@.type=="Ready")].status'),
    ("Age", "date", ".metadata.creationTimestamp"),
)
_WAREHOUSE_SCALE = {
    "specReplicasPath": ".spec.template.replicas",
    "statusReplicasPath": ".status.replicas",
    "labelSelectorPath": ".status.selector",
}


def cluster_crd() -> dict[str, Any]:
    """The CustomResourceDefinition of StarRocksCluster."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": KIND,
                "listKind": f"{KIND}List",
                "plural": PLURAL,
                "singular": KIND.lower(),
                "shortNames": ["src"],
            },
            "conversion": {"strategy": "None"},
            "versions": [
                _version("v1", stored=True, schema=_full_schema()),
                _version("v1alpha1", stored=False, schema=_compact_schema()),
            ],
        },
    }


def warehouse_crd() -> dict[str, Any]:
    """The CustomResourceDefinition of StarRocksWarehouse."""
    schema = {
        "type": "object",
        "description": "Compute nodes of their own for a StarRocksCluster: a warehouse (StarRocks enterprise).",
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": structural(StarRocksWarehouseSpec),
            "status": structural(StarRocksWarehouseStatus),
        },
        "required": ["spec"],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{WAREHOUSE_PLURAL}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": WAREHOUSE_KIND,
                "listKind": f"{WAREHOUSE_KIND}List",
                "plural": WAREHOUSE_PLURAL,
                "singular": WAREHOUSE_KIND.lower(),
                "shortNames": ["warehouses"],
            },
            "conversion": {"strategy": "None"},
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": _with_rules(schema, rules_of_warehouses())},
                    "subresources": {"status": {}, "scale": _WAREHOUSE_SCALE},
                    "additionalPrinterColumns": [
                        {"name": column, "type": kind, "jsonPath": path} for column, kind, path in _WAREHOUSE_COLUMNS
                    ],
                }
            ],
        },
    }


def _version(name: str, *, stored: bool, schema: Schema) -> dict[str, Any]:
    version: dict[str, Any] = {
        "name": name,
        "served": True,
        "storage": stored,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}, "scale": _SCALE},
        "additionalPrinterColumns": [
            {"name": column, "type": kind, "jsonPath": path} for column, kind, path in _COLUMNS
        ],
    }
    if not stored:
        version["deprecated"] = True
        version["deprecationWarning"] = f"{GROUP}/{name} {KIND} is deprecated: write apiVersion {GROUP}/v1"
    return version


def _full_schema() -> Schema:
    spec = structural(StarRocksClusterSpec)
    # The fields of proxy and observers are those of the frontends: to save room they are neither expanded nor
    # described once more; nor is the status of each component, which is always the same.
    for name, model in _BRIEF_SPECS.items():
        brief = _without_descriptions(structural(model, expanded=False))
        spec["properties"][name] |= {"properties": brief["properties"]}
    status = structural(StarRocksClusterStatus)
    for name in _BRIEF_STATUSES:
        status["properties"][name] |= {"properties": _without_descriptions(status["properties"][name]["properties"])}
    return _with_rules(_with_spec(spec, status), _rules_of_clusters())


def _compact_schema() -> Schema:
    """The same for v1alpha1, with Kubernetes' own types unexpanded and nothing described: two full ones do not fit.

    Its status is read by people and written by nobody: the operator writes that of v1.
    """
    spec = structural(StarRocksClusterSpec, expanded=False)
    schema = _with_rules(_with_spec(spec, _OPAQUE), _rules_of_clusters())
    return {key: _without_descriptions(value) for key, value in schema.items()}


def _with_spec(spec: Schema, status: Schema) -> Schema:
    for wrong, right in MISSPELT_SPEC_KEYS.items():
        spec["properties"][wrong] = {
            "type": "object",
            "description": f"Refused: write {right}.",
            "x-kubernetes-preserve-unknown-fields": True,
        }
    return {
        "type": "object",
        "description": "One StarRocks cluster: frontends, backends and compute nodes.",
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": spec,
            "status": status,
        },
    }


def _rules_of_clusters() -> Iterable[tuple[tuple[str, ...], Rule]]:
    return ((node, rule) for rule in RULES for node in rule.nodes())


def _with_rules(schema: Schema, rules: Iterable[tuple[tuple[str, ...], Rule]]) -> Schema:
    """rules: each with the node that carries it."""
    schema = copy.deepcopy(schema)  # the model's schemas share nodes
    for node, rule in rules:
        target = _node(schema, node)
        if target is not None:
            target.setdefault("x-kubernetes-validations", []).append(rule.as_validation())
    return schema


def _node(schema: Schema, node: tuple[str, ...]) -> Schema | None:
    """A node of the schema; None below a type that is not expanded."""
    for step in node:
        if schema.get("x-kubernetes-preserve-unknown-fields"):
            return None
        schema = schema["items"] if step == "[]" else schema["properties"][step]
    return schema


def _without_descriptions(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _without_descriptions(child)
            for key, child in value.items()
            if not (key == "description" and isinstance(child, str))
        }
    if isinstance(value, list):
        return [_without_descriptions(child) for child in value]
    return value


def size(crd: dict[str, Any]) -> int:
    """Bytes of the CRD as compact JSON, as kubectl keeps it."""
    return len(json.dumps(crd, separators=(",", ":")).encode())


class _Plain(yaml.SafeDumper):
    """YAML without anchors: shared nodes are written out."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def as_yaml(crd: dict[str, Any], *, module: str = "starrocks_operator.model.crd") -> str:
    """The text of the file."""
    body = yaml.dump(crd, Dumper=_Plain, sort_keys=False, width=120, allow_unicode=True)
    return f"{_HEADER.format(module=module)}---\n{body}"


if __name__ == "__main__":
    TARGET.write_text(as_yaml(cluster_crd()), encoding="utf-8")
    WAREHOUSE_TARGET.write_text(as_yaml(warehouse_crd()), encoding="utf-8")
