"""What every part of the model shares: frozen, lenient, camelCase outside and snake_case inside.

The apiserver has already judged an object when we read it, so nothing here refuses a value: unknown fields are
ignored, nulls count as absent, and what must hold is said once, in `rules.py`.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic.alias_generators import to_camel

MAX_ITEMS = 64
"""Longest list our own rules look into: without a bound the apiserver refuses the rules as too costly."""

MAX_LENGTH = 253
"""Longest string our own rules look into, which is also the longest name Kubernetes has."""


Keywords = dict[str, Any]
"""OpenAPI keywords that a field adds to its schema. They bind in the CRD and not when we parse."""

REQUIRED: Keywords = {"x-required": True}
"""Marks a field that the CRD requires, though an object without it can still be read."""


class Model(BaseModel):
    """A frozen piece of a StarRocksCluster."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        alias_generator=to_camel,
        populate_by_name=True,
        use_attribute_docstrings=True,
        protected_namespaces=(),
    )

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and None in raw.values():
            return {key: value for key, value in raw.items() if value is not None}
        return raw

    def to_dict(self) -> dict[str, Any]:
        """The object as it travels: camelCase keys, only what was set."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)
