"""From the typed model to the OpenAPI v3 structural schema that a CRD carries.

Pydantic says what the fields are; this turns its JSON schema into what Kubernetes calls structural: no references, no
nulls, no titles, Kubernetes' own types expanded.
"""

from typing import Any

from starrocks_operator.model.base import Model
from starrocks_operator.model.embedded import expand
from starrocks_operator.model.kubernetes import EMBEDDED

Schema = dict[str, Any]

_REQUIRED = "x-required"
_ALWAYS_EXPANDED = ("V1StatefulSetUpdateStrategy", "CoreV1ResourceClaim")  # a rule or a list key needs them
_NO_DEFAULT: tuple[Any, ...] = (None, "", False, [], {})


def structural(model: type[Model], *, expanded: bool = True) -> Schema:
    """The structural schema of a model; unexpanded, Kubernetes' larger types are objects of unknown content."""
    document = model.model_json_schema(by_alias=True)
    definitions = document.pop("$defs", {})
    return _Structural(definitions, expanded=expanded).of(document)


class _Structural:
    def __init__(self, definitions: dict[str, Schema], *, expanded: bool) -> None:
        self._definitions = definitions
        self._expanded = expanded

    def of(self, raw: Schema) -> Schema:
        """One node, with all below it."""
        schema = self._resolved(raw)
        for keyword in ("title", _REQUIRED):
            schema.pop(keyword, None)
        if schema.get("default") in _NO_DEFAULT:
            schema.pop("default", None)
        if "items" in schema:
            schema["items"] = self.of(schema["items"])
        if isinstance(schema.get("additionalProperties"), dict):
            schema["additionalProperties"] = self.of(schema["additionalProperties"])
        if "properties" in schema:
            self._properties(schema)
        return schema

    def _properties(self, schema: Schema) -> None:
        properties = schema["properties"]
        required = sorted(name for name, child in properties.items() if child.get(_REQUIRED))
        required += [name for name in schema.get("required", []) if name not in required]
        schema["properties"] = {name: self.of(child) for name, child in sorted(properties.items())}
        schema.pop("required", None)
        if required:
            schema["required"] = sorted(required)

    def _resolved(self, raw: Schema) -> Schema:
        """Without references, without the null of an optional field, with Kubernetes' types in full."""
        schema = dict(raw)
        if "anyOf" in schema and {"type": "null"} in schema["anyOf"]:
            (only,) = (form for form in schema.pop("anyOf") if form != {"type": "null"})
            schema = dict(only) | schema
        if reference := schema.pop("$ref", None):
            schema = self._definitions[reference.rsplit("/", 1)[1]] | schema
        if type_name := schema.pop(EMBEDDED, None):
            schema.pop("description", None)  # `kubectl explain pod.spec` says it better
            schema = self._embedded(type_name) | schema
        return schema

    def _embedded(self, type_name: str) -> Schema:
        if self._expanded or type_name in _ALWAYS_EXPANDED:
            return expand(type_name)
        return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
