"""Statements about what nodes are spared, and about what runs that a change must not disturb."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lab.simulator.model import config
from lab.simulator.model.facts import Component
from lab.simulator.model.outcome import Done, Outcome, Rows

if TYPE_CHECKING:
    from lab.simulator.model.commands import Call

_LISTED = ("AddBlackListType", "LostConnectionTime", "LostConnectionNumberInPeriod", "CheckTimePeriod(s)")
_ID = {Component.BE: "BackendId", Component.CN: "ComputeNodeId"}


def blacklist(call: Call) -> Outcome:
    """Each frontend has a list of its own, and forgets it when it restarts."""
    ids = {text.strip() for text in call.statement["ids"].split(",")}
    if call.statement["verb"].upper() == "ADD":
        call.process.blacklist |= ids
    else:
        call.process.blacklist -= ids
    call.world.on_truth(call.database)
    return Done()


def show_blacklist(call: Call) -> Outcome:
    """An id that FE knows no more stands in the list of both kinds: the process keeps numbers, nothing else."""
    kind = Component.BE if call.statement["what"].upper() == "BACKEND" else Component.CN
    others = {str(row.node_id) for row in call.database.view(call.process).nodes if row.kind is not kind}
    period = config.value(call.process, "black_host_history_sec")
    columns = (
        _ID[kind],
        "AddBlackListType",
        "LostConnectionTime",
        "LostConnectionNumberInPeriod",
        "CheckTimePeriod(s)",
    )
    listed = sorted(call.process.blacklist - others)
    return Rows(columns, tuple((node_id, "MANUAL", "", "0", period) for node_id in listed))


def create_image(call: Call) -> Outcome:
    call.database.versions.image()
    return Done()


def show_jobs(kind: str) -> Callable[[Call], Outcome]:
    def show(call: Call) -> Outcome:
        return call.database.backups.show(kind, call.statement["db"])

    return show


def show_databases(call: Call) -> Outcome:
    names = {table.db for table in call.database.tablets.tables if table.recycled_at is None}
    listed = sorted(names | {"information_schema", "sys", "_statistics_"})
    return Rows(("Database",), tuple((name,) for name in listed))
