"""ADMIN SET and ADMIN SHOW FRONTEND CONFIG. What is set lives in memory: it is gone with each frontend's process."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatch
from typing import TYPE_CHECKING

from lab.simulator.model.outcome import Rows, SqlError
from lab.simulator.model.process import FrontendProcess

if TYPE_CHECKING:
    from lab.simulator.model.database import Database

MUTABLE: Mapping[str, str] = {
    "tablet_sched_max_scheduling_tablets": "10000",
    "tablet_sched_max_balancing_tablets": "500",
    "tablet_sched_slot_num_per_path": "8",
    "tablet_sched_checker_interval_seconds": "20",
    "tablet_sched_disable_balance": "false",
    "tablet_sched_disable_colocate_balance": "false",
    "drop_backend_after_decommission": "true",
    "catalog_trash_expire_second": "86400",
    "heartbeat_timeout_second": "5",
    "meta_delay_toleration_second": "300",
}
_OLD_NAMES = {
    "disable_balance": "tablet_sched_disable_balance",
    "disable_colocate_balance": "tablet_sched_disable_colocate_balance",
    "max_scheduling_tablets": "tablet_sched_max_scheduling_tablets",
    "max_balancing_tablets": "tablet_sched_max_balancing_tablets",
}
_ALIAS_OF = {new: old for old, new in _OLD_NAMES.items()}
_PAIR = re.compile(r"[\"']([^\"']+)[\"']\s*=\s*[\"']([^\"']*)[\"']")


def value(process: FrontendProcess, key: str) -> str:
    return process.config.get(key) or process.facts.conf.get(key) or MUTABLE.get(key, "")


def admin_set(database: Database, pairs: str) -> None:
    """The leader first, then every registered frontend; one that is down makes an error, and the others are changed."""
    wanted = {_OLD_NAMES.get(key, key): text for key, text in _PAIR.findall(pairs)}
    if not wanted:
        raise SqlError("Empty properties")
    for key in wanted:
        if key not in MUTABLE:
            raise SqlError(f"Config '{key}' does not exist or is not mutable", 5102)
    failed = []
    for row in database.state.frontends:
        process = database.attached.get(row.name)
        if process is not None and process.answers:
            process.config.update(wanted)
        else:
            failed.append(f"set config for fe[{row.host}] failed: connection refused;")
    database.tablets.wake()
    if failed:
        raise SqlError(f"Set config failed: {' '.join(failed)}", 5101)


def admin_show(process: FrontendProcess, like: str) -> Rows:
    pattern = like.replace("%", "*").replace("_", "?")
    rows = []
    for key in sorted(MUTABLE):
        alias = _ALIAS_OF.get(key, "")
        if fnmatch(key, pattern) or (alias and fnmatch(alias, pattern)):
            rows.append((key, f"[{alias}]", value(process, key), "string", "true", ""))
    return Rows(("Key", "AliasNames", "Value", "Type", "IsMutable", "Comment"), tuple(rows))
