"""FE's rows, read by column name.

Columns come and go with releases, so nothing is read by position; every value may be text, a number, a boolean, NULL
or the word "NULL", whatever the release made of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from starrocks_operator.observed import ComputeRow, FrontendRow, Parameter

NOTHING = frozenset({"", "NULL", "\\N", "N/A"})

Record = Mapping[str, Any]


def records(columns: Sequence[str], values: Iterable[Sequence[Any]]) -> tuple[Record, ...]:
    """A result set as records, column names in lower case."""
    names = [name.lower() for name in columns]
    return tuple(dict(zip(names, row, strict=False)) for row in values)


def frontend_row(record: Record) -> FrontendRow:
    """A row of SHOW FRONTENDS or SHOW PROC '/frontends'; releases up to 2.4 say MASTER for LEADER."""
    role = text(record, "role").upper()
    return FrontendRow(
        name=text(record, "name"),
        host=text(record, "ip") or text(record, "hostname"),
        edit_log_port=number(record, "editlogport"),
        role="LEADER" if role == "MASTER" else role,
        cluster_id=text(record, "clusterid"),
        joined=truth(record, "join"),
        alive=truth(record, "alive"),
        replayed_journal_id=number(record, "replayedjournalid"),
        query_port=number(record, "queryport"),
        start_time=text(record, "starttime"),
        version=text(record, "version"),
        error=text(record, "errmsg"),
    )


def backend_row(record: Record) -> ComputeRow:
    """A row of SHOW BACKENDS."""
    return _compute_row(record, "backendid")


def compute_node_row(record: Record) -> ComputeRow:
    """A row of SHOW COMPUTE NODES."""
    return _compute_row(record, "computenodeid")


def settings_of(found: Iterable[Record]) -> dict[str, str]:
    """The rows of ADMIN SHOW FRONTEND CONFIG as values by key."""
    return {text(record, "key"): text(record, "value") for record in found}


def parameter_of(found: Iterable[Record], key: str) -> Parameter | None:
    """What a frontend has for a key; None: this release does not know it. The question also finds similar names."""
    for record in found:
        aliases = text(record, "aliasnames").strip("[]").replace(",", " ").split()
        if key in (text(record, "key"), *aliases):
            return Parameter(value=text(record, "value"), mutable=truth(record, "ismutable"))
    return None


def _compute_row(record: Record, id_column: str) -> ComputeRow:
    return ComputeRow(
        id=text(record, id_column),
        host=text(record, "ip") or text(record, "host"),
        heartbeat_port=number(record, "heartbeatport"),
        alive=truth(record, "alive"),
        decommissioned=truth(record, "systemdecommissioned"),
        tablets=optional_number(record, "tabletnum"),
        running_queries=optional_number(record, "numrunningqueries"),
        last_start_time=text(record, "laststarttime"),
        version=text(record, "version"),
        error=text(record, "errmsg"),
        status_code=text(record, "statuscode"),
        warehouse=text(record, "warehousename"),
        used_bytes=size(text(record, "datausedcapacity")),
        free_bytes=size(text(record, "availcapacity")),
    )


_UNITS = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40, "PB": 2**50}


def size(written: str) -> int | None:
    """`25.122 GB` in bytes; None if it is not written so."""
    number_text, _, unit = written.partition(" ")
    try:
        return round(float(number_text) * _UNITS[unit.strip().upper()])
    except (ValueError, KeyError, OverflowError):
        return None


def text(record: Record, column: str) -> str:
    """The value as text; empty for everything by which FE says "nothing"."""
    value = record.get(column)
    if value is None:
        return ""
    if isinstance(value, bytes | bytearray):
        value = value.decode("utf-8", "replace")
    written = str(value).strip()
    return "" if written in NOTHING else written


def optional_number(record: Record, column: str) -> int | None:
    """The value as an integer; None if there is none."""
    written = text(record, column)
    try:
        return int(written)
    except ValueError:
        return None


def number(record: Record, column: str) -> int:
    """The value as an integer; 0 if there is none."""
    return optional_number(record, column) or 0


def truth(record: Record, column: str) -> bool:
    """Whether the value says yes."""
    return text(record, column).lower() in ("true", "1", "yes")
