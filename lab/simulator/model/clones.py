"""Tablet repair and relocation over time: the scheduler that makes a decommission progress, or stall.

It runs only while there is something to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lab.simulator.model import config
from lab.simulator.model.facts import Component
from lab.simulator.model.membership import without_node
from lab.simulator.model.process import FrontendProcess
from lab.simulator.model.rows import NodeRow
from lab.simulator.model.schedule import Timer

if TYPE_CHECKING:
    from lab.simulator.model.tablet import Tablet, Tablets

Live = Mapping[int, NodeRow]  # the backends that FE sees alive, by id


class Clones:
    def __init__(self, tablets: Tablets) -> None:
        self._tablets = tablets
        self._timer: Timer | None = None
        self._moved = 0  # in the last round
        self.done = 0

    def wake(self) -> None:
        world = self._tablets.database.world
        if self._timer is None and self._work_left():
            self._timer = world.schedule.after(world.timing.clone_round, self._round)

    def queue(self) -> tuple[int, int]:
        """How many tablets wait, and how many are worked on."""
        leader, live = self._tablets.database.leader, self._tablets.live_backends()
        if leader is None or not _enabled(leader):
            return 0, 0
        wanted = sum(1 for tablet in self._tablets.tablets.values() if self._wants(tablet, live))
        running = min(self._moved, wanted)
        return wanted - running, running

    def _work_left(self) -> bool:
        live = self._tablets.live_backends()
        if any(row.decommissioned for row in self._tablets.database.state.of_kind(Component.BE)):
            return True
        return any(self._wants(tablet, live) for tablet in self._tablets.tablets.values())

    def _homes(self, tablet: Tablet, live: Live) -> list[int]:
        """Copies that count towards replication_num: on backends that FE sees alive and that stay."""
        return [node for node in self._tablets.good(tablet) if node in live and not live[node].decommissioned]

    def _wants(self, tablet: Tablet, live: Live) -> bool:
        if tablet.lost or tablet.table.recycled_at is not None:
            return False
        wanted = tablet.table.replication
        return len(tablet.copies) > wanted or len(self._homes(tablet, live)) < wanted

    def _round(self) -> None:
        self._timer = None
        tablets, database = self._tablets, self._tablets.database
        world, moved, live = database.world, 0, self._tablets.live_backends()
        if database.leader is not None and database.has_quorum() and _enabled(database.leader):
            for tablet in tablets.tablets.values():
                if moved >= world.options.tablets_per_clone_round:
                    break
                if self._wants(tablet, live) and self._advance(tablet, live):
                    moved += 1
            self.done += moved
        self._moved = moved
        if moved:
            tablets.loads.noticed()
            world.on_truth(database)
        self._drop_the_drained()
        if self._work_left():
            timing = world.timing
            self._timer = world.schedule.after(timing.clone_round if moved else timing.decommission_poll, self._round)

    def _advance(self, tablet: Tablet, live: Live) -> bool:
        """One clone, or the removal of one copy too many. It needs processes that answer, whatever FE believes."""
        tablets, homes, wanted = self._tablets, self._homes(tablet, live), tablet.table.replication
        if len(homes) >= wanted:
            extra = [node for node in tablet.copies if node not in homes] or homes[wanted:]
            tablets.take(tablet, extra[0])
            return True
        if not tablets.readable(tablet):
            return False
        for node in sorted(tablet.lagging):  # what it missed is fetched from a good copy
            if node in live and not live[node].decommissioned and tablets.answers(live[node]):
                tablets.caught_up(tablet, node)
                return True
        target = self._target(tablet, live)
        volume = tablets.volume_of(target) if target is not None else None
        if target is None or volume is None:
            return False
        tablets.take(tablet, target.node_id)  # a registered copy whose file is gone
        tablets.put(tablet, target.node_id, volume)
        if len(homes) + 1 >= wanted:  # a finished relocation removes the copy on the leaving backend
            for node in [node for node in tablet.copies if node not in homes and node != target.node_id]:
                tablets.take(tablet, node)
        return True

    def _target(self, tablet: Tablet, live: Live) -> NodeRow | None:
        tablets, real = self._tablets, self._tablets.real(tablet)
        choices = [
            row
            for row in live.values()
            if not row.decommissioned and row.node_id not in real and tablets.answers(row) and self._fits(row, tablet)
        ]
        return min(choices, key=lambda row: (tablets.count(row.node_id), row.node_id), default=None)

    def _fits(self, row: NodeRow, tablet: Tablet) -> bool:
        _, used, capacity = self._tablets.usage(row.node_id)
        return used + tablet.table.tablet_gb <= capacity

    def _drop_the_drained(self) -> None:
        """The leader's daemon: a decommissioned backend without tablets goes by itself, if so configured."""
        database = self._tablets.database
        leader = database.leader
        if (
            leader is None
            or not database.has_quorum()
            or config.value(leader, "drop_backend_after_decommission") != "true"
        ):
            return
        for row in database.state.of_kind(Component.BE):
            if row.decommissioned and not self._tablets.count(row.node_id):
                node_id = row.node_id
                database.commit_if_possible(lambda state, node_id=node_id: without_node(state, node_id))  # type: ignore[misc]


def _enabled(leader: FrontendProcess) -> bool:
    return config.value(leader, "tablet_sched_max_scheduling_tablets") not in ("0", "")
