"""The faults that can be laid on a node by name, for tests and for playing. One table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lab.simulator.model.container import Container
from lab.simulator.model.database import INSTANT
from lab.simulator.model.process import Faults, FrontendProcess, NodeProcess

if TYPE_CHECKING:
    from lab.simulator.model.world import World

Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class Fault:
    meaning: str
    lay: Callable[[World, Container, Parameters], None]
    parameters: str = ""


def lay(world: World, key: str, name: str, parameters: Parameters | None = None) -> None:
    """Lay a fault on the pod `namespace/name`, or take one away (`resume`, `heal`)."""
    fault = FAULTS.get(name)
    if fault is None:
        raise LookupError(f"There is no fault '{name}'; there are: {', '.join(FAULTS)}.")
    container = world.pods.get(key)
    if container is None:
        raise LookupError(f"There is no pod {key}.")
    fault.lay(world, container, parameters or {})
    if container.process is not None:
        world.process_changed(container.process)
    else:
        world.container_changed(container)


def _kill(_world: World, container: Container, _parameters: Parameters) -> None:
    container.faults.down = True
    container.exit(137, "killed")


def _crash(_world: World, container: Container, _parameters: Parameters) -> None:
    container.exit(137, "crashed")


def _hang(_world: World, container: Container, _parameters: Parameters) -> None:
    container.faults.hang = True
    if container.frontend is not None and container.frontend.database is not None:
        container.frontend.database.reassess()


def _resume(_world: World, container: Container, _parameters: Parameters) -> None:
    container.faults.hang = False
    if container.frontend is not None and container.frontend.database is not None:
        container.frontend.database.woke_up(container.frontend)
    container.start_now()


def _wipe(world: World, container: Container, _parameters: Parameters) -> None:
    world.wipe_volume(container.volume)
    container.exit(137, "its disk is gone")


def _half_made(_world: World, container: Container, _parameters: Parameters) -> None:
    if container.volume.meta is not None:
        container.volume.meta = replace(container.volume.meta, half_made=True)
    container.exit(137, "killed during its first start")


def _heal(world: World, container: Container, parameters: Parameters) -> None:
    for name, value in vars(Faults()).items():
        setattr(container.faults, name, value)
    _resume(world, container, parameters)


def _switch(name: str, kind: type = bool, default: Any = True) -> Callable[[World, Container, Parameters], None]:
    def lay_it(_world: World, container: Container, parameters: Parameters) -> None:
        value = parameters.get("value", default)
        setattr(
            container.faults, name, kind(value) if kind is not bool else str(value).lower() not in ("false", "0", "")
        )

    return lay_it


def _slow(world: World, container: Container, parameters: Parameters) -> None:
    container.faults.lag = float(parameters.get("value", 600))
    container.faults.lag_since = world.now - INSTANT


def _error(_world: World, container: Container, parameters: Parameters) -> None:
    code, text = int(parameters.get("code", 1064)), str(parameters.get("text", "Unknown error"))
    container.faults.errors += [(code, text)] * int(parameters.get("count", 1))


def _leave(_world: World, container: Container, _parameters: Parameters) -> None:
    process = container.process
    if isinstance(process, FrontendProcess):
        process.leaving = True
    elif isinstance(process, NodeProcess):
        process.stopping = True


def _queries(world: World, container: Container, parameters: Parameters) -> None:
    for database in world.databases.values():
        for row in database.state.nodes:
            if world.resolve(row.host) is container:
                database.running_queries[row.node_id] = int(parameters.get("value", 0))


def _capacity(world: World, container: Container, parameters: Parameters) -> None:
    for database in world.databases.values():
        for row in database.state.nodes:
            if world.resolve(row.host) is container:
                database.tablets.capacity_gb[row.node_id] = float(parameters.get("value", 1000))
                database.tablets.wake()


_ON_OFF = "value=true|false"

FAULTS: Mapping[str, Fault] = {
    "kill": Fault("the process dies and stays down until `resume`", _kill),
    "crash": Fault("the process dies; the container starts again by itself", _crash),
    "hang": Fault("the process answers nobody, its ports stay open (SIGSTOP)", _hang),
    "resume": Fault("a hung process runs again; a killed one starts, without waiting for the back-off", _resume),
    "wipe": Fault("what is on the volume is gone, and the process dies", _wipe),
    "half-made": Fault("the meta directory of a first start that died half-way: crash loop until wiped", _half_made),
    "slow": Fault("journal replay stops until it trails by so many seconds", _slow, "value=SECONDS"),
    "no-dns": Fault("the leader cannot resolve this host", _switch("no_dns"), _ON_OFF),
    "clock-skew": Fault("the clock is off by more than 5 s: never joins", _switch("clock_skew"), _ON_OFF),
    "low-disk": Fault("less than 5 GB free on the meta disk: never joins", _switch("low_disk"), _ON_OFF),
    "wrong-address": Fault("the backend has another address than FE saved", _switch("wrong_address"), _ON_OFF),
    "foreign-storage": Fault("the storage belongs to another cluster", _switch("foreign_storage"), _ON_OFF),
    "lock-busy": Fault(
        "the next membership statements find the lock taken", _switch("lock_busy", int, 1), "value=COUNT"
    ),
    "lose-reply": Fault("the n-th statement is executed and its reply lost", _switch("lose_reply", int, 1), "value=N"),
    "lose-request": Fault("the n-th statement is lost before it is read", _switch("lose_request", int, 1), "value=N"),
    "error": Fault("the next statements get this error", _error, "code=CODE text=TEXT count=N"),
    "leave": Fault("graceful exit has begun: health 500, or SHUTDOWN", _leave),
    "queries": Fault("running queries on a backend or compute node", _queries, "value=N"),
    "capacity": Fault("disk size of a backend in GB", _capacity, "value=GB"),
    "heal": Fault("clear all faults", _heal),
}
