"""Every statement that any frontend was asked, as JSON lines: what tests and invariants read."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TextIO

from lab.simulator.model.facts import PodFacts
from lab.simulator.model.grammar import redacted
from lab.simulator.model.outcome import ConnectionLost, Done, Hang, Outcome, Refused, Rows
from lab.simulator.model.session import Session

_CLASSES = {Rows: "rows", Done: "ok", Refused: "error", Hang: "hang", ConnectionLost: "lost"}


class StatementLog:
    def __init__(self, path: Path | None) -> None:
        self._file: TextIO | None = None
        self.counts: dict[str, int] = {}
        if path is not None:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            self._file = os.fdopen(descriptor, "a", buffering=1, encoding="utf-8")

    def add(self, facts: PodFacts, session: Session, sql: str, outcome: Outcome) -> None:
        result = _CLASSES[type(outcome)]
        self.counts[result] = self.counts.get(result, 0) + 1
        if self._file is None:
            return
        line = {
            "time": round(time.time(), 3),
            "namespace": facts.namespace,
            "cluster": facts.cluster_name,
            "frontend": facts.name,
            "source": session.source,
            "user": session.user,
            "statement": redacted(sql),
            "result": result,
        }
        if session.hung:
            line["again"] = True
        if isinstance(outcome, Rows):
            line["rows"] = len(outcome.rows)
        elif isinstance(outcome, Refused):
            line |= {"code": outcome.code, "text": outcome.text}
        elif isinstance(outcome, Hang | ConnectionLost):
            line["text"] = outcome.why
        self._file.write(json.dumps(line) + "\n")

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
