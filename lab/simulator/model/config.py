"""ADMIN SET and ADMIN SHOW FRONTEND CONFIG. What is set lives in memory: it is gone with each frontend's process."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from lab.simulator.model.outcome import Rows, SqlError
from lab.simulator.model.process import FrontendProcess
from lab.simulator.model.settings import OLD_NAMES, SETTINGS, Setting

if TYPE_CHECKING:
    from lab.simulator.model.database import Database

_PAIR = re.compile(r"[\"']([^\"']+)[\"']\s*=\s*[\"']([^\"']*)[\"']")
_COLUMNS = ("Key", "AliasNames", "Value", "Type", "IsMutable", "Comment")


def value(process: FrontendProcess, key: str) -> str:
    return process.config.get(key) or configured(process, key)


def configured(process: FrontendProcess, key: str) -> str:
    """What the process began with: its file, by the key's name or its old one, or the release's default."""
    setting = SETTINGS.get(key)
    alias = process.facts.conf.get(setting.alias, "") if setting is not None and setting.alias else ""
    return process.facts.conf.get(key) or alias or (setting.default if setting is not None else "")


def overridden(process: FrontendProcess) -> Mapping[str, str]:
    """What ADMIN SET has made different from that."""
    return {key: text for key, text in sorted(process.config.items()) if text != configured(process, key)}


def admin_set(database: Database, pairs: str) -> None:
    """The leader first, then every registered frontend; one that is down makes an error, and the others are changed."""
    wanted = {OLD_NAMES.get(key, key): text for key, text in _PAIR.findall(pairs)}
    if not wanted:
        raise SqlError("Empty properties")
    for key, text in wanted.items():
        if key not in SETTINGS or not SETTINGS[key].mutable:
            raise SqlError(f"Config '{key}' does not exist or is not mutable", 5102)
        if not fits(SETTINGS[key], text):
            raise SqlError(f"Set config failed: invalid value '{text}' of {SETTINGS[key].kind} {key}", 5101)
    failed = []
    for row in database.state.frontends:
        process = database.attached.get(row.name)
        if process is not None and process.answers:
            process.config.update(wanted)
        else:
            failed.append(f"set config for fe[{row.host}] failed: connection refused;")
    database.tablets.wake()
    database.world.on_truth(database)
    if failed:
        raise SqlError(f"Set config failed: {' '.join(failed)}", 5101)


def fits(setting: Setting, text: str) -> bool:
    if setting.kind == "boolean":
        return text.lower() in ("true", "false")
    return setting.kind not in ("int", "long", "short") or re.fullmatch(r"-?\d+", text.strip()) is not None


def admin_show(process: FrontendProcess, like: str) -> Rows:
    """The answering frontend's own values; a key is found by its old name, too."""
    pattern = like.replace("%", "*").replace("_", "?")
    rows = []
    for key, setting in sorted(SETTINGS.items()):
        if fnmatchcase(key, pattern) or (setting.alias and fnmatchcase(setting.alias, pattern)):
            mutable = "true" if setting.mutable else "false"
            rows.append((key, f"[{setting.alias}]", value(process, key), setting.kind, mutable, setting.comment))
    return Rows(_COLUMNS, tuple(rows))
