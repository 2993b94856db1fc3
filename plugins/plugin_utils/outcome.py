"""What became of each object of a task, and how that reads as an Ansible result."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_NOISE = ("managedFields", "resourceVersion", "generation")
_HIDDEN = "(hidden)"


@dataclass
class Outcome:
    """Collects over all objects: one that was refused does not keep the others from being applied."""

    changed: bool = False
    objects: list[dict[str, Any]] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    differences: list[dict[str, Any]] = field(default_factory=list)
    remark: str = ""

    def record(
        self, raw: Mapping[str, Any], *, changed: bool, resource_version: str = "", new_pods: bool | None = None
    ) -> None:
        """new_pods: whether its pod template changes, so that its pods are replaced; None: it was not compared."""
        self.changed = self.changed or changed
        told = {} if new_pods is None else {"new_pods": new_pods}
        self.objects.append(
            {
                "kind": raw["kind"],
                "name": raw["metadata"]["name"],
                "changed": changed,
                "resourceVersion": resource_version,
                **told,
            }
        )

    def document(self, *, diff: bool) -> dict[str, Any]:
        result: dict[str, Any] = {"changed": self.changed, "objects": self.objects}
        if self.remark:
            result["msg"] = self.remark
        if self.refusals:
            result |= {"failed": True, "msg": " ".join(self.refusals)}
        if diff:
            result["diff"] = self.differences
        return result


def same_content(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return without_noise(before) == without_noise(after)


def pod_template(raw: Mapping[str, Any]) -> Any:
    """What its pods are made from; None for what has no pods."""
    return (raw.get("spec") or {}).get("template")


def without_noise(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The object without what the API server alone writes."""
    metadata = {key: value for key, value in (raw.get("metadata") or {}).items() if key not in _NOISE}
    return {**{key: value for key, value in raw.items() if key != "status"}, "metadata": metadata}


def shown(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The object as a diff may show it: literal values of environment variables may be passwords."""
    copied = copy.deepcopy(without_noise(raw))
    pod = ((copied.get("spec") or {}).get("template") or {}).get("spec") or {}
    for container in (*(pod.get("initContainers") or ()), *(pod.get("containers") or ())):
        for entry in container.get("env") or ():
            if entry.get("value"):
                entry["value"] = _HIDDEN
    return copied
