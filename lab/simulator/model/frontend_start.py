"""start_fe.sh: what a frontend's process does with the meta directory it finds, and with the helper it is given."""

from __future__ import annotations

from collections.abc import Generator

from lab.simulator.model.container import FOREVER, Container
from lab.simulator.model.process import FrontendProcess
from lab.simulator.model.rows import FrontendRow


def start_frontend(container: Container, *, helper: str | None) -> Generator[float, None, int]:
    world, facts = container.world, container.facts
    process = FrontendProcess(facts=facts, faults=container.faults, volume=container.volume, started=world.now)
    container.frontend = process
    container.activity = "running"
    yield world.timing.start_process
    if container.volume.meta is not None:
        problem = _rejoin(container, process)
        if problem:
            container.exit_reason = problem
            return 255
    elif helper is None:
        world.found_database(process)
    elif helper in (facts.host, facts.address):
        container.exit_reason = "Do not specify the helper node to FE itself"
        return 255
    else:
        yield from _join(container, process, helper)
    world.process_changed(process)
    yield FOREVER
    return 0


def _rejoin(container: Container, process: FrontendProcess) -> str:
    """Meta is there, so any helper is ignored. Returns why the process exits, or nothing."""
    world, facts, meta = container.world, container.facts, container.volume.meta
    assert meta is not None
    database = world.databases.get(meta.cluster_id)
    if meta.half_made or database is None or meta.name in database.removed or meta.name not in database.group:
        return "current node is not added to the cluster, will exit"
    if (meta.run_mode == "shared_data") != facts.shared_data:
        return f"run_mode is not the {meta.run_mode} of the metadata, will exit"
    if refusal := database.versions.refusal(process):
        return refusal
    if (meta.host, meta.edit_log_port) != (facts.member_host, facts.member_port):
        process.waiting = f"this frontend is {meta.host}:{meta.edit_log_port} in its metadata and does not serve"
        return ""
    database.attach(process, meta.name)
    return ""


def _join(container: Container, process: FrontendProcess, helper: str) -> Generator[float, None, None]:
    """Loop until the group lets this frontend in. The process is up, its ports are closed."""
    world = container.world
    while True:
        process.waiting = container.activity = _try_to_join(container, process, helper)
        if not process.waiting:
            container.activity = "running"
            return
        yield world.timing.helper_retry


def _try_to_join(container: Container, process: FrontendProcess, helper: str) -> str:
    """Returns why it has to wait, or nothing when it is in."""
    world, facts, faults = container.world, container.facts, container.faults
    target = world.resolve(helper)
    other = target.frontend if target is not None else None
    if other is None or not other.answers or other.database is None or other.removed_at is not None:
        return f"the helper {helper} does not answer"
    if other.facts.web_port != facts.web_port:
        return f"the helper {helper} listens on another http_port than this frontend"
    database = other.database
    row = database.view(other).frontend_at(facts.member_host, facts.member_port)
    row = row and _still_registered(database.state.frontends, row)
    if row is None:
        return "current node is not added to the group. please add it first. sleep 5 seconds and retry"
    if row.name in database.group:
        return f"{row.name} has joined before and this frontend's meta is empty: it must be dropped and added again"
    if faults.clock_skew:
        return "HANDSHAKE_ERROR: clock delta exceeds max_bdbje_clock_delta_ms"
    if faults.low_disk:
        return "less than bdbje_reserved_disk bytes free on the meta disk"
    if not database.has_quorum():
        return "the group has no leader"
    database.join(process, row)
    return ""


def _still_registered(rows: tuple[FrontendRow, ...], row: FrontendRow) -> FrontendRow | None:
    return row if any(current.name == row.name for current in rows) else None
