"""The ClusterServiceVersion: what OLM is told about the operator, and how it installs it."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from install.identity import IMAGE, LABELS, MIN_KUBERNETES, NAME, VERSION
from install.owned import OWNED
from install.rights import rights
from install.workload import deployment_spec
from starrocks_operator.objects.frontend_proxy import DEFAULT_IMAGE

Json = dict[str, Any]
HERE = Path(__file__).parent
CREATED = "2026-11-21T00:00:00Z"
DOCUMENTATION = "https://docs.starrocks.io"
SHORT = "StarRocks clusters that never lose a tablet: safe scale-in, rolling changes, one truth about who lives."

# OLM writes the namespaces of its OperatorGroup onto the pod; nothing there means all of them.
TARGETS = {"valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['olm.targetNamespaces']"}}}

INSTALL_MODES = ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")
FEATURES = {
    "disconnected": True,
    "fips-compliant": False,
    "proxy-aware": False,
    "tls-profiles": False,
    "token-auth-aws": False,
    "token-auth-azure": False,
    "token-auth-gcp": False,
    "cnf": False,
    "cni": False,
    "csi": False,
}


def cluster_service_version() -> Json:
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {
            "name": f"{NAME}.v{VERSION}",
            "namespace": "placeholder",  # OLM puts the one it installs into
            "labels": {f"operatorframework.io/arch.{arch}": "supported" for arch in ("amd64", "arm64")},
            "annotations": shown(),
        },
        "spec": spec(),
    }


def shown() -> dict[str, str]:
    return {
        "alm-examples": json.dumps([example for owned in OWNED for example in owned.examples()], indent=2),
        "capabilities": "Seamless Upgrades",
        "categories": "Database, Big Data",
        "certified": "false",
        "containerImage": IMAGE,
        "createdAt": CREATED,
        "description": SHORT,
        "olm.skipRange": f"<{VERSION}",  # from any release before this one
        "operators.openshift.io/infrastructure-features": json.dumps(["disconnected"]),
        "repository": DOCUMENTATION,
        "support": "The StarRocks operator authors",
        **{f"features.operators.openshift.io/{name}": json.dumps(value) for name, value in FEATURES.items()},
    }


def spec() -> Json:
    return {
        "displayName": "StarRocks",
        "description": (HERE / "description.md").read_text(),
        "version": VERSION,
        "maturity": "alpha",
        "minKubeVersion": MIN_KUBERNETES,
        "provider": {"name": "The StarRocks operator authors", "url": "https://www.starrocks.io"},
        "maintainers": [{"name": "The StarRocks operator authors", "email": "maintainers@starrocks-operator.example"}],
        "keywords": ["starrocks", "database", "olap", "analytics", "lakehouse", "sql"],
        "links": [
            {"name": "StarRocks", "url": "https://www.starrocks.io"},
            {"name": "StarRocks documentation", "url": DOCUMENTATION},
        ],
        "icon": [{"base64data": icon(), "mediatype": "image/svg+xml"}],
        "labels": LABELS,
        "selector": {"matchLabels": LABELS},
        "installModes": [{"type": mode, "supported": True} for mode in INSTALL_MODES],
        "customresourcedefinitions": {"owned": [owned.entry() for owned in OWNED]},
        "install": {"strategy": "deployment", "spec": install()},
        "relatedImages": [{"name": name, "image": image} for name, image in images().items()],
    }


def install() -> Json:
    """`permissions` hold in the namespaces that are watched (OLM makes cluster-wide ones of them if those are all)."""
    given = rights()
    return {
        "permissions": [{"serviceAccountName": NAME, "rules": [*given.work, *given.lease]}],
        "clusterPermissions": [{"serviceAccountName": NAME, "rules": list(given.cluster)}],
        "deployments": [{"name": NAME, "label": LABELS, "spec": deployment_spec(watch=TARGETS)}],
    }


def images() -> dict[str, str]:
    """Every image that an installation can ask for by itself or by the examples: what a mirror has to hold."""
    found = {"operator": IMAGE, "fe-proxy": DEFAULT_IMAGE}
    for owned in OWNED:
        for example in owned.examples():
            found |= _images_of(example["spec"])
    return found


def _images_of(spec: Json) -> dict[str, str]:
    """By what an image is called: starrocks/fe-ubuntu:3.5.5 is fe-ubuntu-3-5-5."""
    parts = [spec, *(part for part in spec.values() if isinstance(part, dict))]
    named = [image for part in parts for key in ("image", "cnImage") if isinstance(image := part.get(key), str)]
    return {image.rpartition("/")[2].replace(":", "-").replace(".", "-"): image for image in named}


def icon() -> str:
    return base64.b64encode((HERE / "icon.svg").read_bytes()).decode()
