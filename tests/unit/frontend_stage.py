"""The simulator in this process, with real sockets on loopback: what `frontend/` is tested against."""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from lab.simulator.model import PodFacts
from lab.simulator.model.facts import Component
from lab.simulator.model.faults import lay
from lab.simulator.server.clock import ScaledClock
from lab.simulator.server.simulator import Simulator
from starrocks_operator.frontend import Credentials, Endpoint, FrontendPool, Timeouts, look
from starrocks_operator.observed import FrontendView

T = TypeVar("T")
SPEED = 200.0  # virtual seconds per real one
NETWORK = 64 + os.getpid() % 128  # so that test runs side by side do not meet
ROOT = Credentials()
_SERIAL = itertools.count()


class FrontendStage:
    """Pods of one cluster, played at high speed."""

    def __init__(self, *, version: str = "3.3.9") -> None:
        self.statements: list[tuple[str, str]] = []
        self.pool = FrontendPool(
            timeouts=Timeouts(connect=0.5, answer=0.5),
            patience=2.0,
            witness=lambda pod, statement: self.statements.append((pod, statement)),
        )
        self._version = version
        self._serial = next(_SERIAL)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.simulator = self.do(lambda: Simulator(clock=ScaledClock(SPEED)))
        self._running = self.do(lambda: self._loop.create_task(self.simulator.run()))

    def close(self) -> None:
        self.pool.close()
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(20)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    async def _stop(self) -> None:
        while not self._running.done():  # a wait that ends just then may swallow the cancellation
            self._running.cancel()
            await asyncio.wait({self._running}, timeout=0.1)

    def do(self, action: Callable[[], T]) -> T:
        """Something done where the simulator lives."""

        async def run() -> T:
            return action()

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(10)

    def facts(self, component: str, ordinal: int, **changes: Any) -> PodFacts:
        name = f"sample-{component}-{ordinal}"
        number = ("fe", "be", "cn").index(component)
        return PodFacts(
            **{
                "namespace": "default",
                "name": name,
                "uid": f"uid-{name}",
                "address": f"127.{NETWORK}.{self._serial * 3 + number}.{ordinal + 1}",
                "component": Component(component),
                "cluster_name": "sample",
                "host": f"{name}.sample-{component}-search.default.svc.cluster.local",
                "version": self._version,
                "volume": f"default/{name}",
            }
            | changes
        )

    def start(self, component: str, ordinal: int, **changes: Any) -> None:
        facts = self.facts(component, ordinal, **changes)
        self.do(lambda: self.simulator.pod_started(facts))

    def fault(self, pod: str, name: str, **parameters: Any) -> None:
        def act() -> None:
            self.simulator.advance()
            lay(self.simulator.world, f"default/{pod}", name, parameters)

        self.do(act)

    def endpoint(self, ordinal: int) -> Endpoint:
        facts = self.facts("fe", ordinal)
        return Endpoint(pod=facts.name, host=facts.host, address=facts.address, port=9030)

    def look(self, *ordinals: int, credentials: Credentials = ROOT, **options: Any) -> FrontendView:
        return look([self.endpoint(ordinal) for ordinal in ordinals], credentials, pool=self.pool, **options)

    def look_until(self, condition: Callable[[FrontendView], object], *ordinals: int, **options: Any) -> FrontendView:
        found: list[FrontendView] = []

        def seen() -> object:
            found.append(self.look(*ordinals, **options))
            return condition(found[-1])

        self.wait_for(seen)
        return found[-1]

    @staticmethod
    def wait_for(condition: Callable[[], object], seconds: float = 20.0) -> None:
        until = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < until, "what was waited for did not come"
            time.sleep(0.02)
