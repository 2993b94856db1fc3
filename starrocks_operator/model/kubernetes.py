"""Kubernetes types inside a StarRocksCluster: raw JSON for us, a full structural schema in the CRD.

We hand these values on to the apiserver unread, so typing them would only cost time and lose fields that a newer
Kubernetes knows. The marker names the type whose schema `embedded.py` expands when the CRD is generated.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, GetJsonSchemaHandler, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

EMBEDDED = "x-embedded-kubernetes-type"
"""Key that marks, in the intermediate JSON schema, a value to be expanded."""


@dataclass(frozen=True)
class Kubernetes:
    """Marks a raw value as one of Kubernetes' own types, by its name in the Python client."""

    type_name: str

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {EMBEDDED: self.type_name}


def _variable(raw: Any) -> Any:
    """Where the CRD does not expand the type, nobody else has looked: we read names, and what they refer to."""
    if not isinstance(raw, dict) or not isinstance(raw.get("name"), str) or not raw["name"]:
        raise ValueError("an environment variable needs a name")
    if not _refers(raw.get("valueFrom")):
        raise ValueError(f"valueFrom of {raw['name'][:80]} is not made of objects")
    return raw


def _container(raw: Any) -> Any:
    if not isinstance(raw, dict):
        raise ValueError("a container is an object")
    for key in ("env", "envFrom"):
        if not isinstance(raw.get(key) or [], list):
            raise ValueError(f"{key} is a list")
    for entry in raw.get("env") or ():
        _variable(entry)
    for entry in raw.get("envFrom") or ():
        if not isinstance(entry, dict) or not all(_refers({key: entry.get(key)}) for key in _SOURCES):
            raise ValueError("envFrom is a list of configMapRef and secretRef")
    return raw


_SOURCES = ("configMapRef", "secretRef")


def _refers(source: Any) -> bool:
    """Whether it is nothing, or an object of objects whose names and keys are texts."""
    if source is None:
        return True
    return isinstance(source, dict) and all(
        part is None
        or (isinstance(part, dict) and all(isinstance(part.get(word) or "", str) for word in ("name", "key")))
        for part in source.values()
    )


Affinity = Annotated[dict[str, Any], Kubernetes("V1Affinity")]
Capabilities = Annotated[dict[str, Any], Kubernetes("V1Capabilities")]
Container = Annotated[dict[str, Any], BeforeValidator(_container), Kubernetes("V1Container")]
EnvVar = Annotated[dict[str, Any], BeforeValidator(_variable), Kubernetes("V1EnvVar")]
HostAlias = Annotated[dict[str, Any], Kubernetes("V1HostAlias")]
HPABehavior = Annotated[dict[str, Any], Kubernetes("V2HorizontalPodAutoscalerBehavior")]
Lifecycle = Annotated[dict[str, Any], Kubernetes("V1Lifecycle")]
LocalObjectReference = Annotated[dict[str, Any], Kubernetes("V1LocalObjectReference")]
MetricSpec = Annotated[dict[str, Any], Kubernetes("V2MetricSpec")]
PersistentVolumeClaimRetentionPolicy = Annotated[
    dict[str, Any], Kubernetes("V1StatefulSetPersistentVolumeClaimRetentionPolicy")
]
PodDNSConfig = Annotated[dict[str, Any], Kubernetes("V1PodDNSConfig")]
ResourceClaim = Annotated[dict[str, Any], Kubernetes("CoreV1ResourceClaim")]
Sysctl = Annotated[dict[str, Any], Kubernetes("V1Sysctl")]
Toleration = Annotated[dict[str, Any], Kubernetes("V1Toleration")]
TopologySpreadConstraint = Annotated[dict[str, Any], Kubernetes("V1TopologySpreadConstraint")]
UpdateStrategy = Annotated[dict[str, Any], Kubernetes("V1StatefulSetUpdateStrategy")]

Opaque = Annotated[dict[str, Any], WithJsonSchema({"type": "object", "x-kubernetes-preserve-unknown-fields": True})]
"""One of Kubernetes' types that the CRD has no room for: judged only when the object that carries it is made."""

QUANTITY_PATTERN = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
QUANTITY_SCHEMA: dict[str, Any] = {
    "pattern": QUANTITY_PATTERN,
    "x-kubernetes-int-or-string": True,
}

Quantity = Annotated[str, BeforeValidator(str), WithJsonSchema(QUANTITY_SCHEMA)]
"""A resource quantity, always as the string it is written as: `4` and `"4"` are the same."""

Int32 = Annotated[int, WithJsonSchema({"type": "integer", "format": "int32"})]
Int64 = Annotated[int, WithJsonSchema({"type": "integer", "format": "int64"})]

StringMap = Mapping[str, str]
QuantityMap = Mapping[str, Quantity]
