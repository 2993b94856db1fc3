"""Doing a step on an account: say it as whoever may, and see by a login whether it worked.

A lost reply is resolved in the same way: if the new password lets us in, it was done.
"""

from __future__ import annotations

from starrocks_operator.frontend.connection import FrontendConnection, FrontendError
from starrocks_operator.frontend.endpoints import Credentials, Endpoint
from starrocks_operator.frontend.pool import Conversation, FrontendPool
from starrocks_operator.frontend.statements import SHOW_FRONTENDS, account_statements, native_hash
from starrocks_operator.observed import Login
from starrocks_operator.run_report import StepOutcome
from starrocks_operator.step import Step, StepKind

Result = tuple[StepOutcome, str]

_NEW = {
    StepKind.SET_ROOT_PASSWORD: Login.GIVEN,
    StepKind.ROTATE_ROOT_PASSWORD: Login.GIVEN,
    StepKind.CREATE_OPERATOR_ACCOUNT: Login.ACCOUNT,
    StepKind.ROTATE_OPERATOR_PASSWORD: Login.ACCOUNT,
}


def perform_account(step: Step, *, leader: Endpoint, credentials: Credentials, pool: FrontendPool) -> Result:
    """What became of it, and a sentence about it; neither holds a password or its hash."""
    name = f"{step.kind} {step.target}"
    before, after = credentials.only(step.fact("login")), credentials.only(_NEW[step.kind])
    if before is None or after is None or not after.password:
        return StepOutcome.STALE, f"{name}: the password it is about is no longer known."
    hidden = {"hash": native_hash(after.password)}

    def say(connection: FrontendConnection) -> None:
        for statement in account_statements(step):
            connection.tell(statement, hidden)

    failure = _try(pool, leader, before, say)
    if failure is not None and not failure.lost:
        return StepOutcome.FAILED, f"{name}: {failure}"
    refusal = _try(pool, leader, after, _look_around)
    if refusal is None:
        how = "the reply was lost, and a login with the new password worked" if failure else "a login with it worked"
        return StepOutcome.DONE, f"{name}: done; {how}."
    if failure is not None or refusal.lost or not refusal.wrong_password:
        return StepOutcome.UNKNOWN, f"{name}: {failure or refusal}; whether it was done shows at the next look."
    return StepOutcome.FAILED, f"{name}: FE took the password, and refuses a login with it: {refusal}"


def _look_around(connection: FrontendConnection) -> None:
    """To have logged in is not enough for the operator's account: it must be allowed to ask."""
    connection.ask(SHOW_FRONTENDS)


def _try(pool: FrontendPool, leader: Endpoint, who: Credentials, talk: Conversation[None]) -> FrontendError | None:
    reply = pool.ask_all({leader: talk}, who)[leader]
    return reply if isinstance(reply, FrontendError) else None
