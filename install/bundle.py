"""`bundle/` and `bundle.Dockerfile`: OLM's bundle, in the format registry+v1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from install import text
from install.csv import cluster_service_version
from install.identity import NAME, ROOT
from install.owned import OWNED
from install.workload import metrics_service

Json = dict[str, Any]
BUNDLE = ROOT / "bundle"
MANIFESTS = BUNDLE / "manifests"
DOCKERFILE = ROOT / "bundle.Dockerfile"
SOURCE = "install/, deploy/rbac.yaml, crds/"
CHANNEL = "candidate"

_P = "operators.operatorframework.io"
ANNOTATIONS = {
    f"{_P}.bundle.mediatype.v1": "registry+v1",
    f"{_P}.bundle.manifests.v1": "manifests/",
    f"{_P}.bundle.metadata.v1": "metadata/",
    f"{_P}.bundle.package.v1": NAME,
    f"{_P}.bundle.channels.v1": CHANNEL,
    f"{_P}.bundle.channel.default.v1": CHANNEL,
    f"{_P}.test.mediatype.v1": "scorecard+v1",
    f"{_P}.test.config.v1": "tests/scorecard/",
    "com.redhat.openshift.versions": "v4.17-",  # the first on Kubernetes 1.30
}
SCORECARD_IMAGE = "quay.io/operator-framework/scorecard-test:v1.39.0"
SCORECARD_TESTS = {
    "basic-check-spec": "basic",
    "olm-bundle-validation": "olm",
    "olm-crds-have-validation": "olm",
    "olm-crds-have-resources": "olm",
    "olm-spec-descriptors": "olm",
    "olm-status-descriptors": "olm",
}


def files() -> dict[Path, str]:
    """What is generated, by path."""
    return {
        MANIFESTS / f"{NAME}.clusterserviceversion.yaml": _yaml(cluster_service_version()),
        MANIFESTS / f"{NAME}-metrics.service.yaml": _yaml(metrics_service(namespace=None)),
        **{MANIFESTS / owned.file.name: _one_document(owned.file) for owned in OWNED},
        BUNDLE / "metadata" / "annotations.yaml": _yaml({"annotations": ANNOTATIONS}),
        BUNDLE / "tests" / "scorecard" / "config.yaml": _yaml(scorecard()),
        DOCKERFILE: dockerfile(),
    }


def _one_document(crd: Path) -> str:
    """OLM takes a file's first document alone, and a comment before the `---` is one."""
    return crd.read_text().replace("\n---\n", "\n", 1)


def _yaml(item: Json) -> str:
    return text.documents([item], source=SOURCE)


def scorecard() -> Json:
    tests = [
        {
            "image": SCORECARD_IMAGE,
            "entrypoint": ["scorecard-test", name],
            "labels": {"suite": suite, "test": f"{name}-test"},
            "storage": {"spec": {"mountPath": {}}},
        }
        for name, suite in SCORECARD_TESTS.items()
    ]
    return {
        "apiVersion": "scorecard.operatorframework.io/v1alpha3",
        "kind": "Configuration",
        "metadata": {"name": "config"},
        "stages": [{"parallel": True, "tests": tests}],
        "storage": {"spec": {"mountPath": {}}},
    }


def dockerfile() -> str:
    """Built with the directory bundle/ as its context."""
    labels = "".join(f"LABEL {name}={value}\n" for name, value in ANNOTATIONS.items())
    copies = "".join(f"COPY {part} /{part}/\n" for part in ("manifests", "metadata", "tests"))
    return f"{text.HEADER.format(source=SOURCE)}FROM scratch\n\n{labels}\n{copies}"
