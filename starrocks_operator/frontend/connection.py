"""One bounded connection to one frontend.

The socket goes to the pod's address, the host name is given beside it (that is what a certificate is checked
against). Every wait is bounded: a frontend without a leader accepts the connection and never answers.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import pymysql
from pymysql.connections import Connection

from starrocks_operator.frontend.endpoints import Credentials, Endpoint
from starrocks_operator.frontend.rows import Record, records
from starrocks_operator.observed import Outcome

_DENIED = frozenset({1045, 1044, 1142, 1227, 5203, 5205})
"""Wrong password, rights missing, or TLS demanded: a person has to act."""

_LOST = frozenset({2003, 2006, 2013, 2014, 2055})


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    """Seconds to wait for the connection, and for each answer."""

    connect: float = 2.0
    answer: float = 5.0


Witness = Callable[[str, str], None]
"""Told of each statement that is sent: the pod, and the statement."""


class FrontendError(Exception):
    """A question to a frontend that was not answered. The message is fit for a status: it holds no secret."""

    def __init__(self, outcome: Outcome, message: str, *, lost: bool = False) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.lost = lost  # the statement may have been carried out: nobody knows


class _PlainConnection(Connection):
    """Without the SET NAMES that pymysql sends after every login: the handshake has already said utf8mb4."""

    def set_character_set(self, charset: str, collation: str | None = None) -> None:
        del charset, collation


class FrontendConnection:
    """A connection to one frontend; a context manager."""

    def __init__(
        self,
        endpoint: Endpoint,
        credentials: Credentials,
        *,
        timeouts: Timeouts | None = None,
        tls: ssl.SSLContext | None = None,
        witness: Witness | None = None,
    ) -> None:
        self.endpoint = endpoint
        self._witness = witness
        self._credentials = credentials
        self._timeouts = timeouts or Timeouts()
        self._tls = tls
        self._connection: Any = None

    def __enter__(self) -> Self:
        where = f"{self.endpoint.pod} ({self.endpoint.address}:{self.endpoint.port})"
        try:
            opened = socket.create_connection(
                (self.endpoint.address, self.endpoint.port), timeout=self._timeouts.connect
            )
        except OSError as failure:
            raise FrontendError(Outcome.REFUSED, f"{where} cannot be reached: {_words(failure)}") from None
        try:
            self._connection = _PlainConnection(
                host=self.endpoint.host,
                user=self._credentials.user,
                password=self._credentials.password,
                read_timeout=self._timeouts.answer,
                write_timeout=self._timeouts.answer,
                autocommit=None,  # membership is not transactional, and asking for it would cost a statement
                ssl=self._tls,
                ssl_disabled=self._tls is None,
                defer_connect=True,
            )
            self._connection.connect(opened)
        except Exception as failure:
            opened.close()
            raise self._error(failure, sent=False) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._connection is None:
            return
        # A polite goodbye could wait on a frontend that hangs; closing the socket is enough for FE.
        self._connection._force_close()
        self._connection = None

    def ask(self, statement: str) -> tuple[Record, ...]:
        """One statement's rows, by column name."""
        if self._witness is not None:
            self._witness(self.endpoint.pod, statement)
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(statement)
                columns = [column[0] for column in cursor.description or ()]
                return records(columns, cursor.fetchall())
        except Exception as failure:
            raise self._error(failure, sent=True) from None

    def _error(self, failure: Exception, *, sent: bool) -> FrontendError:
        """What pymysql raised, in our words. Texts of FE are passed on; it never repeats a password."""
        code = failure.args[0] if failure.args and isinstance(failure.args[0], int) else 0
        said = self._clean(str(failure.args[1]) if len(failure.args) > 1 else str(failure))
        pod = self.endpoint.pod
        if code in _DENIED:
            return FrontendError(Outcome.DENIED, f"{pod} refused user {self._credentials.user}: {said}")
        if _timed_out(failure, said):
            return FrontendError(Outcome.HUNG, f"{pod} did not answer in time", lost=sent)
        if code in _LOST or isinstance(failure, OSError | pymysql.err.InterfaceError):
            outcome = Outcome.FAILED if sent else Outcome.REFUSED
            return FrontendError(outcome, f"{pod} broke the connection off: {said}", lost=sent)
        return FrontendError(Outcome.FAILED, said)

    def _clean(self, said: str) -> str:
        secret = self._credentials.password
        return (said.replace(secret, "***") if secret else said)[:500]


def _timed_out(failure: Exception, said: str) -> bool:
    return isinstance(failure, TimeoutError) or "timed out" in said


def _words(failure: OSError) -> str:
    if isinstance(failure, TimeoutError):
        return "no answer"
    return (failure.strerror or str(failure)).lower()
