"""One statement at one frontend: parse, check rights, send it where it belongs, and say what the client sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.simulator.model import commands
from lab.simulator.model.accounts import check_privilege
from lab.simulator.model.grammar import Statement, Where, parse
from lab.simulator.model.outcome import ConnectionLost, Hang, Outcome, QuorumLostError, Refused, SqlError
from lab.simulator.model.process import Faults, FrontendProcess
from lab.simulator.model.session import Session

if TYPE_CHECKING:
    from lab.simulator.model.world import World


def execute(world: World, process: FrontendProcess, sql: str, session: Session) -> Outcome:
    if process.faults.hang:
        return Hang("the process is stopped")
    if not process.serving or process.database is None:
        return ConnectionLost(why="connection refused")
    if _due(process.faults, "lose_request"):
        return ConnectionLost(why="broken before the statement arrived")
    lose_reply = _due(process.faults, "lose_reply")
    outcome = _answer(world, process, sql, session)
    if lose_reply and not isinstance(outcome, Hang):
        return ConnectionLost(why="broken after the statement was executed")
    return outcome


def _due(faults: Faults, name: str) -> bool:
    """A counter that reaches one is due now."""
    left: int = getattr(faults, name)
    if left > 0:
        setattr(faults, name, left - 1)
    return left == 1


def _answer(world: World, process: FrontendProcess, sql: str, session: Session) -> Outcome:
    try:
        if process.faults.errors:
            code, text = process.faults.errors.pop(0)
            return Refused(code, text)
        statement = parse(sql, world.options.features(process.facts.version))
        where = _executing(process, statement, session, world)
        if where is None:
            return Hang("there is no leader to forward to")
        database = where.database
        assert database is not None
        state = database.view(where)
        check_privilege(state.accounts, state.roles, session, statement.privileges)
        return commands.run(
            commands.Call(world=world, database=database, process=where, statement=statement, session=session)
        )
    except SqlError as error:
        return Refused(error.code, error.text)
    except QuorumLostError:
        return ConnectionLost(after=world.timing.write_timeout, why="the journal write was not acknowledged")


def _executing(
    process: FrontendProcess, statement: Statement, session: Session, world: World
) -> FrontendProcess | None:
    """The frontend that executes: this one, the leader, or nobody (the statement hangs)."""
    database = process.database
    assert database is not None
    cut_off = process.removed_at is not None
    leader = None if cut_off else database.leader
    local = statement.where is Where.LOCAL and not session.forward_to_leader
    if process is leader:
        return process
    if local:
        since = process.removed_at if cut_off else process.leaderless_since
        if since is None or world.now - since <= world.timing.stale_reads:
            return process
    return leader if leader is not None and leader.answers else None
