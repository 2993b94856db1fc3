"""The status of a cluster that the operator could not even think about.

One cluster's trouble stays its own: the rest of its status is left as it was, and what is said here names the kind of
trouble and no values, as those may be secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from starrocks_operator.model import MalformedClusterError

Json = dict[str, Any]


def explain(error: Exception) -> tuple[str, str]:
    """A reason and a sentence."""
    if isinstance(error, MalformedClusterError):
        return "InvalidSpec", str(error)[:1000]
    kind = type(error).__name__
    return (
        "InternalError",
        f"The operator failed to process this cluster ({kind}); its log says where. Please report it.",
    )


def status_of_poisoned(raw: Mapping[str, Any], reason: str, message: str, *, now: datetime) -> Json:
    """The old status with Degraded=True and Ready=False for this reason."""
    old = dict(raw.get("status") or {})
    generation = raw["metadata"].get("generation", 0)
    conditions = {item["type"]: item for item in old.get("conditions") or () if isinstance(item, dict)}
    for name, value in (("Ready", "False"), ("Degraded", "True")):
        before = conditions.get(name) or {}
        moved = before.get("status") != value or not before.get("lastTransitionTime")
        conditions[name] = {
            "type": name,
            "status": value,
            "reason": reason,
            "message": message,
            "observedGeneration": generation,
            "lastTransitionTime": now.strftime("%Y-%m-%dT%H:%M:%SZ") if moved else before["lastTransitionTime"],
        }
    return {"phase": "reconciling", **old, "reason": message, "conditions": list(conditions.values())}
