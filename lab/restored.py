"""Whether what the operator set for the time of a change has again the value that it had before.

Settings live in the memory of each frontend: the truth log has, of each, what differs from what its process began with.
So the same must differ, on each frontend that answers, as did on the leader before the first word of the operator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_SET = re.compile(r"ADMIN\s+SET\s+FRONTEND\s+CONFIG", re.IGNORECASE)
Key = tuple[str, str]  # a namespace and a cluster


def unrestored(events: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Sentences on what is left behind. events: lines of the statement log and of the truth log, in order of time."""
    last: dict[Key, Mapping[str, Any]] = {}
    before: dict[Key, Mapping[str, str]] = {}
    for event in events:
        key = (event["namespace"], event["cluster"])
        if "frontends" in event:
            last[key] = event
        elif event.get("source") == "client" and _SET.match(event["statement"].strip()):
            before.setdefault(key, _of_leader(last.get(key)))
    for key, wanted in before.items():
        for row in last.get(key, {}).get("frontends", ()):
            if row["answers"] and row["settings"] != wanted:
                pod = row["host"].split(".")[0]
                yield f"{key[0]}: {pod} is left with {_words(row['settings'])}, and there was {_words(wanted)} before"


def _of_leader(truth: Mapping[str, Any] | None) -> Mapping[str, str]:
    rows = (truth or {}).get("frontends", ())
    return next((row["settings"] for row in rows if truth is not None and row["name"] == truth["leader"]), {})


def _words(settings: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items()) or "nothing set"
