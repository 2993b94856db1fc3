"""What runs in a pod from its start on: the images' entrypoints and our own start script, as scripts on virtual time."""

from __future__ import annotations

from collections.abc import Generator

from lab.simulator.model.accounts import check_password
from lab.simulator.model.container import FOREVER, Container, Script
from lab.simulator.model.facts import Component, Entrypoint
from lab.simulator.model.frontend_start import start_frontend
from lab.simulator.model.outcome import Outcome, Refused, Rows, SqlError
from lab.simulator.model.process import FrontendProcess, NodeProcess
from lab.simulator.model.session import Session
from lab.simulator.model.statements import execute

_NOUN = {Component.BE: "BACKEND", Component.CN: "COMPUTE NODE"}


def script_for(container: Container) -> Script:
    if container.facts.component is not Component.FE:
        return _node_script(container)
    if container.facts.entrypoint is Entrypoint.SAFE:
        return _safe_frontend_script(container)
    return _image_frontend_script(container)


def ask(container: Container, process: FrontendProcess | None, sql: str) -> Outcome | None:
    """The image's `mysql` client as root with MYSQL_PWD; None: refused, hung (it gives up) or broken."""
    if process is None or process.database is None or not process.answers:
        return None
    try:
        check_password(process.database.view(process).accounts, "root", container.facts.password)
    except SqlError as error:
        return Refused(error.code, error.text)
    return execute(container.world, process, sql, Session(user="root"))


def _leader_in(outcome: Outcome | None) -> tuple[str | None, bool]:
    """The leader's host in SHOW FRONTENDS, and whether any member was seen at all."""
    if not isinstance(outcome, Rows):
        return None, False
    rows = outcome.as_dicts()
    return next((row["IP"] for row in rows if row["Role"] == "LEADER"), None), bool(rows)


# -- frontends -------------------------------------------------------------------------------------------------


def _image_frontend_script(container: Container) -> Script:
    world, facts, timing = container.world, container.facts, container.world.timing
    if container.volume.meta is not None:
        return (yield from start_frontend(container, helper=None))
    container.activity = "looking for a leader behind the service"
    began, seen = world.now, False
    while True:
        leader, members = _leader_in(ask(container, world.service(facts.cluster), "SHOW FRONTENDS"))
        seen = seen or members
        if leader is not None:
            break
        waited = world.now - began
        if facts.ordinal == 0 and not seen and waited >= timing.found_alone:
            return (yield from start_frontend(container, helper=None))
        if waited >= timing.find_leader:
            container.exit_reason = "no leader found"
            return 1
        yield timing.probe_interval
    container.activity = f"adding itself at {leader}"
    began = world.now
    while True:
        target = world.resolve(leader)
        process = target.frontend if target is not None else None
        ask(container, process, f'ALTER SYSTEM ADD FOLLOWER "{facts.member_host}:{facts.member_port}"')
        shown = ask(container, process, "SHOW FRONTENDS")
        if isinstance(shown, Rows) and any(row["IP"] == facts.member_host for row in shown.as_dicts()):
            break
        if world.now - began >= timing.add_self:
            container.exit_reason = "could not add itself"
            return 1
        yield timing.probe_interval
    return (yield from start_frontend(container, helper=leader))


def _safe_frontend_script(container: Container) -> Script:
    world, facts, timing = container.world, container.facts, container.world.timing
    if container.volume.meta is not None:
        return (yield from start_frontend(container, helper=None))
    began = world.now
    while True:
        container.activity = "asking its peers for a leader"
        leader = _peers_leader(container)
        if leader is not None:
            break
        marker = world.surroundings.marker(facts.cluster)
        if not marker.get("cluster-id") and facts.ordinal == 0 and world.now - began >= timing.settle:
            return (yield from start_frontend(container, helper=None))
        container.activity = "waiting for a peer with a leader"
        yield timing.probe_interval
    target = world.resolve(leader)
    process = target.frontend if target is not None else None
    ask(container, process, f'ALTER SYSTEM ADD FOLLOWER "{facts.member_host}:{facts.member_port}"')
    return (yield from start_frontend(container, helper=leader))


def _peers_leader(container: Container) -> str | None:
    for peer in container.world.frontends(container.facts.cluster):
        if peer is not container:
            leader, _ = _leader_in(ask(container, peer.frontend, "SHOW FRONTENDS"))
            if leader is not None:
                return leader
    return None


# -- backends and compute nodes --------------------------------------------------------------------------------


def _node_script(container: Container) -> Script:
    """Registers itself at every start, whether anybody wants it or not."""
    world, facts, timing = container.world, container.facts, container.world.timing
    noun = _NOUN[facts.component]
    container.activity = "adding itself through the service"
    began = world.now
    while True:
        process = world.service(facts.cluster)
        ask(container, process, f'ALTER SYSTEM ADD {noun} "{facts.member_host}:{facts.member_port}"')
        shown = ask(container, process, f"SHOW {noun}S")
        if isinstance(shown, Rows) and any(row["IP"] == facts.member_host for row in shown.as_dicts()):
            break
        if world.now - began >= timing.node_add_self:
            container.exit_reason = f"could not add itself: {_last_words(shown)}"
            return 1
        yield timing.probe_interval
    yield timing.start_process
    container.node = NodeProcess(facts=facts, faults=container.faults, volume=container.volume, started=world.now)
    container.activity = "running"
    world.process_changed(container.node)
    return (yield from _until_killed())


def _until_killed() -> Generator[float, None, int]:
    yield FOREVER
    return 0


def _last_words(outcome: Outcome | None) -> str:
    return outcome.text if isinstance(outcome, Refused) else "no answer from the service"


def before_stop(container: Container) -> None:
    """SIGTERM: a compute node's entrypoint drops the node once its process has ended; a backend's never does."""
    facts = container.facts
    if facts.component is Component.CN and container.node is not None and not container.node.faults.hang:
        drop = f'ALTER SYSTEM DROP COMPUTE NODE "{facts.member_host}:{facts.member_port}"'
        ask(container, container.world.service(facts.cluster), drop)
