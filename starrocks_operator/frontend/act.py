"""Doing one Step: look, say one statement, and look again if the answer was lost.

"Already exists" counts as done only if the row that is there is the one that was wanted; a lost reply is resolved by
looking, never by repeating.
"""

from __future__ import annotations

from collections.abc import Sequence

from starrocks_operator.frontend.connection import FrontendConnection, FrontendError
from starrocks_operator.frontend.endpoints import Credentials, Endpoint
from starrocks_operator.frontend.pool import FrontendPool
from starrocks_operator.frontend.rows import backend_row, compute_node_row, frontend_row, settings_of
from starrocks_operator.frontend.statements import (
    SHOW_BACKENDS,
    SHOW_FRONTENDS,
    means_already_so,
    read_of,
    statement_of,
)
from starrocks_operator.membership.goal import Goal, goal_of, goal_of_setting
from starrocks_operator.observed import ComputeRow, FrontendRow
from starrocks_operator.run_report import StepOutcome
from starrocks_operator.step import REPEATED_STEPS, SETTING_STEPS, Step, StepKind

Result = tuple[StepOutcome, str]


def perform(step: Step, *, leader: Endpoint, credentials: Credentials, pool: FrontendPool) -> Result:
    """Do the step on the leader; what became of it, and a sentence about it."""
    reply = pool.ask_all({leader: lambda connection: _attempt(connection, step)}, credentials)[leader]
    if not isinstance(reply, FrontendError):
        return reply
    if reply.lost and step.kind in REPEATED_STEPS:
        return StepOutcome.UNKNOWN, f"{step.kind} {step.target}: {reply}; it is said again."
    if not reply.lost:
        return StepOutcome.FAILED, f"{step.kind} {step.target}: {reply}"
    found = pool.ask_all({leader: lambda connection: _goal(connection, step)}, credentials)[leader]
    if found == Goal.REACHED:
        return StepOutcome.DONE, f"{step.kind} {step.target}: done; the reply was lost, and looking again showed it."
    return StepOutcome.UNKNOWN, f"{step.kind} {step.target}: {reply}; whether it was done shows at the next look."


def perform_everywhere(
    step: Step, *, places: Sequence[Endpoint], credentials: Credentials, pool: FrontendPool
) -> Result:
    """Say the step's statement to each of these frontends. Whom it did not reach, the next look finds out."""
    name = f"{step.kind} {step.target}"
    replies = pool.ask_all(dict.fromkeys(places, lambda connection: connection.ask(statement_of(step))), credentials)
    failures = [reply for reply in replies.values() if isinstance(reply, FrontendError)]
    if not failures:
        return StepOutcome.DONE, f"{name}: done at {len(places)} frontends."
    said = "; ".join(str(failure) for failure in failures)
    lost = any(failure.lost for failure in failures)
    return (StepOutcome.UNKNOWN if lost else StepOutcome.FAILED), f"{name}: {said}"


def _attempt(connection: FrontendConnection, step: Step) -> Result:
    name = f"{step.kind} {step.target}"
    if step.kind in REPEATED_STEPS:
        connection.ask(statement_of(step))
        return StepOutcome.DONE, f"{name}: done."
    try:
        before = _goal(connection, step)
    except FrontendError as failure:
        return StepOutcome.FAILED, f"{name}: nothing was done, since FE could not be read: {failure}"
    match before:
        case Goal.REACHED if step.kind != StepKind.SET_FRONTEND_CONFIG:  # the leader has it, another has not
            return StepOutcome.DONE, f"{name}: it was so already."
        case Goal.CHANGED:
            return StepOutcome.STALE, f"{name}: the member is no longer the one the step was decided for."
        case _:
            pass
    try:
        connection.ask(statement_of(step))
    except FrontendError as failure:
        # A setting is changed on the leader even if another frontend could not be told.
        if failure.lost or not (means_already_so(str(failure)) or step.kind in SETTING_STEPS):
            raise
        if _goal(connection, step) != Goal.REACHED:
            if step.kind in SETTING_STEPS:
                raise
            return StepOutcome.FAILED, f"{name}: FE refused it ({failure}), and the member there is not the one wanted."
        return StepOutcome.DONE, f"{name}: it was so already."
    return StepOutcome.DONE, f"{name}: done."


def _goal(connection: FrontendConnection, step: Step) -> Goal:
    question = read_of(step)
    records = connection.ask(question)
    if step.kind in SETTING_STEPS:
        return goal_of_setting(step, settings_of(records).get(step.target))
    rows: tuple[FrontendRow, ...] | tuple[ComputeRow, ...]
    if question == SHOW_FRONTENDS:
        rows = tuple(frontend_row(record) for record in records)
    else:
        rows = tuple(map(backend_row if question == SHOW_BACKENDS else compute_node_row, records))
    return goal_of(step, rows)
