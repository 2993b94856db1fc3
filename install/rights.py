"""The operator's rights for the other manifests: read from `deploy/rbac.yaml`, where they are written and explained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from install.identity import NAME, NAMESPACE, ROOT
from install.text import parse

Json = dict[str, Any]
SOURCE = ROOT / "deploy" / "rbac.yaml"
WORK, POLICIES, LEASE = NAME, f"{NAME}-policies", f"{NAME}-lease"


@dataclass(frozen=True, kw_only=True)
class Rights:
    """work: in each namespace that is watched. cluster: on what belongs to none. lease: in the operator's own."""

    work: tuple[Json, ...]
    cluster: tuple[Json, ...]
    lease: tuple[Json, ...]


def rights() -> Rights:
    rules = {item["metadata"]["name"]: tuple(item["rules"]) for item in parse(SOURCE) if "rules" in item}
    return Rights(work=rules[WORK], cluster=rules[POLICIES], lease=rules[LEASE])


def role(name: str, rules: tuple[Json, ...], *, namespace: str | None) -> Json:
    """A Role, or without a namespace a ClusterRole."""
    metadata = {"name": name} if namespace is None else {"name": name, "namespace": namespace}
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role" if namespace else "ClusterRole",
        "metadata": metadata,
        "rules": list(rules),
    }


def binding(name: str, *, account: str = NAME, at: str = NAMESPACE, namespace: str | None) -> Json:
    """Binds the role of that name to an account in namespace `at`; a RoleBinding where the role is a Role."""
    bound = role(name, (), namespace=namespace)
    return {
        "apiVersion": bound["apiVersion"],
        "kind": f"{bound['kind']}Binding",
        "metadata": bound["metadata"],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": bound["kind"], "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": at}],
    }


def account(*, namespace: str = NAMESPACE) -> Json:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME, "namespace": namespace}}
