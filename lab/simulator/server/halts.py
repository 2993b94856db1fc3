"""One statement may be halted: before FE reads it, or when it is done and before the reply goes out.

Whoever laid the halt then does what it likes to the one who asked (kills it, stops it), and releases the statement.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass
class Halt:
    """The number-th statement from now, in this namespace, that matches."""

    pattern: re.Pattern[str]
    number: int
    afterwards: bool
    namespace: str
    statement: str = ""  # the one that is halted, or was
    released: bool = False


class Halts:
    """At most one halt at a time; another one replaces it."""

    def __init__(self) -> None:
        self._halt: Halt | None = None

    def lay(self, *, pattern: str, number: int, afterwards: bool, namespace: str) -> None:
        self.release()
        self._halt = Halt(re.compile(pattern, re.IGNORECASE), number, afterwards, namespace)

    def release(self) -> None:
        if self._halt is not None:
            self._halt.released = True
        self._halt = None

    @property
    def statement(self) -> str:
        """What is halted; empty: nothing yet."""
        return self._halt.statement if self._halt is not None else ""

    def meet(self, namespace: str, sql: str) -> Halt | None:
        """The halt, if it is this statement's. Each statement is counted once."""
        halt = self._halt
        if halt is None or halt.statement or halt.namespace != namespace or not halt.pattern.match(sql.strip()):
            return None
        halt.number -= 1
        if halt.number > 0:
            return None
        halt.statement = sql
        return halt
