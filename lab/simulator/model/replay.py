"""How far each frontend has replayed the journal: the leader sees everything, everybody else trails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.simulator.model.heartbeat import Heartbeats
from lab.simulator.model.journal import Journal
from lab.simulator.model.process import FrontendProcess
from lab.simulator.model.rows import State

if TYPE_CHECKING:
    from lab.simulator.model.world import World


class Replayed:
    """The journal of a database, as its leader wrote it and as each frontend has it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.leader: FrontendProcess | None = None
        self.tenure: Heartbeats | None = None
        self._journal = Journal(world.now)
        self._beats = 0  # heartbeats journalled before this tenure
        self._last_tick: float | None = None

    @property
    def state(self) -> State:
        """As the leader has it."""
        return self._journal.state

    def journal_id(self, at: float) -> int:
        return self._journal.entries + self._beats + (self.tenure.ticks(at) if self.tenure is not None else 0)

    def last_tick(self, at: float) -> float | None:
        tick = self.tenure.last_tick(at) if self.tenure is not None else None
        return tick if tick is not None else self._last_tick

    def seen_at(self, process: FrontendProcess) -> float:
        """Up to which moment this frontend's own copy of the state reaches."""
        now = self.world.now
        if process is self.leader:
            return now
        ends = [moment for moment in (process.leaderless_since, process.removed_at) if moment is not None]
        reached = now - self.world.timing.replication_lag
        if process.faults.lag:
            reached = max(reached - process.faults.lag, process.faults.lag_since)
        return min([reached, *ends])

    def view(self, process: FrontendProcess) -> State:
        if process is self.leader:
            return self.state
        return self._journal.at(self.seen_at(process))

    def tenure_over(self) -> None:
        """The leader is gone; what it has journalled stays."""
        now = self.world.now
        if self.tenure is not None:
            self._beats += self.tenure.ticks(now)
            self._last_tick = self.tenure.last_tick(now) or self._last_tick
        self.leader = self.tenure = None
