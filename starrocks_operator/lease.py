"""Whether a Lease still says that we are the one operator that acts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from starrocks_operator.membership.pods import instant

DEFAULT_DURATION = 15


def lease_objection(lease: Mapping[str, Any] | None, *, identity: str, now: datetime) -> str:
    """Why the holder of this identity must not act, as a sentence; empty if it may."""
    if lease is None:
        return "the operator's Lease does not exist"
    spec = lease.get("spec") or {}
    holder = spec.get("holderIdentity") or ""
    if holder != identity:
        return f"another operator holds the Lease ({holder or 'nobody does'})"
    renewed = instant(spec.get("renewTime"))
    lasts = timedelta(seconds=spec.get("leaseDurationSeconds") or DEFAULT_DURATION)
    if renewed is None or renewed + lasts <= now:
        return "the operator's Lease was not renewed in time"
    return ""
