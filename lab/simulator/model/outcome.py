"""What a client sees of one statement: rows, an OK, an error, silence, or a broken connection. All five differ."""

from __future__ import annotations

from dataclasses import dataclass

Cell = str | None


@dataclass(frozen=True)
class Rows:
    """A result set. It may be empty, which is neither an error nor a hang."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...] = ()

    def as_dicts(self) -> list[dict[str, Cell]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


@dataclass(frozen=True)
class Done:
    """An OK packet without rows."""


@dataclass(frozen=True)
class Refused:
    """A MySQL error packet."""

    code: int
    text: str


@dataclass(frozen=True)
class Hang:
    """No answer for now. The statement is to be tried again while the client waits (a leader may yet appear)."""

    why: str = ""


@dataclass(frozen=True)
class ConnectionLost:
    """The connection breaks after so many (virtual) seconds, and the client cannot know what was done."""

    after: float = 0.0
    why: str = ""


Outcome = Rows | Done | Refused | Hang | ConnectionLost


class SqlError(Exception):
    """Raised inside the model for everything that ends as an error packet."""

    def __init__(self, text: str, code: int = 1064) -> None:
        super().__init__(text)
        self.text = text
        self.code = code


class QuorumLostError(Exception):
    """A journal write found too few acknowledging followers."""


def syntax_error(sql: str) -> SqlError:
    near = " ".join(sql.split())[:60]
    return SqlError(
        f"Getting syntax error at line 1, column 0. Detail message: No viable statement for input '{near}'."
    )
