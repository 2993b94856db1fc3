"""A container and the script that runs in it: scripts are generators that yield how long they sleep.

When a script ends, the container ends, and the kubelet starts it again with a growing back-off.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from lab.simulator.model.facts import Component, PodFacts
from lab.simulator.model.process import Faults, FrontendProcess, NodeProcess
from lab.simulator.model.schedule import Timer
from lab.simulator.model.volume import Volume

if TYPE_CHECKING:
    from lab.simulator.model.world import World

FOREVER = math.inf
Script = Generator[float, None, int]  # yields seconds to sleep, returns the exit code


class Container:
    """One pod's main container, from pod start to pod end."""

    def __init__(self, world: World, facts: PodFacts, volume: Volume, faults: Faults) -> None:
        self.world = world
        self.facts = facts
        self.volume = volume
        self.faults = faults
        self.restarts = 0
        self.exit_reason = ""
        self.activity = "starting"
        self.frontend: FrontendProcess | None = None
        self.node: NodeProcess | None = None
        self._started = 0.0
        self._failures = 0
        self._script: Script | None = None
        self._timer: Timer | None = None
        self.stopped = False
        self.held = False
        self.debugged = False  # it is up, and its process is not started

    @property
    def process(self) -> FrontendProcess | NodeProcess | None:
        return self.frontend or self.node

    @property
    def healthy(self) -> bool:
        """Whether `/api/health` would say 200."""
        if self.frontend is not None:
            return self.frontend.answers and not self.frontend.leaving
        return self.node is not None and self.node.answers

    @property
    def backing_off(self) -> bool:
        return self._script is None and not self.stopped

    def start(self, make_script: Callable[[Container], Script]) -> None:
        self._make_script = make_script
        if not self.faults.down:
            self._begin()

    def _begin(self) -> None:
        if self.stopped or self.held or self._script is not None or self.faults.down:
            return
        self._started = self.world.now
        self.activity = "starting"
        self._script = self._make_script(self)
        self._step()

    def _step(self) -> None:
        if self._script is None:
            return
        try:
            delay = next(self._script)
        except StopIteration as end:
            self.exit(int(end.value or 0), self.exit_reason or "the script ended")
            return
        if delay != FOREVER and self._script is not None:
            self._timer = self.world.schedule.after(delay, self._step)

    def exit(self, code: int, reason: str) -> None:
        """The main process ended. Everything in memory is gone; the kubelet tries again later."""
        if self._script is None:
            return
        self._halt()
        self.exit_reason = f"exit {code}: {reason}"
        self.activity = f"restarting ({self.exit_reason})"
        timing = self.world.timing
        if self.world.now - self._started > timing.restart_reset:
            self._failures = 0
        delay = timing.restart_first
        if self._failures:
            delay = min(timing.restart_base * 2 ** (self._failures - 1), timing.restart_max)
        self._failures += 1
        self.restarts += 1
        if self.volume.dies_with == "container":
            self.world.wipe_volume(self.volume)
        self.world.container_changed(self)
        self._timer = self.world.schedule.after(delay, self._begin)

    def start_now(self) -> None:
        """Clear the `down` fault and the back-off."""
        self.faults.down = False
        if self._timer is not None and self._script is None:
            self._timer.cancel()
        self._failures = 0
        self._begin()

    def hold(self, held: bool) -> None:
        """Kubernetes keeps the container waiting, whatever the pod's phase says."""
        self.held = held
        if held:
            self.exit(143, "the container is kept waiting")
        else:
            self.start_now()

    def stop(self) -> None:
        """The pod is gone."""
        self.stopped = True
        self._halt()

    def _halt(self) -> None:
        script, self._script = self._script, None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        # A script that ends by itself is already finished; one that is running right now must not be closed.
        if script is not None and inspect.getgeneratorstate(script) != inspect.GEN_RUNNING:
            script.close()
        process, self.frontend, self.node = self.process, None, None
        if process is not None:
            process.gone = True
            self.world.process_ended(process)

    @property
    def is_frontend(self) -> bool:
        return self.facts.component is Component.FE
