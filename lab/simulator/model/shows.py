"""SHOW FRONTENDS, BACKENDS, COMPUTE NODES and SHOW PROC: which columns there are, by version, and what is in them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lab.simulator.model import columns
from lab.simulator.model.facts import Component
from lab.simulator.model.outcome import Cell, Rows, SqlError
from lab.simulator.model.process import FrontendProcess
from lab.simulator.model.rows import FrontendRow, NodeRow, State
from lab.simulator.model.tablet_shows import cluster_balance, statistic, statistic_of
from lab.simulator.model.version import Features

if TYPE_CHECKING:
    from lab.simulator.model.database import Database


def show_frontends(database: Database, asked: FrontendProcess, features: Features, *, proc: bool) -> Rows:
    """The rows as `asked` knows them; its own row is always alive."""
    until = database.seen_at(asked)
    state = database.view(asked)
    names = columns.frontends(features)
    leader = database.leader.name if database.leader is not None and asked.removed_at is None else ""
    rows = []
    for row in state.frontends:
        cells = _frontend_cells(database, row, asked, until)
        if row.name == leader and (proc or not features.hides_leader):
            cells["Role"] = "LEADER"
        rows.append(_row(names, cells))
    return Rows(names, tuple(rows))


def _frontend_cells(database: Database, row: FrontendRow, asked: FrontendProcess, until: float) -> dict[str, Cell]:
    own = row.name == asked.name
    last = database.last_tick(until) if row.beating else row.last_heartbeat
    process = database.attached.get(row.name)
    reached = database.seen_at(process) if process is not None else until
    replayed = database.journal_id(min(reached, last)) if last is not None else 0
    return {
        "Id": str(row.fid),
        "Name": row.name,
        "IP": row.host,
        "EditLogPort": str(row.edit_log_port),
        "HttpPort": str(asked.facts.web_port),
        "QueryPort": str(asked.facts.port("query_port") if own else row.query_port),
        "RpcPort": str(asked.facts.port("rpc_port") if own else row.rpc_port),
        "Role": row.role,
        "ClusterId": str(database.cluster_id),
        "Join": _boolean(row.joined and row.name not in database.removed),
        "Alive": _boolean(row.alive or own),
        "ReplayedJournalId": str(replayed),
        "LastHeartbeat": _time(database, last),
        "IsHelper": _boolean(row.electable),
        "ErrMsg": row.error,
        "StartTime": _time(database, row.start_time) or "NULL",
        "Version": row.version or "NULL",
    }


def show_nodes(database: Database, state: State, kind: Component, features: Features, until: float) -> Rows:
    names = columns.nodes(kind, features, shared_data=database.shared_data)
    ordered = sorted(state.of_kind(kind), key=lambda row: (row.host, row.be_port))
    return Rows(names, tuple(_row(names, _node_cells(database, row, until)) for row in ordered))


def _node_cells(database: Database, row: NodeRow, until: float) -> dict[str, Cell]:
    last = database.last_tick(until) if row.beating else row.last_heartbeat
    tablets, used, capacity = database.tablets.usage(row.node_id)
    percent = f"{100.0 * used / capacity:.2f} %"
    report = _time(database, last) or "N/A"
    return {
        "BackendId": str(row.node_id),
        "ComputeNodeId": str(row.node_id),
        "IP": row.host,
        "HeartbeatPort": str(row.port),
        "BePort": str(row.be_port),
        "HttpPort": str(row.http_port),
        "BrpcPort": str(row.brpc_port),
        "LastStartTime": _time(database, row.last_start),
        "LastHeartbeat": _time(database, last),
        "Alive": _boolean(row.alive),
        "SystemDecommissioned": _boolean(row.decommissioned),
        "ClusterDecommissioned": "false",
        "TabletNum": str(tablets),
        "DataUsedCapacity": f"{used:.3f} GB",
        "AvailCapacity": f"{capacity - used:.3f} GB",
        "TotalCapacity": f"{capacity:.3f} GB",
        "UsedPct": percent,
        "MaxDiskUsedPct": percent,
        "ErrMsg": row.error,
        "Version": row.version,
        "Status": f'{{"lastSuccessReportTabletsTime":"{report}"}}',
        "DataTotalCapacity": f"{capacity:.3f} GB",
        "DataUsedPct": percent,
        "CpuCores": "16" if row.last_start is not None else "0",
        "MemLimit": "62.5GB" if row.last_start is not None else "0.000B",
        "NumRunningQueries": str(database.running_queries.get(row.node_id, 0)),
        "MemUsedPct": "0.52 %",
        "CpuUsedPct": "0.0 %",
        "DataCacheMetrics": "Status: Disabled" if row.last_start is not None else "N/A",
        "Location": "",
        "HasStoragePath": "false",
        "StatusCode": row.status,
        "StarletPort": "9070",
        "WorkerId": str(row.node_id - 10000),
        "WarehouseName": row.warehouse,
    }


def show_proc(database: Database, asked: FrontendProcess, features: Features, path: str) -> Rows:
    """Local: the answering frontend's own view, which may be old."""
    path = path.rstrip("/")
    until, state = database.seen_at(asked), database.view(asked)
    if path == "/frontends":
        return show_frontends(database, asked, features, proc=True)
    if path in ("/backends", "/compute_nodes"):
        kind = Component.BE if path == "/backends" else Component.CN
        return show_nodes(database, state, kind, features, until)
    if path == "/statistic":
        return statistic(database.tablets)
    if path.startswith("/statistic/"):
        return statistic_of(database.tablets, path.removeprefix("/statistic/"))
    if path == "/cluster_balance":
        return cluster_balance(database.tablets)
    raise SqlError(f"Unknown proc node path: {path}. msg: No such node")


def _row(names: tuple[str, ...], cells: Mapping[str, Cell]) -> tuple[Cell, ...]:
    return tuple(cells.get(name, "") for name in names)


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def _time(database: Database, moment: float | None) -> str | None:
    if moment is None:
        return None
    return datetime.fromtimestamp(database.world.wall(moment), UTC).strftime("%Y-%m-%d %H:%M:%S")
