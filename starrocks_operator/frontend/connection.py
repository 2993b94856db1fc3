"""One bounded connection to one frontend.

The socket goes to the pod's address, the host name is given beside it (that is what a certificate is checked
against). Every wait is bounded: a frontend without a leader accepts the connection and never answers.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self

import pymysql

from starrocks_operator.frontend.endpoints import Credentials, Endpoint
from starrocks_operator.frontend.logins import Logins
from starrocks_operator.frontend.rows import Record, records
from starrocks_operator.frontend.tls import context_of
from starrocks_operator.frontend.trust import distrust
from starrocks_operator.frontend.web import page
from starrocks_operator.frontend.wire import WireConnection
from starrocks_operator.observed import Login, Outcome

_WRONG_PASSWORD = 1045
_DENIED = frozenset({_WRONG_PASSWORD, 1044, 1142, 1227, 5203})
"""Wrong password, or rights missing: a person has to act."""

_LOST = frozenset({2003, 2006, 2013, 2014, 2055})
_METRICS, _LONGEST = "/metrics", 4_000_000


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    """Seconds to wait for the connection, and for each answer."""

    connect: float = 2.0
    answer: float = 5.0


Witness = Callable[[str, str], None]
"""Told of each statement that is sent: the pod, and the statement."""


class FrontendError(Exception):
    """A question to a frontend that was not answered. The message is fit for a status: it holds no secret."""

    def __init__(self, outcome: Outcome, message: str, *, lost: bool = False, wrong_password: bool = False) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.wrong_password = wrong_password
        self.lost = lost  # the statement may have been carried out: nobody knows


class FrontendConnection:
    """A connection to one frontend; a context manager."""

    def __init__(
        self,
        endpoint: Endpoint,
        credentials: Credentials,
        *,
        timeouts: Timeouts | None = None,
        witness: Witness | None = None,
        logins: Logins | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.login: str = credentials.login
        self._witness = witness
        self._credentials = self._who = credentials
        self._timeouts = timeouts or Timeouts()
        self._logins = logins or Logins()
        self._connection: Any = None
        self._hidden: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        if known := self._logins.refusal(self.endpoint, self._credentials):
            raise known
        refusals: dict[str, FrontendError] = {}
        for who in self._logins.order(self.endpoint, self._credentials):
            try:
                self._open(who)
            except FrontendError as failure:
                if not failure.wrong_password:
                    raise
                refusals[who.login] = failure
                continue
            self.login = who.login
            self._logins.served(self.endpoint, self._credentials, who.login)
            return self
        refusal = refusals.get(Login.GIVEN) or next(iter(refusals.values()))  # what a person can put right
        self._logins.refused(self.endpoint, self._credentials, refusal)
        raise refusal

    def root_login(self) -> str:
        """How root is let in here, by a connection of its own; nobody else's name or password is tried."""
        wanted = [self._credentials.only(name) for name in (Login.GIVEN, Login.FORMER, Login.EMPTY)]
        known = [one for one in wanted if one is not None]
        if not known:
            return ""
        edition = self._credentials.edition and f"{self._credentials.edition} root"
        root = replace(known[0], others=tuple(known[1:]), edition=edition)
        try:
            with self._beside(root) as connection:
                return connection.login
        except FrontendError as failure:
            if failure.wrong_password:
                return Login.REFUSED
            raise

    def _beside(self, credentials: Credentials) -> FrontendConnection:
        return FrontendConnection(self.endpoint, credentials, timeouts=self._timeouts, logins=self._logins)

    def _open(self, who: Credentials) -> None:
        self._who = who
        where = f"{self.endpoint.pod} ({self.endpoint.address}:{self.endpoint.port})"
        try:
            opened = socket.create_connection(
                (self.endpoint.address, self.endpoint.port), timeout=self._timeouts.connect
            )
        except OSError as failure:
            raise FrontendError(Outcome.REFUSED, f"{where} cannot be reached: {_words(failure)}") from None
        try:
            tls = context_of(self._credentials.tls)
            self._connection = WireConnection(
                host=self.endpoint.host,
                user=who.user,
                password=who.password.encode(),  # as the mysql client sends it; pymysql would take latin1
                read_timeout=self._timeouts.answer,
                write_timeout=self._timeouts.answer,
                autocommit=None,  # membership is not transactional, and asking for it would cost a statement
                ssl=tls,
                ssl_disabled=tls is None,
                defer_connect=True,
            )
            self._connection.insist(required=self._credentials.tls.required)
            self._connection.connect(opened)
        except Exception as failure:
            opened.close()
            raise self._error(failure, sent=False) from None

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._connection is None:
            return
        # A polite goodbye could wait on a frontend that hangs; closing the socket is enough for FE.
        self._connection._force_close()
        self._connection = None

    @property
    def encrypted(self) -> bool:
        """Whether nobody in between can read along."""
        return bool(self._connection is not None and self._connection._secure)

    def ask(self, statement: str) -> tuple[Record, ...]:
        """One statement's rows, by column name."""
        return self._say(statement, shown=statement)

    def metrics(self, port: int) -> bytes:
        """What this frontend counts, in Prometheus' words; empty: that cannot be had."""
        try:
            return page(self.endpoint.address, port, _METRICS, longest=_LONGEST)
        except (OSError, ValueError):
            return b""

    def tell(self, statement: str, hidden: Mapping[str, str]) -> None:
        """Say a statement with something in place of its {names} that nobody else is told."""
        self._hidden = tuple(hidden.values())
        self._say(statement.format(**hidden), shown=statement)

    def _say(self, statement: str, *, shown: str) -> tuple[Record, ...]:
        if self._witness is not None:
            self._witness(self.endpoint.pod, shown)
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(statement)
                columns = [column[0] for column in cursor.description or ()]
                return records(columns, cursor.fetchall())
        except Exception as failure:
            raise self._error(failure, sent=True) from None

    def _error(self, failure: Exception, *, sent: bool) -> FrontendError:
        """What pymysql raised, in our words. Texts of FE are passed on; it never repeats a password."""
        if doubt := distrust(failure):
            return FrontendError(Outcome.UNTRUSTED, f"{self.endpoint.pod} is not trusted: {doubt}")
        code = failure.args[0] if failure.args and isinstance(failure.args[0], int) else 0
        said = self._clean(str(failure.args[1]) if code and len(failure.args) > 1 else str(failure))
        pod = self.endpoint.pod
        if code in _DENIED:
            wrong = code == _WRONG_PASSWORD and not sent
            return FrontendError(Outcome.DENIED, f"{pod} refused user {self._who.user}: {said}", wrong_password=wrong)
        if _timed_out(failure, said):
            return FrontendError(Outcome.HUNG, f"{pod} did not answer in time", lost=sent)
        if code in _LOST or isinstance(failure, OSError | pymysql.err.InterfaceError):
            outcome = Outcome.FAILED if sent else Outcome.REFUSED
            return FrontendError(outcome, f"{pod} broke the connection off: {said}", lost=sent)
        return FrontendError(Outcome.FAILED, said)

    def _clean(self, said: str) -> str:
        passwords = (one.password for one in (self._credentials, *self._credentials.others))
        for secret in filter(None, (*passwords, *self._hidden)):
            said = said.replace(secret, "***")
        return said[:500]


def _timed_out(failure: Exception, said: str) -> bool:
    return isinstance(failure, TimeoutError) or "timed out" in said


def _words(failure: OSError) -> str:
    if isinstance(failure, TimeoutError):
        return "no answer"
    return (failure.strerror or str(failure)).lower()
