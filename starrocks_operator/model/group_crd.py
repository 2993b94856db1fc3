"""The CustomResourceDefinition of ComputeNodeGroup, assembled from its model.

`python -m starrocks_operator.model.group_crd` writes the file under `crds/`; a test fails when it is stale.
"""

from pathlib import Path
from typing import Any

from starrocks_operator.model.cluster import GROUP
from starrocks_operator.model.compute_node_group import (
    GROUP_KIND,
    GROUP_PLURAL,
    GROUP_VERSION,
    ComputeNodeGroupSpec,
    ComputeNodeGroupStatus,
)
from starrocks_operator.model.crd import as_yaml
from starrocks_operator.model.schema import structural

TARGET = Path(__file__).parents[2] / "crds" / f"{GROUP}_{GROUP_PLURAL}.yaml"
MODULE = "starrocks_operator.model.group_crd"

_COLUMNS = (
    ("Phase", "string", ".status.phase"),
    ("Pods", "integer", ".status.replicas"),
    ("Alive", "integer", ".status.readyReplicas"),
    ("Reason", "string", ".status.reason"),
    ("Age", "date", ".metadata.creationTimestamp"),
)
_SCALE = {
    "specReplicasPath": ".spec.replicas",
    "statusReplicasPath": ".status.replicas",
    "labelSelectorPath": ".status.selector",
}
_NAME_RULE = {
    "rule": "self.metadata.name.size() <= 45 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
    "message": "metadata.name: at most 45 lower-case letters, digits and dashes, beginning with a letter, as "
    "Services and pods are named after it",
}


def group_crd() -> dict[str, Any]:
    """The CustomResourceDefinition of ComputeNodeGroup."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{GROUP_PLURAL}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": GROUP_KIND,
                "listKind": f"{GROUP_KIND}List",
                "plural": GROUP_PLURAL,
                "singular": GROUP_KIND.lower(),
                "shortNames": ["cng"],
            },
            "versions": [_version()],
        },
    }


def _version() -> dict[str, Any]:
    return {
        "name": GROUP_VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": _schema()},
        "subresources": {"status": {}, "scale": _SCALE},
        "additionalPrinterColumns": [
            {"name": column, "type": kind, "jsonPath": path} for column, kind, path in _COLUMNS
        ],
    }


def _schema() -> dict[str, Any]:
    return {
        "type": "object",
        "description": "Compute nodes for a StarRocks whose frontends are elsewhere.",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": structural(ComputeNodeGroupSpec, expanded=False),
            "status": structural(ComputeNodeGroupStatus, expanded=False),
        },
        "x-kubernetes-validations": [_NAME_RULE],
    }


def text() -> str:
    """The text of the file."""
    return as_yaml(group_crd(), module=MODULE)


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
