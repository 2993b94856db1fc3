"""What runs in a pod from its start on: the images' entrypoints and our own start script, on virtual time."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass

from lab.simulator.model.accounts import check_password
from lab.simulator.model.container import FOREVER, Container, Script
from lab.simulator.model.facts import Component, Entrypoint
from lab.simulator.model.frontend_start import start_frontend
from lab.simulator.model.outcome import Outcome, Refused, Rows, SqlError
from lab.simulator.model.process import FrontendProcess, NodeProcess
from lab.simulator.model.session import Session
from lab.simulator.model.statements import execute

TURN = 60.0  # virtual seconds for which another frontend that joins is waited for
_NOUN = {Component.BE: "BACKEND", Component.CN: "COMPUTE NODE"}


def script_for(container: Container) -> Script:
    if container.world.surroundings.debugged(container.facts):
        return _debugged(container)
    if container.facts.broken:
        return _broken(container)
    if container.facts.entrypoint is Entrypoint.PROCESS:
        return _process(container)
    if container.facts.component is not Component.FE:
        return _node_script(container)
    if container.facts.entrypoint is Entrypoint.SAFE:
        return _safe_frontend_script(container)
    return _image_frontend_script(container)


def _debugged(container: Container) -> Script:
    """Stays up without its process, until its name is taken off the list; then the container starts anew."""
    world = container.world
    container.debugged, container.activity = True, "marked for debugging: the process is not started"
    world.container_changed(container)
    try:
        while world.surroundings.debugged(container.facts):
            yield world.timing.probe_interval
    finally:
        container.debugged = False
    container.exit_reason = "not debugged any more"
    return 0


def _process(container: Container) -> Script:
    """No more than the process: real scripts have asked, added and decided."""
    if container.facts.component is Component.FE:
        return start_frontend(container, helper=container.facts.helper or None)
    return _bare_node(container)


def _broken(container: Container) -> Script:
    yield container.world.timing.start_process
    container.exit_reason = "the process does not start: its image or its configuration is broken"
    return 1


def ask(container: Container, process: FrontendProcess | None, sql: str) -> Outcome | None:
    """The image's `mysql` client as root with MYSQL_PWD; None: refused, hung (it gives up) or broken."""
    if process is None or process.database is None or not process.answers:
        return None
    try:
        check_password(process.database.view(process).accounts, "root", container.facts.password)
    except SqlError as error:
        return Refused(error.code, error.text)
    session = Session(user="root", source="entrypoint")
    outcome = execute(container.world, process, sql, session)
    container.world.on_statement(process.facts, session, sql, outcome)
    return outcome


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
    """fe_start.sh: asks every peer by itself, and lets the marker decide only when nobody is there at all."""
    world, facts, timing = container.world, container.facts, container.world.timing
    if container.volume.meta is not None:
        return (yield from start_frontend(container, helper=None))
    quiet_since: float | None = None
    turn_since: float | None = None
    denied_since: float | None = None
    while True:
        answers = [_ask_peer(container, peer) for peer in world.frontends(facts.cluster) if peer is not container]
        named = [answer for answer in answers if answer.leader]
        data = world.surroundings.marker(facts.cluster)
        marker = data.get("cluster-id")
        if named:
            quiet_since = denied_since = None
            leaving = facts.name in data.get("leaving", "").split()
            container.activity = _why_not_join(container, named, marker or "", leaving=leaving)
            if not container.activity and named[0].first and not facts.observer:
                turn_since = world.now if turn_since is None else turn_since
                if world.now - turn_since < TURN:
                    container.activity = f"waiting until {named[0].first} has joined"
            if not container.activity and named[0].listed == "added":
                return (yield from start_frontend(container, helper=named[0].leader))
            if not container.activity:
                _add_self(container, named[0].leader)
        elif any(answer.present for answer in answers):
            quiet_since = None
            denied = any(answer.denied for answer in answers)
            denied_since = (world.now if denied_since is None else denied_since) if denied else None
            if denied_since is not None and world.now - denied_since >= timing.denied:
                container.exit_reason = "frontends have refused root's password: ending"
                return 1
            container.activity = "frontends are there but name no leader: waiting for one"
        elif marker or marker is None or facts.observer or facts.ordinal != 0:
            container.activity = "no peer answers: waiting"
        else:
            quiet_since = world.now if quiet_since is None else quiet_since
            container.activity = "no peer answers: settling before founding the cluster"
            if world.now - quiet_since >= timing.settle:
                return (yield from start_frontend(container, helper=None))
        yield timing.probe_interval


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """What one peer said: whether anybody is there, the leader it names, and how it lists us."""

    present: bool
    denied: bool = False
    leader: str = ""
    cluster_id: str = ""
    listed: str = "absent"  # absent | added | joined
    first: str = ""  # who joins before us


def _ask_peer(container: Container, peer: Container) -> _Answer:
    if peer.frontend is None:
        return _Answer(present=False)
    shown = ask(container, peer.frontend, "SHOW FRONTENDS")
    if isinstance(shown, Rows) and _leader_in(shown)[0] is None:
        shown = ask(container, peer.frontend, "SHOW PROC '/frontends'")
    leader, _ = _leader_in(shown)
    if leader is None or not isinstance(shown, Rows):
        return _Answer(present=True, denied=isinstance(shown, Refused) and shown.code == 1045)
    rows = shown.as_dicts()
    own = next((row for row in rows if row["IP"] == container.facts.member_host), None)
    listed = "absent" if own is None else "joined" if own["Join"] == "true" else "added"
    first = next((row["IP"] or "" for row in rows if row is not own and _joins_before(row, own)), "")
    return _Answer(present=True, leader=leader, cluster_id=rows[0]["ClusterId"] or "", listed=listed, first=first)


def _joins_before(row: Mapping[str, str | None], own: Mapping[str, str | None] | None) -> bool:
    """A follower that was added earlier, and has not joined or was never seen alive."""
    if row["Role"] != "FOLLOWER" or (row["Join"] == "true" and row["StartTime"] != "NULL"):
        return False
    return own is None or _turn(row) < _turn(own)


def _turn(row: Mapping[str, str | None]) -> tuple[str, str]:
    return (row["Name"] or "").rpartition("_")[2], row["IP"] or ""


def _why_not_join(container: Container, named: list[_Answer], founded: str, *, leaving: bool) -> str:
    first = named[0]
    if len({answer.cluster_id for answer in named}) > 1:
        return "peers belong to different clusters: joining none of them"
    if founded and founded != first.cluster_id:
        return f"the peers' cluster id is {first.cluster_id}, but this cluster is {founded}"
    if first.leader == container.facts.member_host:
        return "peers still name this very frontend as leader, though its metadata is gone"
    if leaving:
        return "this frontend is leaving: not joining, unless it is wanted again"
    if first.listed == "joined":
        return "listed as joined, but the metadata is gone: waiting to be dropped"
    return ""


def _add_self(container: Container, leader: str) -> None:
    target, facts = container.world.resolve(leader), container.facts
    role = "OBSERVER" if facts.observer else "FOLLOWER"
    ask(
        container,
        target.frontend if target else None,
        f'ALTER SYSTEM ADD {role} "{facts.member_host}:{facts.member_port}"',
    )


# -- backends and compute nodes --------------------------------------------------------------------------------


def _node_script(container: Container) -> Script:
    """Registers itself at every start, whether anybody wants it or not; a bare one does not."""
    world, facts, timing = container.world, container.facts, container.world.timing
    noun = _NOUN[facts.component]
    if facts.entrypoint is Entrypoint.BARE:
        return (yield from _bare_node(container))
    within = f" INTO WAREHOUSE {facts.warehouse}" if facts.warehouse else ""
    container.activity = "adding itself through the service"
    began = world.now
    while True:
        process = world.service(facts.cluster)
        if facts.warehouse:
            ask(container, process, f"CREATE WAREHOUSE IF NOT EXISTS {facts.warehouse}")
        ask(container, process, f'ALTER SYSTEM ADD {noun} "{facts.member_host}:{facts.member_port}"{within}')
        shown = ask(container, process, f"SHOW {noun}S")
        if isinstance(shown, Rows) and any(row["IP"] == facts.member_host for row in shown.as_dicts()):
            break
        if world.now - began >= timing.node_add_self:
            container.exit_reason = f"could not add itself: {_last_words(shown)}"
            return 1
        yield timing.probe_interval
    return (yield from _bare_node(container))


def _bare_node(container: Container) -> Script:
    """The process itself, which registers nowhere."""
    world, facts = container.world, container.facts
    yield world.timing.start_process
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
    """SIGTERM: a compute node's entrypoint drops the node once its process has ended; a backend's never does, nor do
    the newest images, which those with warehouses are."""
    facts = container.facts
    if facts.warehouse or facts.entrypoint in (Entrypoint.BARE, Entrypoint.PROCESS):
        return
    if facts.component is Component.CN and container.node is not None and not container.node.faults.hang:
        drop = f'ALTER SYSTEM DROP COMPUTE NODE "{facts.member_host}:{facts.member_port}"'
        ask(container, container.world.service(facts.cluster), drop)
