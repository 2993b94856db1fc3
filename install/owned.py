"""The kinds that the bundle owns, as OLM's console shows them: described by the CRDs themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from install.identity import ROOT
from install.text import parse
from starrocks_operator.model import GROUP_KIND, KIND
from starrocks_operator.model.crd import TARGET, WAREHOUSE_TARGET, cluster_crd, warehouse_crd
from starrocks_operator.model.group_crd import TARGET as GROUP_TARGET
from starrocks_operator.model.group_crd import group_crd
from starrocks_operator.model.warehouse import WAREHOUSE_KIND

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Owned:
    """title, samples, makes: what the CRD does not say of itself. makes: kinds of the objects it becomes."""

    crd: Json
    file: Path
    title: str
    samples: tuple[str, ...]
    makes: tuple[str, ...]

    @property
    def version(self) -> Json:
        """The one that is stored."""
        (stored,) = (version for version in self.crd["spec"]["versions"] if version["storage"])
        return dict(stored)

    def entry(self) -> Json:
        """The item of `customresourcedefinitions.owned`."""
        schema = self.version["schema"]["openAPIV3Schema"]
        return {
            "name": self.crd["metadata"]["name"],
            "kind": self.crd["spec"]["names"]["kind"],
            "version": self.version["name"],
            "displayName": self.title,
            "description": schema["description"],
            "resources": [{"kind": kind, "version": version, "name": ""} for kind, version in map(_kind, self.makes)],
            "specDescriptors": list(_descriptors(schema["properties"]["spec"])),
            "statusDescriptors": list(_descriptors(schema["properties"]["status"])),
        }

    def examples(self) -> Iterator[Json]:
        for name in self.samples:
            yield from parse(ROOT / "crds" / "samples" / f"{name}.yaml")


_STATEFUL = ("StatefulSet/v1", "Pod/v1", "Service/v1", "HorizontalPodAutoscaler/v2")
_AROUND = ("PersistentVolumeClaim/v1", "ConfigMap/v1", "PodDisruptionBudget/v1")
OWNED = (
    Owned(
        crd=cluster_crd(),
        file=TARGET,
        title="StarRocks cluster",
        samples=("demo", "minimal"),
        makes=(*_STATEFUL, *_AROUND, "Deployment/v1"),
    ),
    Owned(
        crd=warehouse_crd(),
        file=WAREHOUSE_TARGET,
        title="StarRocks warehouse",
        samples=("warehouse",),
        makes=(*_STATEFUL, *_AROUND),
    ),
    Owned(
        crd=group_crd(),
        file=GROUP_TARGET,
        title="Compute node group",
        samples=("seed-001",),
        makes=_STATEFUL,
    ),
)
KINDS = (KIND, WAREHOUSE_KIND, GROUP_KIND)

_CONDITIONS = "urn:alm:descriptor:io.kubernetes.conditions"
_TEXT = "urn:alm:descriptor:text"
_WIDGETS = {
    "conditions": _CONDITIONS,
    "phase": "urn:alm:descriptor:io.kubernetes.phase",
    "reason": "urn:alm:descriptor:io.kubernetes.phase:reason",
    "deletionProtection": "urn:alm:descriptor:com.tectonic.ui:booleanSwitch",
}


def _kind(name: str) -> tuple[str, str]:
    kind, _, version = name.partition("/")
    return kind, version


def _descriptors(schema: Json) -> Iterator[Json]:
    """Of every field that has something to say for itself; misspelt ones, which only exist to be refused, have not."""
    for name, field in schema["properties"].items():
        if text := field.get("description"):
            yield {
                "path": name,
                "displayName": _title(name),
                "description": text,
                "x-descriptors": [_WIDGETS.get(name, _TEXT)],
            }


def _title(name: str) -> str:
    """starRocksFeSpec: StarRocks FE; waitingFor: Waiting for."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name.removesuffix("Spec").replace("starRocks", ""))
    known = {"fe": "FE", "be": "BE", "cn": "CN", "hpa": "HPA"}
    shown = " ".join(known.get(word.lower(), word.lower()) for word in words)
    return shown[:1].upper() + shown[1:]
