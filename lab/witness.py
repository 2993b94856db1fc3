"""A witness: reads the API server's audit log and FE's statements, and says what the operator did and never may do.

Every scenario on the lab ends with `Witness.testify()`, and so does the benchmark. What is promised is in `judge`; here
the logs are read and brought into one order of time.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from lab.judge import Judge

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
                    name=reference.get("name")
                    or (event.get("responseObject") or {}).get("metadata", {}).get("name", ""),
                    code=event.get("responseStatus", {}).get("code", 0),
                    at=event["requestReceivedTimestamp"],
                    asked=event.get("requestObject"),
                    answered=event.get("responseObject"),
                )


@dataclass(frozen=True)
class Mark:
    """How far the logs had been written at one moment."""

    audit: int
    statements: int
    truth: int = 0


class Witness:
    """Reads the logs of one lab.

    foretold: red marks that a test provokes on purpose, by namespace, where the operator can only tell of them.
    """

    def __init__(
        self,
        *,
        audit_log: Path,
        statement_log: Path,
        truth_log: Path | None = None,
        other_logs: tuple[Path, ...] = (),
        foretold: Collection[tuple[str, str]] = (),
    ) -> None:
        self._audit_log = audit_log
        self._statement_log = statement_log
        self._truth_log = truth_log or statement_log.with_name("truth.jsonl")
        self._other_logs = other_logs
        self._foretold = frozenset(foretold)

    def mark(self) -> Mark:
        return Mark(audit=size(self._audit_log), statements=size(self._statement_log), truth=size(self._truth_log))

    def writes(self, *, since: Mark | None = None) -> list[Write]:
        """What the operator wrote, its Lease apart."""
        offset = since.audit if since else 0
        found = writes(self._audit_log, offset=offset)
        return [write for write in found if write.by_operator and write.resource != "leases"]

    def statements(self, *, since: Mark | None = None) -> list[dict[str, Any]]:
        """What frontends were asked."""
        return list(lines(self._statement_log, offset=since.statements if since else 0))

    def testify(
        self, *, since: Mark | None = None, namespace: str | None = None, secrets: tuple[str, ...] = ()
    ) -> list[str]:
        """Everything the operator did that it never may do, as sentences; empty when it kept its promises.

        since: when the namespace was empty still; what was there before a deed is known from the log alone.
        """
        judge = Judge()
        for _, event in sorted(self._events(since), key=lambda pair: pair[0]):
            if namespace in (None, event.namespace if isinstance(event, Write) else event["namespace"]):
                judge.hear(event)
        found = list(judge.found)
        for path in (self._audit_log, self._statement_log, *self._other_logs):
            text = path.read_text(errors="replace") if secrets and path.exists() else ""
            found += [f"I7: a secret stands in {path.name}" for secret in secrets if secret in text]
        return found

    def _events(self, since: Mark | None) -> Iterator[tuple[float, Write | dict[str, Any]]]:
        for write in writes(self._audit_log, offset=since.audit if since else 0):
            yield write.moment, write
        for log, offset in (
            (self._statement_log, since.statements if since else 0),
            (self._truth_log, since.truth if since else 0),
        ):
            for line in lines(log, offset=offset):
                if (line["namespace"], line.get("mark")) not in self._foretold:
                    yield line["time"], line


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
