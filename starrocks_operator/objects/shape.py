"""What a StatefulSet must have while its pods are replaced one by one, instead of what it has at rest.

It travels in the Context, so that whoever builds the objects (the watcher, a role, a step) builds the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Shape:
    """template: a pod template to be kept instead of the wanted one; None: the wanted one. strategy: the update
    strategy; None: the one at rest. annotations: of the StatefulSet, laid over its others. claims: its claim templates;
    None: those of the spec."""

    template: Mapping[str, Any] | None = None
    strategy: Mapping[str, Any] | None = None
    annotations: Mapping[str, str] = field(default_factory=dict)
    claims: Sequence[Mapping[str, Any]] | None = None

    def document(self) -> dict[str, Any]:
        """The form in a Context; empty: as at rest."""
        found: dict[str, Any] = {
            "template": self.template,
            "strategy": self.strategy,
            "annotations": dict(self.annotations),
        }
        found = {name: value for name, value in found.items() if value}
        return found if self.claims is None else {**found, "claims": list(self.claims)}

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> Shape:
        """The inverse of `document`."""
        return cls(**document)


AT_REST = Shape()
