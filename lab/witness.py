"""A witness: reads the API server's audit log and FE's statements, and says what the operator did and never may do.

Every scenario on the lab ends with `Witness.testify()`, and so does the benchmark. What is promised is in `judge`; here
the logs are read and brought into one order of time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.audit import OPERATOR, Write, lines, size, writes
from lab.judge import Judge
from lab.restored import unrestored
from lab.roll_order import Replacement, replacements

__all__ = ["OPERATOR", "Mark", "Witness", "Write", "lines", "writes"]


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

    def unrestored(self, *, since: Mark | None = None, namespace: str | None = None) -> list[str]:
        """Settings that the operator has changed on frontends and not put back, as sentences: for the end of a roll."""
        events = sorted(self._events(since), key=lambda pair: pair[0])
        told = [event for _, event in events if not isinstance(event, Write) and "mark" not in event]
        return list(unrestored(event for event in told if namespace in (None, event["namespace"])))

    def replacements(self, *, since: Mark | None = None, namespace: str | None = None) -> list[Replacement]:
        """Pods that were replaced, in order; see `roll_order`."""
        return replacements(self._audit_log, offset=since.audit if since else 0, namespace=namespace)

    def truths(self, *, since: Mark | None = None, namespace: str | None = None) -> list[dict[str, Any]]:
        """What was so, each time that it changed."""
        found = lines(self._truth_log, offset=since.truth if since else 0)
        return [line for line in found if "mark" not in line and namespace in (None, line["namespace"])]

    def marks(self, *, since: Mark | None = None, namespace: str | None = None) -> list[str]:
        """The kinds of the red marks, in order of time."""
        found = lines(self._truth_log, offset=since.truth if since else 0)
        return [line["mark"] for line in found if "mark" in line and namespace in (None, line["namespace"])]

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
