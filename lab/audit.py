"""The logs of a lab as they are written: the writes to the API server, and lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

OPERATOR = "system:serviceaccount:starrocks:starrocks-operator"
WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


@dataclass(frozen=True, kw_only=True)
class Write:
    """One write to the API server, as the audit log has it."""

    user: str
    verb: str
    resource: str
    subresource: str
    namespace: str
    name: str
    code: int
    at: str
    asked: Any
    answered: Any

    @property
    def moment(self) -> float:
        """Seconds since 1970."""
        return datetime.fromisoformat(self.at).timestamp()

    @property
    def by_operator(self) -> bool:
        return self.user == OPERATOR

    def __str__(self) -> str:
        what = f"{self.resource}/{self.subresource}" if self.subresource else self.resource
        return f"{self.verb} {what} {self.namespace}/{self.name} ({self.code})"


def writes(audit_log: Path, *, offset: int = 0) -> Iterator[Write]:
    """The writes in an audit log from byte `offset` on."""
    with audit_log.open("rb") as log:
        _begin(log, offset)
        for line in log:
            if not line.endswith(b"\n"):
                return
            event = json.loads(line)
            reference = event.get("objectRef", {})
            if event.get("stage") == "ResponseComplete" and event["verb"] in WRITES:
                yield Write(
                    user=event["user"]["username"],
                    verb=event["verb"],
                    resource=reference.get("resource", ""),
                    subresource=reference.get("subresource", ""),
                    namespace=reference.get("namespace", ""),
                    name=reference.get("name") or _name_of(event.get("responseObject"), event.get("requestObject")),
                    code=event.get("responseStatus", {}).get("code", 0),
                    at=event["requestReceivedTimestamp"],
                    asked=event.get("requestObject"),
                    answered=event.get("responseObject"),
                )


def _name_of(*bodies: Any) -> str:
    """Of an object that is being made; of some writes the log has only what was asked for."""
    names = ((body.get("metadata") or {}).get("name") for body in bodies if isinstance(body, dict))
    return next((name for name in names if name), "")


def lines(log: Path, *, offset: int = 0) -> Iterator[dict[str, Any]]:
    """The whole lines of a log of JSON lines, from byte `offset` on."""
    if not log.exists():
        return
    with log.open("rb") as file:
        _begin(file, offset)
        for line in file:
            if line.endswith(b"\n"):
                yield json.loads(line)


def _begin(file: BinaryIO, offset: int) -> None:
    """At the first line that begins at `offset` or later: a line may have been half written when it was marked."""
    if offset:
        file.seek(offset - 1)
        file.readline()


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
