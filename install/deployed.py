"""`deploy/`: for `kubectl apply` without OLM, for the whole cluster or for one namespace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from install import text
from install.identity import NAMESPACE, ROOT
from install.rights import LEASE, SOURCE, WORK, account, binding, rights, role
from install.workload import deployment, metrics_service

Json = dict[str, Any]
DEPLOY = ROOT / "deploy"
EVERYWHERE = {"value": ""}
ITS_OWN = {"valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}


def files() -> dict[Path, str]:
    """What is generated, by path."""
    return {
        DEPLOY / "operator.yaml": operator(),
        DEPLOY / "kustomization.yaml": kustomization("operator.yaml"),
        DEPLOY / "namespaced" / "operator.yaml": namespaced(),
        DEPLOY / "namespaced" / "kustomization.yaml": kustomization("operator.yaml", namespace=NAMESPACE),
    }


def operator() -> str:
    """Namespace, account, rights and Deployment; the rights with all that is said about them."""
    made = text.documents([metrics_service(), deployment(watch=EVERYWHERE)], source="deploy/rbac.yaml and install/")
    header, _, document = made.partition("\n")
    return f"{header}\n{SOURCE.read_text()}---\n{document}"


def namespaced() -> str:
    """The operator for its own namespace alone: no ClusterRole, and the namespace is there already."""
    given = rights()
    items = [
        account(),
        role(WORK, given.work, namespace=NAMESPACE),
        binding(WORK, namespace=NAMESPACE),
        role(LEASE, given.lease, namespace=NAMESPACE),
        binding(LEASE, namespace=NAMESPACE),
        metrics_service(),
        deployment(watch=ITS_OWN),
    ]
    return text.documents(items, source="deploy/rbac.yaml and install/")


def kustomization(*resources: str, **more: Any) -> str:
    item = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", **more}
    return text.documents([item | {"resources": list(resources)}], source="install/")
