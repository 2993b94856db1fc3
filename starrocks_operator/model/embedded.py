"""The structural schema of Kubernetes' own types, read off the models of the official Python client.

Runs only when CRDs are generated. Descriptions are left out: `kubectl explain pod.spec` has them, and a CRD that
carries them all is too large to apply.
"""

import re
from functools import cache
from typing import Any

from kubernetes import client

_SCALARS: dict[str, dict[str, Any]] = {
    "str": {"type": "string"},
    "bool": {"type": "boolean"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "datetime": {"type": "string", "format": "date-time"},
}  # no formats of integers: they cost room, and the pod is checked again when it is made
_INT_OR_STRING: dict[str, Any] = {"x-kubernetes-int-or-string": True}  # `anyOf` beside it only costs room

_QUANTITIES = {
    ("V1ResourceRequirements", "limits"),
    ("V1ResourceRequirements", "requests"),
    ("V1ResourceFieldSelector", "divisor"),
    ("V2MetricTarget", "average_value"),
    ("V2MetricTarget", "value"),
    ("V2HPAScalingRules", "tolerance"),
}
"""Quantities are plain strings to the Python client, but people write `cpu: 4`."""

_LIST_MAPS: dict[tuple[str, str], list[str]] = {("V1ResourceRequirements", "claims"): ["name"]}
_ATOMIC_MAPS = {"V1LabelSelector", "V1NodeSelector", "V1NodeSelectorTerm", "V1LocalObjectReference"}
_ATOMIC_MAPS |= {"V1ConfigMapKeySelector", "V1SecretKeySelector", "V1ObjectFieldSelector", "V1ResourceFieldSelector"}


@cache
def required_fields(type_name: str) -> frozenset[str]:
    """Attributes that the Kubernetes API requires of a type."""
    fields = getattr(client, type_name).model_fields
    return frozenset(name for name, field in fields.items() if field.is_required())


def expand(type_name: str) -> dict[str, Any]:
    """The schema of one of Kubernetes' types, with everything it contains."""
    model = getattr(client, type_name)
    properties = {
        model.attribute_map[name]: _attribute(type_name, name, declared)
        for name, declared in model.openapi_types.items()
    }
    schema: dict[str, Any] = {"type": "object", "properties": dict(sorted(properties.items()))}
    if required := sorted(model.attribute_map[name] for name in required_fields(type_name)):
        schema["required"] = required
    if type_name in _ATOMIC_MAPS:
        schema["x-kubernetes-map-type"] = "atomic"
    return schema


def _attribute(owner: str, name: str, declared: str) -> dict[str, Any]:
    if (owner, name) in _QUANTITIES:
        if declared.startswith("Dict"):
            return {"type": "object", "additionalProperties": _INT_OR_STRING}
        return _INT_OR_STRING
    schema = _declared(declared)
    if keys := _LIST_MAPS.get((owner, name)):
        schema = schema | {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys}
    return schema


def _declared(declared: str) -> dict[str, Any]:
    """The schema of a type as the client spells it: `List[V1EnvVar]`, `Dict[str, str]`, `object`."""
    if declared == "object":  # in the types we embed, always an int-or-string
        return _INT_OR_STRING
    if declared in _SCALARS:
        return _SCALARS[declared]
    if found := re.fullmatch(r"List\[(.+)\]", declared):
        return {"type": "array", "items": _declared(found[1])}
    if found := re.fullmatch(r"Dict\[str, (.+)\]", declared):
        return {"type": "object", "additionalProperties": _declared(found[1])}
    return expand(declared)
