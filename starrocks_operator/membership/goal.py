"""Has a step reached its goal? Asked before the statement, after it, and when its reply was lost."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from starrocks_operator.membership.quorum import VOTING_ROLES
from starrocks_operator.observed import ComputeRow, FrontendRow
from starrocks_operator.step import Step, StepKind

ADDING = frozenset({StepKind.ADD_FOLLOWER, StepKind.ADD_BACKEND, StepKind.ADD_COMPUTE_NODE})


class Goal(StrEnum):
    """Where a step stands."""

    REACHED = "reached"
    OPEN = "open"
    CHANGED = "changed"  # the world is not the one in which the step was decided


def goal_of(step: Step, rows: Iterable[FrontendRow] | Iterable[ComputeRow]) -> Goal:
    """Compare FE's rows with what the step wants. rows: those of the kind of member that the step is about."""
    row = next((row for row in rows if row.target.lower() == step.target.lower()), None)
    if step.kind in ADDING:
        if row is None:
            return Goal.OPEN
        return Goal.REACHED if _has_role(step, row) else Goal.CHANGED
    if row is None:
        return Goal.REACHED
    if all(_fact(row, fact) in (None, value) for fact, value in step.expects):
        return Goal.OPEN
    identity = dict(step.expects).get("name") or dict(step.expects).get("id")
    present = _fact(row, "name") or _fact(row, "id")
    # Another member under the same address: the one that was to be dropped is gone.
    return Goal.REACHED if identity and identity != present else Goal.CHANGED


def _has_role(step: Step, row: FrontendRow | ComputeRow) -> bool:
    if step.kind == StepKind.ADD_FOLLOWER:
        return isinstance(row, FrontendRow) and row.role in VOTING_ROLES
    return True


def _fact(row: FrontendRow | ComputeRow, fact: str) -> str | None:
    """A fact as Step.expects writes it; None if rows of this kind do not tell it."""
    if fact == "alive":
        return "true" if row.alive else "false"
    value = getattr(row, fact, None)
    return value if isinstance(value, str) else None
