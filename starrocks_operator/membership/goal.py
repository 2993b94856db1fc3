"""Has a step reached its goal? Asked before the statement, after it, and when its reply was lost."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from starrocks_operator.membership.quorum import VOTING_ROLES
from starrocks_operator.observed import ComputeRow, FrontendRow
from starrocks_operator.step import Step, StepKind

Row = FrontendRow | ComputeRow

ADDING = frozenset(
    {StepKind.ADD_FOLLOWER, StepKind.ADD_OBSERVER, StepKind.ADD_BACKEND, StepKind.ADD_COMPUTE_NODE},
)
FLAGGING = {StepKind.DECOMMISSION_BACKEND: True, StepKind.CANCEL_DECOMMISSION: False}


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
    if step.kind in FLAGGING:
        return _goal_of_flag(step, row)
    if row is None:
        return Goal.REACHED
    if _as_expected(step, row):
        return Goal.OPEN
    identity = step.fact("name") or step.fact("id")
    present = _fact(row, "name") or _fact(row, "id")
    # Another member under the same address: the one that was to be dropped is gone.
    return Goal.REACHED if identity and identity != present else Goal.CHANGED


def goal_of_setting(step: Step, value: str | None) -> Goal:
    """The same for a setting of FE. value: what the leader has now; None: it knows no such setting."""
    if value is None:
        return Goal.CHANGED
    if value == step.fact("to"):
        return Goal.REACHED
    return Goal.OPEN if step.fact("value") in ("", value) else Goal.CHANGED


def _goal_of_flag(step: Step, row: Row | None) -> Goal:
    """A backend that was dropped, or came back under a new id, is not the one that was to be told."""
    if not isinstance(row, ComputeRow) or row.id != step.fact("id"):
        return Goal.CHANGED
    if row.decommissioned == FLAGGING[step.kind]:
        return Goal.REACHED
    return Goal.OPEN if _as_expected(step, row) else Goal.CHANGED


def _as_expected(step: Step, row: Row) -> bool:
    """A row that does not tell what it should is as expected only for a step that can be taken back."""
    return all(
        not hasattr(row, fact) or _fact(row, fact) in ((None, value) if step.reversible else (value,))
        for fact, value in step.expects
    )


def _has_role(step: Step, row: Row) -> bool:
    if step.kind == StepKind.ADD_FOLLOWER:
        return isinstance(row, FrontendRow) and row.role in VOTING_ROLES
    if step.kind == StepKind.ADD_OBSERVER:
        return isinstance(row, FrontendRow) and row.role == "OBSERVER"
    return True


def _fact(row: Row, fact: str) -> str | None:
    """A fact as Step.expects writes it; None if rows of this kind do not tell it."""
    value = getattr(row, fact, None)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return value if isinstance(value, str) else None
