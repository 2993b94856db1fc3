"""Whose node it is, by the name of its host."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any


def warehouse_of(target: str) -> str:
    """The warehouse after whose pod a compute node is named, by the name that its objects have; empty: none."""
    match = re.match(r"(.+-warehouse)-cn-\d+\.", target)
    return match[1] if match else ""


def is_of(target: str, cluster: str) -> bool:
    """Named after a pod of this cluster. One that is known by its address is judged by the simulator's marks alone."""
    host = target.rpartition(":")[0]
    return re.fullmatch(rf"{re.escape(cluster)}-(fe|fe-observer|be|cn)-\d+\..*|[\d.]+", host) is not None


def uid_asked(write: Any) -> str:
    """The uid that a delete was bound to; empty: to none."""
    asked = write.asked if isinstance(write.asked, Mapping) else {}
    return str((asked.get("preconditions") or {}).get("uid") or "")
