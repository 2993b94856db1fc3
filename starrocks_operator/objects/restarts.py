"""Restart on request: the moment from which the pods of a component shall be, as an annotation of their template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from starrocks_operator.model import StarRocksCluster
from starrocks_operator.observed import Raw

RESTART = "starrocks.com/restart-"
"""On the resource: `starrocks.com/restart-be: "2026-05-01T12:00:00Z"`."""
RESTARTED = "starrocks.com/restarted-at"
"""On the pod template: the latest moment that was asked for. It stays when the wish is taken away."""

SOON = timedelta(minutes=5)
"""A moment that far ahead is taken as now; whoever means a later one has to come again."""


def moment(text: str) -> datetime | None:
    """An RFC 3339 timestamp with its zone; None: it is none."""
    try:
        found = datetime.fromisoformat(text)
        return found.astimezone(UTC) if found.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def restarts_of(cluster: StarRocksCluster, workloads: Mapping[str, Raw], now: datetime) -> dict[str, str]:
    """By component, the moment for its pod template: the later one of what is asked for and what is there.

    One that lies in the future would outdo every restart that is asked for until then.
    """
    found: dict[str, str] = {}
    for name in cluster.spec.components:
        there, asked = _there(workloads.get(name)), cluster.annotations.get(RESTART + name, "").strip()
        known = {text: at for text in (there, asked) if (at := moment(text)) is not None}
        if asked != there and asked in known and known[asked] > now + SOON:
            del known[asked]
        if known:
            found[name] = max(known, key=lambda text: known[text])
    return found


def misunderstood(cluster: StarRocksCluster, now: datetime) -> Iterator[str]:
    """Annotations that ask for a restart of a component, and by no moment, or by one in the future."""
    for name in cluster.spec.components:
        asked = cluster.annotations.get(RESTART + name, "").strip()
        if asked and (at := moment(asked)) is None:
            yield f"{RESTART}{name}: {asked[:60]!r} is no moment such as 2026-05-01T12:00:00Z"
        elif asked and at is not None and at > now + SOON:
            yield f"{RESTART}{name}: {asked[:60]!r} lies in the future"


def stamped(template: dict[str, Any], at: str) -> dict[str, Any]:
    """The template with that moment on it; without one, as it is."""
    if not at:
        return template
    metadata = template["metadata"]
    annotations = {**(metadata.get("annotations") or {}), RESTARTED: at}
    return {**template, "metadata": {**metadata, "annotations": annotations}}


def _there(workload: Raw | None) -> str:
    template = ((workload or {}).get("spec") or {}).get("template") or {}
    return str(((template.get("metadata") or {}).get("annotations") or {}).get(RESTARTED, ""))
