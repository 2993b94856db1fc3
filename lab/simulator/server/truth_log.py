"""What is really so in each database, as JSON lines, whenever it changes: the witness compares deeds with it.

A line has all members, as the leader has them, and of each of them what is really so: whether its process answers, how
many tablets have a copy there that is of no use now, what a frontend was set to. A red mark makes a line of its own.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any, TextIO

from lab.simulator.model import config
from lab.simulator.model.database import Database
from lab.simulator.model.marks import Mark
from lab.simulator.model.rows import FrontendRow


class TruthLog:
    def __init__(self, path: Path | None) -> None:
        self._file: TextIO | None = None
        self._last: dict[int, dict[str, Any]] = {}
        if path is not None:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            self._file = os.fdopen(descriptor, "a", buffering=1, encoding="utf-8")

    def changed(self, database: Database) -> None:
        if self._file is None:
            return
        truth = truth_of(database)
        if self._last.get(database.cluster_id) != truth:
            self._last[database.cluster_id] = truth
            self._write(truth)

    def marked(self, mark: Mark) -> None:
        namespace, _, cluster = mark.cluster.partition("/")
        self._write({"namespace": namespace, "cluster": cluster, "mark": mark.kind, "text": mark.text})

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _write(self, line: dict[str, Any]) -> None:
        if self._file is not None:
            self._file.write(json.dumps({"time": time.time(), **line}) + "\n")


def truth_of(database: Database) -> dict[str, Any]:
    namespace, cluster = database.cluster
    leader, tablets = database.leader, database.tablets
    return {
        "namespace": namespace,
        "cluster": cluster,
        "id": database.cluster_id,
        "leader": leader.name if leader is not None else "",
        "shared_data": database.shared_data,
        "backups": database.backups.running(),
        "frontends": [_frontend(database, row) for row in database.state.frontends],
        "nodes": [
            {
                "id": row.node_id,
                "kind": row.kind.value,
                "host": row.host,
                "port": row.port,
                "alive": row.alive,
                "answers": tablets.answers(row),
                "started": _started(database, row.host),
                "decommissioned": row.decommissioned,
                "empty": not tablets.count(row.node_id),
                "behind": tablets.behind(row.node_id),
                "lagging": tablets.lagging(row.node_id),
                "version": row.version,
            }
            for row in database.state.nodes
        ],
    }


def _frontend(database: Database, row: FrontendRow) -> dict[str, Any]:
    """settings: what ADMIN SET has given to those for a roll, where it is not what the process began with."""
    process = database.attached.get(row.name)
    return {
        "name": row.name,
        "host": row.host,
        "port": row.edit_log_port,
        "votes": row.electable,
        "alive": row.alive,
        "answers": process is not None and process.answers,
        "started": _started(database, row.host),
        "version": row.version or "",
        "settings": config.overridden(process) if process is not None else {},
        "blacklist": sorted(process.blacklist) if process is not None else [],
    }


def _started(database: Database, host: str) -> float:
    """When the process that runs there now was started, in seconds since 1970; 0: none runs."""
    container = database.world.resolve(host)
    process = container.process if container is not None else None
    return round(database.world.wall(process.started), 3) if process is not None else 0.0
