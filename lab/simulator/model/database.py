"""One StarRocks database: the replication group of its frontends, its leader, and the state they replicate.

The rules of the group (majority, joining, removal) are those measured on the engine that FE uses
(reference: starrocks-sql §3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from lab.simulator.model.backups import Backups
from lab.simulator.model.facts import ClusterKey
from lab.simulator.model.heartbeat import Heartbeats, RowKey
from lab.simulator.model.membership import without_node
from lab.simulator.model.outcome import QuorumLostError
from lab.simulator.model.process import FrontendProcess
from lab.simulator.model.replay import Replayed
from lab.simulator.model.rows import Change, FrontendRow, State
from lab.simulator.model.schedule import Timer
from lab.simulator.model.tablet import Tablets
from lab.simulator.model.upgrade import Versions
from lab.simulator.model.version import Features
from lab.simulator.model.volume import Meta

if TYPE_CHECKING:
    from lab.simulator.model.world import World


INSTANT = 1e-6  # what was cut off at one moment does not see what was written at that moment


def majority(size: int) -> int:
    return size // 2 + 1


class Database(Replayed):
    def __init__(self, world: World, cluster: ClusterKey, cluster_id: int) -> None:
        super().__init__(world)
        self.cluster = cluster
        self.cluster_id = cluster_id
        self.group: dict[str, bool] = {}  # members that have joined: name -> electable
        self.removed: set[str] = set()
        self.attached: dict[str, FrontendProcess] = {}
        self.tablets = Tablets(self)
        self.versions = Versions(self)
        self.backups = Backups(self)
        self.shared_data = False
        self.running_queries: dict[int, int] = {}  # by node id, set from outside
        self.joining: set[str] = set()  # joined and not yet alive: not counted, until the leader changes
        self._election: Timer | None = None
        self._failing: Timer | None = None
        self._silence: Timer | None = None

    @property
    def features(self) -> Features:
        version = self.leader.facts.version if self.leader is not None else ""
        return self.world.options.features(version)

    # -- the group ---------------------------------------------------------------------------------------------

    def electable(self) -> set[str]:
        return {name for name, votes in self.group.items() if votes}

    def live_electable(self) -> list[FrontendProcess]:
        voters = self.electable()
        return [process for name, process in self.attached.items() if name in voters and process.connected]

    def has_quorum(self) -> bool:
        """Whether the leader's next write would find enough acknowledging followers."""
        if self.leader is None or not self.leader.connected:
            return False
        counted = self.electable() - self.joining
        live = [process for process in self.live_electable() if process.name in counted]
        return len(live) >= majority(len(counted))

    def can_elect(self) -> bool:
        return len(self.live_electable()) >= majority(len(self.electable()))

    def stable(self, name: str) -> None:
        """A joining member was seen alive: from now on it counts."""
        if name in self.joining:
            self.joining.discard(name)
            self.reassess()

    def found(self, process: FrontendProcess) -> None:
        """A first frontend with empty meta and no helper: the group is itself."""
        facts = process.facts
        name = self.new_name(facts.member_host, facts.member_port)
        row = FrontendRow(
            fid=1, name=name, host=facts.member_host, edit_log_port=facts.member_port, role="FOLLOWER", joined=True
        )
        self.shared_data = facts.shared_data
        self._append(State(frontends=(row,)))
        self._enter(process, name, electable=True)

    def join(self, process: FrontendProcess, row: FrontendRow) -> None:
        """A registered frontend with empty meta was let in by its helper. Only now the group grows."""
        if row.electable:
            self.joining.add(row.name)
        self.commit_if_possible(lambda state: state.with_frontend(replace(row, joined=True)))
        self._enter(process, row.name, electable=row.electable)

    def _enter(self, process: FrontendProcess, name: str, *, electable: bool) -> None:
        self.group[name] = electable
        facts = process.facts
        process.volume.meta = Meta(
            cluster_id=self.cluster_id,
            name=name,
            host=facts.member_host,
            edit_log_port=facts.member_port,
            role="FOLLOWER" if electable else "OBSERVER",
            run_mode="shared_data" if facts.shared_data else "shared_nothing",
        )
        self.attach(process, name)

    def attach(self, process: FrontendProcess, name: str) -> None:
        """A member's process is up and speaks to the group; it serves once it has caught up with a leader."""
        process.database, process.name = self, name
        process.waiting = "wait globalStateMgr to be ready. FE type: INIT. is ready: false"
        self.attached[name] = process
        self.reassess()
        if self.leader is not None and process is not self.leader:
            self._serve_soon(process)

    def detach(self, process: FrontendProcess) -> None:
        if self.attached.get(process.name) is process:
            del self.attached[process.name]
        self.reassess()

    def remove_member(self, name: str) -> None:
        """Explicitly removed from the group: its data can never come back, and a live process is cut off."""
        self.removed.add(name)
        self.joining.discard(name)
        if self.group.pop(name, None) is None:
            return
        process = self.attached.pop(name, None)
        if process is not None:
            process.removed_at = self.world.now - INSTANT
        self.reassess()

    def new_name(self, host: str, port: int) -> str:
        return f"{host}_{port}_{int(self.world.wall(self.world.now) * 1000)}"

    # -- the leader --------------------------------------------------------------------------------------------

    def reassess(self) -> None:
        """Somebody came, went, hung or woke up: who leads, and for how long still?"""
        if self.leader is not None and (self.leader.gone or self.leader.name not in self.group):
            self._lose_leader()
        if self.leader is None:
            if self.can_elect() and self._election is None:
                self._election = self._after(
                    self._random(self.world.timing.election_min, self.world.timing.election_max), self._elect
                )
            return
        if self.leader.faults.hang:
            if self._silence is None:
                self._silence = self._after(self.world.timing.leader_silence, self._depose)
            return
        self._cancel("_silence")
        if self.has_quorum():
            self._cancel("_failing")
        elif self._failing is None and self.tenure is not None:
            until = self.tenure.next_tick(self.world.now) + self.world.timing.write_timeout
            self._failing = self.world.schedule.at(until, self._leader_exits)

    def _elect(self) -> None:
        self._election = None
        if self.leader is not None or not self.can_elect():
            return
        candidates = self.live_electable()
        least = min(process.faults.lag for process in candidates)
        candidates = sorted((p for p in candidates if p.faults.lag == least), key=lambda p: p.name)
        self.leader = self.world.random.choice(candidates)
        self.versions.led_by(self.leader)
        self.world.on_truth(self)
        self.joining.clear()  # the leniency towards joining members was the old leader's
        self.tenure = Heartbeats(self, self.world.now)
        for process in self.attached.values():
            process.leaderless_since = None
            if not process.serving:
                self._serve_soon(process)
        self.tenure.recheck_all()
        self.tablets.wake()
        self.reassess()

    def _lose_leader(self) -> None:
        self.tenure_over()
        self.world.on_truth(self)
        for timer in ("_failing", "_silence"):
            self._cancel(timer)
        for process in self.attached.values():
            process.leaderless_since = self.world.now

    def _leader_exits(self) -> None:
        """A journal write failed for want of acknowledgements: fatal for the leader's process."""
        self._failing = None
        if self.leader is not None and not self.has_quorum():
            self.world.end_process(self.leader, "journal write failed: SIMPLE_MAJORITY of replicas did not acknowledge")

    def _depose(self) -> None:
        self._silence = None
        if self.leader is not None and self.leader.faults.hang and self.can_elect():
            self.leader.deposed = True
            self._lose_leader()
            self.reassess()

    def woke_up(self, process: FrontendProcess) -> None:
        """A hung process runs again. One that led and was replaced meanwhile finds itself deposed and exits."""
        if process.deposed:
            self.world.end_process(process, "another frontend became leader")
            return
        self.reassess()
        if not process.serving and self.leader is not None:
            self._serve_soon(process)

    def _serve_soon(self, process: FrontendProcess) -> None:
        def serve() -> None:
            if process.gone or process.serving or process.removed_at is not None or self.leader is None:
                return
            process.serving, process.waiting = True, ""
            self.world.process_changed(process)

        self._after(self._random(self.world.timing.replay_min, self.world.timing.replay_max), serve)

    # -- the journal -------------------------------------------------------------------------------------------

    def write(self, change: Change) -> None:
        """A statement's journal write: all or QuorumLostError (after which the leader exits)."""
        if not self.has_quorum():
            self.fail_write()
        self._append(change(self.state))

    def fail_write(self) -> None:
        """Let the leader die of a write that nobody acknowledges."""
        self._cancel("_failing")
        self._failing = self._after(self.world.timing.write_timeout, self._leader_exits)
        raise QuorumLostError

    def commit_if_possible(self, change: Change) -> None:
        if self.has_quorum():
            self._append(change(self.state))

    def _append(self, state: State) -> None:
        self._journal.append(state, self.world.now)
        self.world.on_truth(self)

    def recheck(self, key: RowKey) -> None:
        """A row is new or changed: look at it with the next heartbeat."""
        if self.tenure is not None:
            self.tenure.recheck(key)

    def drop_node(self, node_id: int, *, consented: bool = False) -> None:
        """The row goes, and with it every copy that FE had counted on it. consented: its owner named that loss."""
        self.write(lambda state: without_node(state, node_id))
        self.tablets.forget_node(node_id, consented=consented)

    # -- helpers of this file ----------------------------------------------------------------------------------

    def _after(self, delay: float, action: Callable[[], None]) -> Timer:
        return self.world.schedule.after(delay, action)

    def _random(self, low: float, high: float) -> float:
        return self.world.random.uniform(low, high)

    def _cancel(self, name: str) -> None:
        timer: Timer | None = getattr(self, name)
        if timer is not None:
            timer.cancel()
            setattr(self, name, None)
