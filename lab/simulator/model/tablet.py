"""Tables, tablets and where their copies lie; it counts every loss.

A copy is real while the volume that it lies on holds it *and* FE still has the backend under whose id it was made.
A tablet without a real copy is lost: a mark that nothing takes back.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lab.simulator.model.clones import Clones
from lab.simulator.model.facts import Component
from lab.simulator.model.loads import Loads
from lab.simulator.model.outcome import Rows, SqlError
from lab.simulator.model.rows import NodeRow
from lab.simulator.model.volume import Volume

if TYPE_CHECKING:
    from lab.simulator.model.database import Database


@dataclass(eq=False)
class Table:
    db: str
    name: str
    replication: int
    tablet_gb: float
    recycled_at: float | None = None  # dropped, and kept in the recycle bin
    written: bool = False  # loads come in all the time
    trouble: str = ""  # the mark that its present state has earned

    @property
    def full_name(self) -> str:
        return f"{self.db}.{self.name}"


@dataclass(eq=False)
class Tablet:
    tablet_id: int
    table: Table
    copies: dict[int, Volume] = field(default_factory=dict)  # backend id -> the disk
    lagging: set[int] = field(default_factory=set)  # backends whose copy has missed a load
    lost: bool = False
    given_up: bool = False  # its owner named the loss of what was on its last backend


class Tablets:
    def __init__(self, database: Database) -> None:
        self.database = database
        self.tables: list[Table] = []
        self.tablets: dict[int, Tablet] = {}
        self.capacity_gb: dict[int, float] = {}  # by backend id, where it is not the default
        self.clones = Clones(self)
        self.loads = Loads(self)
        self._per_node: Counter[int] = Counter()
        self._lagging: Counter[int] = Counter()
        self._gigabytes: defaultdict[int, float] = defaultdict(float)
        self._next_id = 20001

    # -- copies ------------------------------------------------------------------------------------------------

    def put(self, tablet: Tablet, node_id: int, volume: Volume) -> None:
        tablet.copies[node_id] = volume
        volume.copies.add((self.database.cluster_id, tablet.tablet_id))
        self._per_node[node_id] += 1
        self._gigabytes[node_id] += tablet.table.tablet_gb
        if self._per_node[node_id] == 1:
            self.database.world.on_truth(self.database)

    def take(self, tablet: Tablet, node_id: int) -> None:
        volume = tablet.copies.pop(node_id, None)
        self.caught_up(tablet, node_id)
        if volume is not None:
            self._per_node[node_id] -= 1
            self._gigabytes[node_id] -= tablet.table.tablet_gb
            volume.copies.discard((self.database.cluster_id, tablet.tablet_id))
            if not self._per_node[node_id]:
                self.database.world.on_truth(self.database)

    def fell_behind(self, tablet: Tablet, node_id: int) -> None:
        """A load went past this copy."""
        tablet.lagging.add(node_id)
        self._lagging[node_id] += 1

    def caught_up(self, tablet: Tablet, node_id: int) -> None:
        """The copy is repaired, or gone."""
        if node_id in tablet.lagging:
            tablet.lagging.discard(node_id)
            self._lagging[node_id] -= 1

    def real(self, tablet: Tablet) -> list[int]:
        """The backends that FE knows and whose disks still hold this tablet."""
        mark = (self.database.cluster_id, tablet.tablet_id)
        return [node_id for node_id, volume in tablet.copies.items() if mark in volume.copies]

    def good(self, tablet: Tablet) -> list[int]:
        """Those of them that have missed no load."""
        return [node_id for node_id in self.real(tablet) if node_id not in tablet.lagging]

    def readable(self, tablet: Tablet) -> list[int]:
        """Backends that would really answer a query for it, whatever FE still believes."""
        state = self.database.state
        rows = [(node_id, state.node(node_id)) for node_id in self.good(tablet)]
        return [node_id for node_id, row in rows if row is not None and self.answers(row)]

    def answers(self, row: NodeRow) -> bool:
        container = self.database.world.resolve(row.host)
        return container is not None and container.node is not None and container.node.answers

    def live_backends(self) -> dict[int, NodeRow]:
        return {row.node_id: row for row in self.database.state.of_kind(Component.BE) if row.alive}

    def count(self, node_id: int) -> int:
        return self._per_node[node_id]

    def any(self) -> bool:
        return any(not tablet.lost for tablet in self.tablets.values())

    def forget_node(self, node_id: int, *, consented: bool = False) -> None:
        """FE dropped the row: what lies on that disk is foreign from now on."""
        held = [tablet for tablet in self.tablets.values() if node_id in tablet.copies]
        for tablet in held:
            self.take(tablet, node_id)
            tablet.given_up = consented and not tablet.copies
        if held:
            text = f"backend {node_id} was dropped with {len(held)} tablets on it"
            self.database.world.mark("drop-with-tablets", self.database, text, consented=consented)
        self.copies_lost()
        self.wake()

    def copies_lost(self) -> None:
        """Some disk or row went: see whether it held the last copy of anything."""
        for tablet in self.tablets.values():
            if not tablet.lost and not self.good(tablet):
                tablet.lost = True
                if tablet.table.recycled_at is None:
                    left = "only copies that missed loads" if tablet.copies else "no copy left"
                    text = f"tablet {tablet.tablet_id} of {tablet.table.full_name} has {left}"
                    world = self.database.world
                    world.mark("tablet-lost", self.database, text, loss=True, consented=tablet.given_up)
        self.wake()

    def wake(self) -> None:
        self.clones.wake()
        self.loads.noticed()

    # -- tables ------------------------------------------------------------------------------------------------

    def create_table(
        self, db: str, name: str, *, replication: int, tablets: int, tablet_gb: float = 1.0, written: bool = False
    ) -> Table:
        """written: loads come in all the time, so that a backend that is down misses some."""
        targets = {row.node_id: row for row in self.live_backends().values() if not row.decommissioned}
        if len(targets) < replication:
            raise SqlError(
                "Table replication num should be less than or equal to the number of available BE nodes "
                f"({len(targets)})."
            )
        table = Table(db=db, name=name, replication=replication, tablet_gb=tablet_gb, written=written)
        self.tables.append(table)
        for _ in range(tablets):
            tablet = Tablet(tablet_id=self._next_id, table=table)
            self._next_id += 1
            self.tablets[tablet.tablet_id] = tablet
            for node_id in sorted(targets, key=lambda node: (self.count(node), node))[:replication]:
                volume = self.volume_of(targets[node_id])
                if volume is not None:
                    self.put(tablet, node_id, volume)
        self.loads.noticed()
        return table

    def table(self, db: str, name: str) -> Table:
        for table in self.tables:
            if (table.db, table.name, table.recycled_at) == (db, name, None):
                return table
        raise SqlError(f"Unknown table '{db}.{name}'", 5502)

    def drop_table(self, db: str, name: str) -> None:
        self.table(db, name).recycled_at = self.database.world.now

    def empty_recycle_bin(self) -> None:
        for tablet_id, tablet in list(self.tablets.items()):
            if tablet.table.recycled_at is not None:
                for node_id in list(tablet.copies):
                    self.take(tablet, node_id)
                del self.tablets[tablet_id]
        self.tables = [table for table in self.tables if table.recycled_at is None]
        self.wake()

    def volume_of(self, row: NodeRow) -> Volume | None:
        container = self.database.world.resolve(row.host)
        return container.volume if container is not None else None

    def count_rows(self, db: str, name: str) -> Rows:
        """A query needs one readable copy of every tablet."""
        wanted = [
            t for t in self.tablets.values() if (t.table.db, t.table.name) == (db, name) and t.table.recycled_at is None
        ]
        if not wanted:
            raise SqlError(f"Getting analyzing error. Detail message: Unknown table '{db}.{name}'.", 5502)
        for tablet in wanted:
            if not self.readable(tablet):
                raise SqlError(f"Failed to get scan range, no queryable replica found in tablet: {tablet.tablet_id}")
        return Rows(("count(*)",), ((str(1000 * len(wanted)),),))

    # -- what FE checks before it lets a backend go ------------------------------------------------------------

    def check_drop(self, row: NodeRow) -> None:
        """Only tables with replication_num 1: everything else goes through, whatever it costs."""
        for tablet in self.tablets.values():
            table = tablet.table
            if table.replication == 1 and table.recycled_at is None and row.node_id in tablet.copies:
                raise SqlError(
                    f"Tables such as [{table.full_name}] on the backend[{row.target}] have only one replica. To avoid "
                    f"data loss, please change the replication_num of [{table.full_name}] to three. ALTER SYSTEM DROP "
                    "BACKEND <backends> FORCE can be used to forcibly drop the backend. "
                )

    def check_decommission(self, leaving: list[NodeRow]) -> None:
        ids = {row.node_id for row in leaving}
        staying = [row for row in self.live_backends().values() if not row.decommissioned and row.node_id not in ids]
        free = sum(self.usage(row.node_id)[2] - self.usage(row.node_id)[1] for row in staying)
        if free < sum(self.usage(node_id)[1] for node_id in ids):
            raise SqlError("It will cause insufficient disk space if these BEs are decommissioned.")
        statistics_count = self.database.features.statistics_tables_block
        for table in self.tables:
            if table.recycled_at is not None or (table.db == "_statistics_" and not statistics_count):
                continue
            if table.replication > len(staying):
                raise SqlError(
                    "It will cause insufficient BE number if these BEs are decommissioned because the table "
                    f"{table.full_name} requires {table.replication} replicas."
                )

    # -- what FE counts ---------------------------------------------------------------------------------------------

    def usage(self, node_id: int) -> tuple[int, float, float]:
        """Tablets, gigabytes used and gigabytes in all of one backend."""
        return self.count(node_id), self._gigabytes[node_id], self.capacity_gb.get(node_id, 1000.0)

    def unhealthy(self, tablet: Tablet) -> bool:
        """As FE counts: too few copies on backends that it sees alive, or some that missed a load."""
        live = self.live_backends()
        return sum(1 for node_id in self.good(tablet) if node_id in live) < tablet.table.replication

    def lagging(self, node_id: int) -> int:
        """Tablets whose copy there has missed a load."""
        return self._lagging[node_id]

    def behind(self, node_id: int) -> int:
        """Tablets whose copy there is of no use just now: it missed a load, or the backend does not answer."""
        row = self.database.state.node(node_id)
        away = row is not None and not self.answers(row)
        return self.count(node_id) if away else self._lagging[node_id]
