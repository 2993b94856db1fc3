"""`starrocks.com/paused: "true"`: nothing is changed, neither objects nor members; status and metrics go on.

`starrocks.com/ignored` stops these, too.
"""

from __future__ import annotations

from collections.abc import Mapping

from starrocks_operator.decision import Decision, Finding
from starrocks_operator.quiet.still import held_still, intentions

PAUSED = "starrocks.com/paused"


def is_paused(annotations: Mapping[str, str]) -> bool:
    return annotations.get(PAUSED, "").strip().lower() == "true"


def paused(decision: Decision) -> Decision:
    """The same, and nothing of it is carried out."""
    if would := intentions(decision):
        message = f"Paused (annotation {PAUSED}): nothing is changed. Without that: {would}."
    else:
        message = f"Paused (annotation {PAUSED}): nothing would be changed just now."
    return held_still(decision, Finding(reason="Paused", message=message, remark=not decision.due))
