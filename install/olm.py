"""What OLM makes of a bundle: the same objects, for clusters without it.

A ClusterServiceVersion cannot be tried on a cluster that has no OLM, its rights and its Deployment can. `permissions`
become Roles in the namespaces of the OperatorGroup and in the operator's own; if the group means all namespaces they
become a ClusterRole.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from install.rights import account, binding, role
from install.text import parse

Json = dict[str, Any]
EVERYWHERE = ("",)


def as_olm_would(bundle: Path, *, namespace: str, targets: Sequence[str] = EVERYWHERE) -> list[Json]:
    """The objects of the bundle in that directory, installed into `namespace` for the namespaces `targets`."""
    manifests = [item for path in sorted((bundle / "manifests").glob("*.yaml")) for item in parse(path)]
    (csv,) = (item for item in manifests if item["kind"] == "ClusterServiceVersion")
    crds = [item for item in manifests if item["kind"] == "CustomResourceDefinition"]
    others = [_into(item, namespace) for item in manifests if item is not csv and item not in crds]
    spec = csv["spec"]["install"]["spec"]
    rights = [
        item
        for number, given in enumerate(spec["permissions"])
        for item in _watched(csv, number, given, namespace, targets)
    ]
    for number, given in enumerate(spec["clusterPermissions"]):
        rights += _granted(f"{csv['metadata']['name']}-cluster-{number}", given, at=namespace, namespace=None)
    group = {"olm.targetNamespaces": ",".join(targets), "olm.operatorNamespace": namespace}
    deployments = [_deployment(item, namespace, group) for item in spec["deployments"]]
    return [*crds, account(namespace=namespace), *rights, *others, *deployments]


def _watched(csv: Json, number: int, given: Json, namespace: str, targets: Sequence[str]) -> list[Json]:
    name = f"{csv['metadata']['name']}-{number}"
    if tuple(targets) == EVERYWHERE:
        return _granted(name, given, at=namespace, namespace=None)
    places = dict.fromkeys([namespace, *targets])
    return [item for place in places for item in _granted(name, given, at=namespace, namespace=place)]


def _granted(name: str, given: Json, *, at: str, namespace: str | None) -> list[Json]:
    rules = tuple(given["rules"])
    bound = binding(name, account=given["serviceAccountName"], at=at, namespace=namespace)
    return [role(name, rules, namespace=namespace), bound]


def _deployment(item: Json, namespace: str, annotations: dict[str, str]) -> Json:
    """The pods are told of the OperatorGroup by annotations."""
    template = item["spec"]["template"]
    told = {**template["metadata"].get("annotations", {}), **annotations}
    template = {**template, "metadata": {**template["metadata"], "annotations": told}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": item["name"], "namespace": namespace, "labels": item.get("label", {})},
        "spec": {**item["spec"], "template": template},
    }


def _into(item: Json, namespace: str) -> Json:
    return {**item, "metadata": {**item["metadata"], "namespace": namespace}}
