"""What a StatefulSet remembers while its pods sleep: how many it had."""

from __future__ import annotations

from starrocks_operator.observed import Raw

AWAKE = "starrocks.com/replicas-awake"
"""On a StatefulSet that was put to sleep; it goes when the pods are made again."""


def awake_replicas(workload: Raw | None) -> int | None:
    """The replicas that a sleeping StatefulSet had; None: it does not sleep."""
    annotations = ((workload or {}).get("metadata") or {}).get("annotations") or {}
    told = str(annotations.get(AWAKE, ""))
    return int(told) if told.isdecimal() and not int(((workload or {}).get("spec") or {}).get("replicas", 1)) else None
