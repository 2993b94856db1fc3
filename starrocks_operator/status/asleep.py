"""What the status says of a cluster that hibernates: nothing is wrong, and nobody can say anything."""

from __future__ import annotations

from typing import Any

from starrocks_operator.decision import Decision

HIBERNATED = "hibernated"


def said_of_sleep(status: dict[str, Any], decision: Decision, components: tuple[str, ...]) -> dict[str, Any]:
    """The status with that in place of what is concluded from pods and members. components: their fields in it."""
    if not decision.asleep:
        return status
    word = {"phase": HIBERNATED, "reason": ""}
    parts = {name: {**status[name], **word} for name in components if status.get(name)}
    return {**status, **word, **parts}
