"""SHOW PROC '/statistic' and '/cluster_balance': what FE counts of its tablets."""

from __future__ import annotations

from lab.simulator.model.columns import STATISTIC
from lab.simulator.model.outcome import Rows, SqlError
from lab.simulator.model.tablet import Tablet, Tablets


def statistic(tablets: Tablets) -> Rows:
    names, rows = _databases(tablets), []
    for number, db in enumerate(names):
        rows.append((str(10001 + number), db, *_sums(tablets, _of_db(tablets, db), _tables(tablets, db))))
    every = [tablet for db in names for tablet in _of_db(tablets, db)]
    rows.append(("Total", str(len(names)), *_sums(tablets, every, _tables(tablets))))
    return Rows(STATISTIC, tuple(rows))


def statistic_of(tablets: Tablets, number: str) -> Rows:
    names = _databases(tablets)
    index = int(number) - 10001 if number.isdigit() else -1
    if not 0 <= index < len(names):
        raise SqlError(f"Invalid db id: {number}")
    bad = [tablet.tablet_id for tablet in _of_db(tablets, names[index]) if tablets.unhealthy(tablet)]
    columns = ("UnhealthyTablets", "InconsistentTablets", "CloningTablets", "ErrorStateTablets")
    return Rows(columns, ((str(bad), "[]", "[]", "[]"),))


def cluster_balance(tablets: Tablets) -> Rows:
    """A scheduler that is switched off takes nothing in: its queue is empty, however much there would be to do."""
    waiting, running = tablets.clones.queue()
    numbers = {
        "cluster_load_stat": 1,
        "working_slots": len(tablets.live_backends()),
        "sched_stat": 1,
        "priority_repair": 0,
        "pending_tablets": waiting,
        "running_tablets": running,
        "history_tablets": tablets.clones.done,
    }
    return Rows(("Item", "Number"), tuple((item, str(number)) for item, number in numbers.items()))


def _sums(tablets: Tablets, counted: list[Tablet], tables: int) -> tuple[str, ...]:
    unhealthy = sum(1 for tablet in counted if tablets.unhealthy(tablet))
    replicas = sum(len(tablet.copies) for tablet in counted)
    numbers = (tables, tables, tables, len(counted), replicas, unhealthy, 0, sum(tablets.clones.queue()), 0)
    return tuple(str(number) for number in numbers)


def _databases(tablets: Tablets) -> list[str]:
    return sorted({table.db for table in tablets.tables if table.recycled_at is None})


def _tables(tablets: Tablets, db: str | None = None) -> int:
    return sum(1 for table in tablets.tables if db in (None, table.db) and table.recycled_at is None)


def _of_db(tablets: Tablets, db: str) -> list[Tablet]:
    return [t for t in tablets.tablets.values() if t.table.db == db and t.table.recycled_at is None]
