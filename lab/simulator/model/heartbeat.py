"""Heartbeats of one leader's tenure, computed when something changes and not every five seconds.

A steady row costs nothing: only a change (process up, down, hung; row added) makes the row be looked at, at the next
tick and at the following ones until it is steady again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lab.simulator.model.facts import Component
from lab.simulator.model.rows import FrontendRow, NodeRow
from lab.simulator.model.version import full_version

if TYPE_CHECKING:
    from lab.simulator.model.database import Database

RowKey = str | int  # the name of a frontend, the id of a backend or compute node
_REFUSED = "java.net.ConnectException: Connection refused (Connection refused)"


@dataclass(frozen=True)
class Beat:
    """One answer to one heartbeat."""

    good: bool
    error: str = ""
    shutting_down: bool = False


class Heartbeats:
    def __init__(self, database: Database, started: float) -> None:
        self._database = database
        self._started = started
        self._period = database.world.timing.heartbeat
        self._misses: dict[RowKey, int] = {}
        self._pending: set[RowKey] = set()

    def ticks(self, at: float) -> int:
        return max(0, math.floor((at - self._started) / self._period + 1e-9))

    def last_tick(self, at: float) -> float | None:
        count = self.ticks(at)
        return self._started + count * self._period if count else None

    def next_tick(self, at: float) -> float:
        return self._started + (self.ticks(at) + 1) * self._period

    def recheck(self, key: RowKey) -> None:
        if key in self._pending:
            return
        self._pending.add(key)
        world = self._database.world
        world.schedule.at(self.next_tick(world.now), lambda: self._beat(key))

    def recheck_all(self) -> None:
        for row in self._database.state.frontends:
            self.recheck(row.name)
        for node in self._database.state.nodes:
            self.recheck(node.node_id)

    def recheck_host(self, *hosts: str) -> None:
        for row in self._database.state.frontends:
            if row.host in hosts:
                self.recheck(row.name)
        for node in self._database.state.nodes:
            if node.host in hosts:
                self.recheck(node.node_id)

    def _beat(self, key: RowKey) -> None:
        self._pending.discard(key)
        database = self._database
        if database.tenure is not self or database.leader is None:
            return
        if database.leader.faults.hang:
            self.recheck(key)  # it has not been asked yet
            return
        row = database.state.frontend(key) if isinstance(key, str) else database.state.node(key)
        if row is None:
            self._misses.pop(key, None)
            return
        beat = self._ask_frontend(row) if isinstance(row, FrontendRow) else self._ask_node(row)
        if beat.good:
            self._misses[key] = 0
            self._alive(row)
        else:
            self._missed(key, row, beat)

    def _missed(self, key: RowKey, row: FrontendRow | NodeRow, beat: Beat) -> None:
        misses = self._misses[key] = self._misses.get(key, 0) + 1
        dead = misses >= self._database.world.timing.misses_until_dead
        now = self._database.world.now
        last = self.last_tick(now - self._period / 2) if row.beating else row.last_heartbeat
        # A dead row stays as it is until something changes; a live one is looked at again.
        if beat.shutting_down or dead:
            changes = {"alive": False, "beating": False, "last_heartbeat": last, "error": beat.error}
        else:
            changes = {"beating": False, "last_heartbeat": last}
        if isinstance(row, NodeRow):
            if beat.shutting_down:
                changes["status"] = "SHUTDOWN"
            elif dead:
                changes["status"] = "DISCONNECTED" if row.last_start is not None else "CONNECTING"
        else:
            if dead:
                changes["version"] = None
        self._commit(replace(row, **changes))  # type: ignore[arg-type]
        if not dead or beat.shutting_down or self._is_shown_alive(key):
            self.recheck(key)

    def _is_shown_alive(self, key: RowKey) -> bool:
        """Still: the news of its death found no majority to be written to."""
        state = self._database.state
        row = state.frontend(key) if isinstance(key, str) else state.node(key)
        return row is not None and row.alive

    def _commit(self, row: FrontendRow | NodeRow) -> None:
        database = self._database
        if isinstance(row, FrontendRow):
            if database.state.frontend(row.name) != row:
                database.commit_if_possible(lambda state: state.with_frontend(row))
        elif database.state.node(row.node_id) != row:
            database.commit_if_possible(lambda state: state.with_node(row))
            database.tablets.wake()

    def _alive(self, row: FrontendRow | NodeRow) -> None:
        world = self._database.world
        container = world.resolve(row.host)
        if container is None or container.process is None:
            return
        facts, process = container.facts, container.process
        if isinstance(row, FrontendRow):
            self._commit(
                replace(
                    row,
                    alive=True,
                    beating=True,
                    error="",
                    query_port=facts.port("query_port"),
                    rpc_port=facts.port("rpc_port"),
                    start_time=process.started,
                    version=full_version(facts.version),
                )
            )
            self._database.stable(row.name)
            return
        process.volume.storage_cluster = process.volume.storage_cluster or self._database.cluster_id
        process.volume.backend_ids.add(row.node_id)
        self._commit(
            replace(
                row,
                alive=True,
                beating=True,
                status="OK",
                error="",
                last_start=process.started,
                be_port=facts.port("be_port"),
                http_port=facts.port("be_http_port"),
                brpc_port=facts.port("brpc_port"),
                version=full_version(facts.version),
            )
        )

    def _ask_frontend(self, row: FrontendRow) -> Beat:
        container = self._database.world.resolve(row.host)
        process = container.frontend if container is not None else None
        if process is None or not process.serving:
            return Beat(False, _REFUSED)
        if not process.answers:
            return Beat(False, "got exception: Read timed out")
        if process.database is not self._database or process.facts.member_port != row.edit_log_port:
            return Beat(False, "invalid parameter")
        return Beat(True)

    def _ask_node(self, row: NodeRow) -> Beat:
        world = self._database.world
        container = world.resolve(row.host)
        process = container.node if container is not None else None
        if process is None or process.facts.member_port != row.port:
            if world.is_leaving(row.host):
                return Beat(False, "BE is shutting down", shutting_down=True)
            return Beat(False, _REFUSED)
        if not process.answers:
            return Beat(False, "got exception: java.net.SocketTimeoutException: Read timed out")
        if process.stopping:
            return Beat(False, "BE is shutting down", shutting_down=True)
        if process.facts.component is not row.kind:
            expected, actual = ("BE", "CN") if row.kind is Component.BE else ("CN", "BE")
            return Beat(False, f"expect to be {expected} but actually {actual},Unmatched node type!")
        if process.faults.wrong_address:
            return Beat(False, "FE saved address not match backend address")
        foreign = process.volume.storage_cluster not in (None, self._database.cluster_id)
        if foreign or process.faults.foreign_storage:
            return Beat(False, "Unmatched cluster id")
        return Beat(True)
