"""`deletionProtection`: kept by admission policies, not by the operator, which only says whether they are there.

A refusal at the API server is the one thing that stops everybody, also while the operator is away. The policies are
judged by the StarRocksClusters themselves (deploy/policies.yaml); only the namespace needs a label of its own, which
the operator may not write.
"""

from __future__ import annotations

from starrocks_operator.decision import Finding
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.observed import Observed, Protection

POLICIES = (
    "protect-clusters.starrocks.com",
    "protect-data.starrocks.com",
    "protect-namespaces.starrocks.com",
)
LABEL = "starrocks.com/deletion-protection"


def protection_finding(cluster: StarRocksCluster, observed: Observed) -> Finding | None:
    """What is missing of the protection that the spec asks for. None of it contradicts Ready."""
    protection = observed.protection
    if not cluster.spec.deletion_protection or protection is None:
        return None
    if protection.policies is False:
        return Finding(
            reason="ProtectionAbsent",
            message="deletionProtection is asked for, and nothing refuses deletion: "
            f"{', '.join(protection.missing)} cannot be found. Apply deploy/policies.yaml.",
            degraded=True,
            remark=True,
        )
    if protection.policies is None:
        return Finding(
            reason="ProtectionUnknown",
            message="deletionProtection is asked for, and whether its admission policies are there cannot be seen: the "
            "operator may not get them (ClusterRole starrocks-operator-policies in deploy/rbac.yaml).",
            remark=True,
        )
    if protection.namespace is False:
        return Finding(
            reason="NamespaceUnprotected",
            message=f"Namespace {cluster.namespace} is not labelled {LABEL}=true: deleting it is not refused. Volumes, "
            "StatefulSets and this cluster would stay, and its pods, Services and Secrets would go.",
            remark=True,
        )
    return None


def protection_status(cluster: StarRocksCluster, observed: Observed) -> dict[str, str]:
    """status.protection; empty if it is not asked for."""
    protection = observed.protection
    if not cluster.spec.deletion_protection or protection is None:
        return {}
    return {
        "policies": _word(protection.policies, "present", "absent"),
        "namespace": _word(protection.namespace, "labelled", "unlabelled"),
    }


def whole(protection: Protection | None) -> bool:
    """Whether nothing is missing of it, as far as it is asked for."""
    return protection is None or bool(protection.policies and protection.namespace)


def _word(seen: bool | None, yes: str, no: str) -> str:
    return "unknown" if seen is None else yes if seen else no
