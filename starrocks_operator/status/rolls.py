"""The Events of a roll: that it begins, and that it is over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from starrocks_operator.membership.pods import instant
from starrocks_operator.status.transition import NORMAL, Transition

_ELSEWHERE = frozenset({"failed", "hibernated"})
"""Phases in which nothing is told of a roll although it is not over."""


def roll_transitions(
    before: Mapping[str, Any], after: Mapping[str, Any], *, now: datetime | None
) -> Iterator[Transition]:
    """now: where it is known, the end tells how long it took."""
    was, has = before.get("rollout") or {}, after.get("rollout") or {}
    if has.get("began") and not was.get("began"):
        total = has.get("total", 0)
        left = total - has.get("done", 0)
        message = f"Pods are replaced one by one: {left} of {total} are not as wanted."
        yield Transition(type=NORMAL, reason="RolloutBegan", message=message)
    elif was.get("began") and not has.get("began") and after.get("phase") not in _ELSEWHERE:
        began, total = instant(was["began"]), was.get("total", 0)
        time = f", after {_words(now, began)}" if now is not None and began is not None else ""
        message = f"No pod is to be replaced any more: all {total} have the wanted template{time}."
        yield Transition(type=NORMAL, reason="RolloutEnded", message=message)


def _words(now: datetime, began: datetime) -> str:
    seconds = max(round((now - began).total_seconds()), 0)
    hours, minutes = seconds // 3600, seconds // 60 % 60
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {seconds % 60} s" if minutes else f"{seconds} s"
