"""Whether what the operator set for the time of a change has again the value that it had before.

Settings live in the memory of each frontend: the truth log has, of each, what differs from what its process began with.
So the same must differ, on each frontend that answers, as did on the leader before the first word of the operator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_SET = re.compile(r"ADMIN\s+SET\s+FRONTEND\s+CONFIG\W+(?P<name>\w+)", re.IGNORECASE)
_AT_ONCE = 0.01  # seconds between a statement's line and that of what it did; either may come first
Key = tuple[str, str]  # a namespace and a cluster


def unrestored(events: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Sentences on what is left behind. events: lines of the statement log and of the truth log, in order of time."""
    last: dict[Key, Mapping[str, Any]] = {}
    former: dict[Key, Mapping[str, Any]] = {}
    before: dict[Key, Mapping[str, str]] = {}
    for event in events:
        key = (event["namespace"], event["cluster"])
        if "frontends" in event:
            former[key], last[key] = last.get(key, event), event
        elif event.get("source") == "client" and (found := _SET.match(event["statement"].strip())):
            is_done = found["name"] in _changed(former.get(key), last.get(key))
            is_its_own = is_done and event["time"] - last[key]["time"] < _AT_ONCE
            before.setdefault(key, _of_leader((former if is_its_own else last).get(key)))
    for key, wanted in before.items():
        for row in last.get(key, {}).get("frontends", ()):
            if row["answers"] and row["settings"] != wanted:
                pod = row["host"].split(".")[0]
                yield f"{key[0]}: {pod} is left with {_words(row['settings'])}, and there was {_words(wanted)} before"


def _changed(former: Mapping[str, Any] | None, last: Mapping[str, Any] | None) -> set[str]:
    """The settings of the leader that differ between two lines."""
    old, new = _of_leader(former), _of_leader(last)
    return {name for name in {*old, *new} if old.get(name) != new.get(name)}


def _of_leader(truth: Mapping[str, Any] | None) -> Mapping[str, str]:
    rows = (truth or {}).get("frontends", ())
    return next((row["settings"] for row in rows if truth is not None and row["name"] == truth["leader"]), {})


def _words(settings: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items()) or "nothing set"
