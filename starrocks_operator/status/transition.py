"""One Event, before it is one."""

from __future__ import annotations

from dataclasses import dataclass

NORMAL, WARNING = "Normal", "Warning"


@dataclass(frozen=True, kw_only=True)
class Transition:
    """One Event."""

    type: str
    reason: str
    message: str
