"""The MySQL side of one frontend: a listening socket on the pod's address while its process serves."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from functools import lru_cache
from typing import Any, Protocol

from mysql_mimic import MysqlServer, ResultColumn, ResultSet
from mysql_mimic.auth import AuthInfo, Forbidden, IdentityProvider, NativePasswordAuthPlugin, Success, User
from mysql_mimic.errors import SQLSTATES, MysqlError
from mysql_mimic.session import Session as MimicSession
from mysql_mimic.stream import ConnectionClosed
from mysql_mimic.types import ColumnType
from mysql_mimic.utils import nonce as make_nonce
from mysql_mimic.variables import GlobalVariables, SessionVariables

from lab.simulator.model import ConnectionLost, Hang, Outcome, Refused, Rows, Session
from lab.simulator.server.halts import Halt
from lab.simulator.server.keystore import READER, server_context

logging.getLogger("mysql_mimic").setLevel(logging.CRITICAL)
SQLSTATES.update({5203: b"42000", 5901: b"42000", 5101: b"F0000", 5102: b"F0000"})
_HALTED_PAUSE = 0.02  # real seconds
_NO_SUCH_PASSWORD = "00" * 20


class Asked(Protocol):
    """What a listener needs of the simulator, for the frontend it stands for."""

    def execute(self, sql: str, session: Session) -> Outcome: ...
    def auth_string(self, user: str) -> str | None: ...
    def login(self, user: str, *, accepted: bool) -> None: ...
    def hung(self) -> bool: ...
    def halt(self, sql: str) -> Halt | None: ...
    def plain_refused(self) -> bool: ...
    def certificate(self) -> str: ...
    async def pause(self, virtual_seconds: float) -> None: ...


class _Passwords(NativePasswordAuthPlugin):  # type: ignore[misc]
    def __init__(self, asked: Asked) -> None:
        super().__init__()
        self._asked = asked

    async def auth(self, auth_info: AuthInfo | None = None) -> AsyncIterator[Any]:
        if auth_info and auth_info.handshake_plugin_name == self.name and auth_info.handshake_auth_data:
            nonce = auth_info.handshake_auth_data.rstrip(b"\x00")
        else:
            nonce = make_nonce(20)
            auth_info = yield nonce + b"\x00"
        assert auth_info is not None
        user, used = auth_info.user, "YES" if auth_info.data else "NO"
        matches = self.password_matches(user=user, scramble=auth_info.data, nonce=nonce)
        self._asked.login(user.name, accepted=matches)
        if matches:
            yield Success(user.name)
        else:
            yield Forbidden(f"Access denied for user '{user.name}' (using password: {used})")


class _Accounts(IdentityProvider):  # type: ignore[misc]
    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._plugins = [_Passwords(asked)]

    def get_plugins(self) -> list[_Passwords]:
        return self._plugins

    async def get_user(self, username: str) -> User:
        known = self._asked.auth_string(username)
        return User(
            name=username, auth_string=_NO_SUCH_PASSWORD if known is None else known, auth_plugin=_Passwords.name
        )


@lru_cache(maxsize=64)
def _columns(names: tuple[str, ...]) -> list[ResultColumn]:
    return [ResultColumn(name, ColumnType.VARCHAR) for name in names]


class _ClientSession(MimicSession):  # type: ignore[misc]
    """Takes the raw text of each statement: the library's own parser does not know FE's statements."""

    def __init__(self, asked: Asked) -> None:
        variables = SessionVariables(GlobalVariables())
        variables.set("version", "8.0.33", force=True)
        super().__init__(variables)
        self._asked = asked
        self._state: Session | None = None

    async def handle_query(self, sql: str, attrs: dict[str, str]) -> ResultSet | None:  # noqa: ARG002
        if self.username is None:  # refused at login; the library would listen on
            self._abort()
            return None
        if self._asked.plain_refused() and self.connection.stream.writer.get_extra_info("ssl_object") is None:
            raise MysqlError("Connections using insecure transport are prohibited", 5205)
        if self._state is None:
            self._state = Session(user=self.username)
        halt = self._asked.halt(sql)
        if halt is not None and not halt.afterwards and not await self._released(halt):
            return None
        outcome = self._asked.execute(sql, self._state)
        while isinstance(outcome, Hang):
            await self._asked.pause(1.0)
            if self.connection.stream.reader.at_eof():
                self._abort()
                return None
            outcome = self._asked.execute(sql, self._state)
        if halt is not None and halt.afterwards and not await self._released(halt):
            return None
        if isinstance(outcome, ConnectionLost):
            await self._asked.pause(outcome.after)
            self._abort()
            return None
        if isinstance(outcome, Refused):
            raise MysqlError(outcome.text, outcome.code)
        return ResultSet(outcome.rows, _columns(outcome.columns)) if isinstance(outcome, Rows) else None

    async def _released(self, halt: Halt) -> bool:
        """Wait; whether the one who asked is still there."""
        while not halt.released and not self.connection.stream.reader.at_eof():
            await asyncio.sleep(_HALTED_PAUSE)
        if self.connection.stream.reader.at_eof():
            self._abort()
            return False
        return True

    def _abort(self) -> None:
        self.connection.stream.writer.transport.abort()
        raise ConnectionAbortedError


class MysqlListener:
    """Open: answers. Closed: connects are refused and every connection is broken."""

    def __init__(self, asked: Asked, address: str, port: int) -> None:
        self._asked = asked
        self._where = (address, port)
        self._mimic = MysqlServer(
            session_factory=self._session,
            identity_provider=_Accounts(asked),
            ssl=server_context(asked.certificate()),
        )
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    async def _session(self) -> _ClientSession:
        while self._asked.hung():  # accepted by the kernel, never greeted
            await self._asked.pause(1.0)
        return _ClientSession(self._asked)

    async def open(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, *self._where)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        READER.set(reader)
        try:
            with contextlib.suppress(ConnectionError, ConnectionClosed, asyncio.IncompleteReadError):
                await self._mimic._client_connected_cb(reader, writer)
        except asyncio.CancelledError:  # the simulator stops; asyncio's streams would complain about it
            pass
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in list(self._writers):
            writer.transport.abort()
