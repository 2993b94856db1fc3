"""The running simulator: one world, driven by real time, with sockets for what serves in it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from aiohttp import web

from lab.simulator.model import Outcome, PodFacts, Session, Surroundings, World
from lab.simulator.model.container import Container
from lab.simulator.model.world import Options
from lab.simulator.server.clock import ScaledClock
from lab.simulator.server.halts import Halt, Halts
from lab.simulator.server.http import handler
from lab.simulator.server.listeners import Listeners
from lab.simulator.server.statement_log import StatementLog
from lab.simulator.server.truth_log import TruthLog

_LONGEST_NAP = 5.0  # real seconds; every call from outside moves the clock anyway
WriteBack = Callable[[Container], None]


@dataclass
class _Frontend:
    """The frontend in one pod, as its MySQL listener asks it."""

    simulator: Simulator
    facts: PodFacts

    def _container(self) -> Container | None:
        container = self.simulator.world.pods.get(self.facts.key)
        return container if container is not None and container.facts.uid == self.facts.uid else None

    def execute(self, sql: str, session: Session) -> Outcome:
        self.simulator.advance()
        try:
            return self.simulator.world.execute(self.facts.key, sql, session)
        finally:
            self.simulator.wake()

    def auth_string(self, user: str) -> str | None:
        container = self._container()
        process = container.frontend if container is not None else None
        if process is None or process.database is None:
            return None
        account = process.database.view(process).accounts.get(user)
        return account.auth_string if account is not None else None

    def login(self, user: str, *, accepted: bool) -> None:
        if not accepted:
            self.simulator.world.refused_logins[f"{user} at {self.facts.key}"] += 1

    def hung(self) -> bool:
        container = self._container()
        return container is not None and container.faults.hang

    def halt(self, sql: str) -> Halt | None:
        return self.simulator.halts.meet(self.facts.namespace, sql)

    def plain_refused(self) -> bool:
        return self.facts.conf.get("ssl_force_secure_transport", "").lower() == "true"

    def certificate(self) -> str:
        return self.facts.certificate

    async def pause(self, virtual_seconds: float) -> None:
        await self.simulator.pause(virtual_seconds)


class Simulator:
    def __init__(
        self,
        *,
        clock: ScaledClock,
        options: Options | None = None,
        surroundings: Surroundings | None = None,
        log: StatementLog | None = None,
        truth: TruthLog | None = None,
        write_back: WriteBack | None = None,
        seed: int = 0,
    ) -> None:
        self.clock = clock
        options = options or Options()
        options.wall = clock.wall
        self.world = World(options, surroundings, seed)
        self.log = log or StatementLog(None)
        self._truth = truth or TruthLog(None)
        self.halts = Halts()
        self.write_back = write_back or (lambda _container: None)
        self.refresh: Callable[[Container], Awaitable[None]] | None = None
        self._changed: dict[str, Container] = {}
        self._wake = asyncio.Event()
        self.world.on_change = self._on_change
        self.world.on_statement = self.log.add
        self.world.on_truth = self._truth.changed
        self.world.on_mark = self._truth.marked
        self._web = web.Server(handler(self.world, self.world.resolve, self.pause))
        self.listeners = Listeners(lambda facts: _Frontend(self, facts), self._web, self._on_change)

    # -- from outside ------------------------------------------------------------------------------------------

    def pod_started(self, facts: PodFacts) -> None:
        self.advance()
        self._on_change(self.world.pod_started(facts))

    def pod_stopped(self, key: str, uid: str) -> None:
        self.advance()
        container = self.world.pods.get(key)
        if container is not None and container.facts.uid == uid:
            self.world.pod_stopped(key)

    def hold(self, key: str, uid: str, *, held: bool) -> None:
        """Keep a pod's container from running, or let it run again."""
        self.advance()
        container = self.world.pods.get(key)
        if container is not None and container.facts.uid == uid and container.held is not held:
            container.hold(held)
            self.wake()

    def volume_deleted(self, key: str) -> None:
        self.advance()
        self.world.volume_deleted(key)
        self.wake()

    def set_speed(self, speed: float) -> None:
        self.clock.speed = speed
        self.wake()

    # -- time --------------------------------------------------------------------------------------------------

    def advance(self) -> None:
        self.world.tick(self.clock.now())

    def wake(self) -> None:
        self._wake.set()

    async def pause(self, virtual_seconds: float) -> None:
        await asyncio.sleep(self.clock.real_seconds(virtual_seconds))

    async def run(self) -> None:
        """Until cancelled: do what is due, open and close sockets, sleep until the next thing is due."""
        try:
            while True:
                self._wake.clear()
                self.advance()
                while self._changed:
                    await self._settle(self._changed.pop(next(iter(self._changed))))
                due = self.world.schedule.next_deadline()
                nap = _LONGEST_NAP if due is None else self.clock.real_seconds(due - self.clock.now())
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(min(max(nap, 0.001), _LONGEST_NAP)):
                        await self._wake.wait()
        finally:
            self.listeners.close()
            self.log.close()
            self._truth.close()
            await self._web.shutdown(timeout=0.1)

    def _on_change(self, container: Container) -> None:
        self._changed[container.facts.uid] = container
        self._wake.set()

    async def _settle(self, container: Container) -> None:
        await self.listeners.sync(container)
        self.write_back(container)
        if self.refresh is not None and container.backing_off:
            await self.refresh(container)
