"""The gate that every external call of an operator passes; what may go wrong with a call is laid on it here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeVar

T = TypeVar("T")


class CallKind(StrEnum):
    """What is called."""

    STATUS = "status"  # the cluster's status is written
    APPLY = "apply"  # an object is applied
    DELETE = "delete"  # an object is deleted
    STATEMENT = "statement"  # FE is told something
    QUESTION = "question"  # FE is asked something


@dataclass(frozen=True, kw_only=True)
class Call:
    """One external call. number: counted from 1; questions are counted by themselves."""

    number: int
    actor: str
    kind: CallKind
    what: str

    @property
    def writes(self) -> bool:
        return self.kind != CallKind.QUESTION

    def __str__(self) -> str:
        return f"{self.number}: {self.actor} {self.kind} {self.what}"


class KilledError(BaseException):
    """The operator's process ended here; nothing in it may catch this."""


class LostError(Exception):
    """The call was made, and its answer never came."""


class Trouble(Protocol):
    """What may go wrong with a call. `before` runs when nothing was done yet, `after` when it was."""

    def before(self, call: Call) -> None: ...
    def after(self, call: Call) -> None: ...


class Gate:
    """Counts the calls, keeps the writing ones, and lets troubles happen."""

    def __init__(self) -> None:
        self.troubles: list[Trouble] = []
        self.written: list[Call] = []
        self.questions = 0

    def through(self, *, actor: str, kind: CallKind, what: str, do: Callable[[], T]) -> T:
        """Make the call, with whatever goes wrong before and after it."""
        call = self._count(actor, kind, what)
        for trouble in list(self.troubles):
            trouble.before(call)
        result = do()
        for trouble in list(self.troubles):
            trouble.after(call)
        return result

    def from_now(self) -> None:
        """Count anew: what was called so far does not matter to the test."""
        self.written.clear()
        self.questions = 0

    def _count(self, actor: str, kind: CallKind, what: str) -> Call:
        if kind == CallKind.QUESTION:
            self.questions += 1
            return Call(number=self.questions, actor=actor, kind=kind, what=what)
        call = Call(number=len(self.written) + 1, actor=actor, kind=kind, what=what)
        self.written.append(call)
        return call


@dataclass
class _Once:
    """A trouble with the writing call of one number."""

    number: int
    happened: bool = False

    def _now(self, call: Call) -> bool:
        if self.happened or not call.writes or call.number != self.number:
            return False
        self.happened = True
        return True

    def before(self, call: Call) -> None:
        """Nothing."""

    def after(self, call: Call) -> None:
        """Nothing."""


@dataclass
class Dies(_Once):
    """The operator is killed before the call, or after it and before its answer is read."""

    afterwards: bool = False

    def before(self, call: Call) -> None:
        if not self.afterwards and self._now(call):
            raise KilledError(str(call))

    def after(self, call: Call) -> None:
        if self.afterwards and self._now(call):
            raise KilledError(str(call))


@dataclass
class Loses(_Once):
    """The call is made, and its answer is lost."""

    def after(self, call: Call) -> None:
        if self._now(call):
            raise LostError(str(call))


@dataclass
class Meanwhile(_Once):
    """Something happens right before the call is made: time passes, a person acts, another operator works."""

    act: Callable[[], object] = lambda: None

    def before(self, call: Call) -> None:
        if self._now(call):
            self.act()


def listing(calls: Sequence[Call]) -> str:
    """Calls as lines, for the message of a failed test."""
    return "\n".join(map(str, calls))
