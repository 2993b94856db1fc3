"""A witness: reads the API server's audit log and FE's statements, and says what the operator did and never may do.

Each invariant of the design that can be seen from outside is a sentence here; every scenario on the lab ends with
`Witness.testify()`, and so does the benchmark.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    def by_operator(self) -> bool:
        return self.user == OPERATOR

    def __str__(self) -> str:
        what = f"{self.resource}/{self.subresource}" if self.subresource else self.resource
        return f"{self.verb} {what} {self.namespace}/{self.name} ({self.code})"


def writes(audit_log: Path, *, offset: int = 0) -> Iterator[Write]:
    """The writes in an audit log from byte `offset` on."""
    with audit_log.open("rb") as log:
        log.seek(offset)
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


class Witness:
    """Reads the logs of one lab."""

    def __init__(self, *, audit_log: Path, statement_log: Path, other_logs: tuple[Path, ...] = ()) -> None:
        self._audit_log = audit_log
        self._statement_log = statement_log
        self._other_logs = other_logs

    def mark(self) -> Mark:
        return Mark(audit=size(self._audit_log), statements=size(self._statement_log))

    def writes(self, *, since: Mark | None = None) -> list[Write]:
        """What the operator wrote, its Lease apart."""
        offset = since.audit if since else 0
        found = writes(self._audit_log, offset=offset)
        return [write for write in found if write.by_operator and write.resource != "leases"]

    def statements(self, *, since: Mark | None = None) -> list[dict[str, Any]]:
        """What frontends were asked."""
        if not self._statement_log.exists():
            return []
        with self._statement_log.open("rb") as log:
            log.seek(since.statements if since else 0)
            return [json.loads(line) for line in log if line.endswith(b"\n")]

    def testify(self, *, secrets: tuple[str, ...] = ()) -> list[str]:
        """Everything the operator did that it never may do, as sentences; empty when it kept its promises."""
        found = []
        for write in self.writes():
            found += against(write)
        for path in (self._audit_log, self._statement_log, *self._other_logs):
            text = path.read_text(errors="replace") if path.exists() else ""
            found += [f"I7: a secret stands in {path.name}" for secret in secrets if secret in text]
        return found


def against(write: Write) -> list[str]:
    """What is wrong with one write of the operator."""
    found = []
    if write.verb.startswith("delete") and write.resource in {"statefulsets", "persistentvolumeclaims", "pods"}:
        found.append(f"I2, I5: the operator may not {write}")
    if write.resource == "statefulsets" and write.code < 300 and lowered(write):
        found.append(f"I2: lower replicas were asked for: {write}")
    if finalizers(write.asked):
        found.append(f"I10: a finalizer was asked for: {write}")
    return found


def lowered(write: Write) -> bool:
    """Whether a frontend or backend StatefulSet that was there before was asked for fewer pods than it had."""
    if not isinstance(write.asked, dict) or not isinstance(write.answered, dict):
        return False
    if write.answered["metadata"]["labels"].get("app.kubernetes.io/component") not in {"fe", "be"}:
        return False
    had = write.answered.get("status", {}).get("replicas", 0)
    return int(write.asked.get("spec", {}).get("replicas", had)) < int(had)


def finalizers(asked: Any) -> bool:
    return isinstance(asked, dict) and bool(asked.get("metadata", {}).get("finalizers"))


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
