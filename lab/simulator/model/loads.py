"""Loads into the tables that are written all the time, and what they do to a backend that is away.

A load needs the majority of a tablet's copies. Those that it cannot reach miss it, and are of no use until they have
been repaired from a good one; without a majority it fails, and then nobody misses anything. Computed when something
changes, like heartbeats: a world in which every backend answers costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.simulator.model.schedule import Timer

if TYPE_CHECKING:
    from lab.simulator.model.tablet import Table, Tablet, Tablets

REFUSED, UNAVAILABLE = "loads-refused", "tablet-unavailable"


def majority(copies: int) -> int:
    return copies // 2 + 1


class Loads:
    def __init__(self, tablets: Tablets) -> None:
        self._tablets = tablets
        self._timer: Timer | None = None

    def noticed(self) -> None:
        """Something changed: is there a backend away that will miss the next load, and can all tables be used?"""
        written = [table for table in self._tablets.tables if table.written and table.recycled_at is None]
        if not written or self._tablets.database.shared_data:
            return
        self._judge(written)
        if self._timer is None and any(self._absent(tablet) for tablet in self._of(written)):
            world = self._tablets.database.world
            self._timer = world.schedule.after(world.timing.load_interval, self._load_again)

    def load(self, table: Table) -> None:
        """One load into one table, now."""
        self._write([table])

    def _load_again(self) -> None:
        self._timer = None
        self._write([table for table in self._tablets.tables if table.written and table.recycled_at is None])
        self.noticed()

    def _write(self, tables: list[Table]) -> None:
        database, missed = self._tablets.database, False
        if not database.has_quorum():
            return
        for tablet in self._of(tables):
            for node_id in self._absent(tablet):
                self._tablets.fell_behind(tablet, node_id)
                missed = True
        if missed:
            self._tablets.clones.wake()
            database.world.on_truth(database)

    def _absent(self, tablet: Tablet) -> list[int]:
        """Those who would miss a load that succeeds; nobody when it cannot."""
        readable = self._tablets.readable(tablet)
        if len(readable) < majority(tablet.table.replication):
            return []
        return [node_id for node_id in self._tablets.good(tablet) if node_id not in readable]

    def _of(self, tables: list[Table]) -> list[Tablet]:
        return [tablet for tablet in self._tablets.tablets.values() if tablet.table in tables and not tablet.lost]

    def _judge(self, tables: list[Table]) -> None:
        """A red mark when a table gets worse; a table with too few copies for any absence earns none."""
        world = self._tablets.database.world
        for table in tables:
            copies = [len(self._tablets.readable(tablet)) for tablet in self._of([table])]
            unreadable = sum(count == 0 for count in copies)
            refused = sum(count < majority(table.replication) for count in copies)
            trouble, count = "", 0
            if table.replication > 1 and unreadable:
                trouble, count = UNAVAILABLE, unreadable
            elif table.replication > 2 and refused:
                trouble, count = REFUSED, refused
            if trouble and table.trouble in ("", REFUSED) and trouble != table.trouble:
                what = "no good copy that answers" if trouble == UNAVAILABLE else "too few good copies for a load"
                world.mark(trouble, self._tablets.database, f"{count} tablets of {table.full_name} have {what}")
            table.trouble = trouble
