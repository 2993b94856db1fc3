"""pymysql's connection, made stricter: no superfluous statement, no password in the open, no TLS taken away."""

from __future__ import annotations

from typing import Any

from pymysql.connections import Connection
from pymysql.constants import CLIENT
from pymysql.err import OperationalError

NOT_TRUSTED = 2026
"""The MySQL clients' own number for a TLS connection that was wanted and could not be had."""


class WireConnection(Connection):
    """One connection; `insist` before `connect`."""

    _insists = False

    def insist(self, *, required: bool) -> None:
        """Whether a server that offers no TLS is not spoken to; pymysql's own ideas differ from release to release."""
        wire: Any = self
        self._insists = wire._ssl_required = required
        if not required:
            wire.client_flag &= ~CLIENT.SSL  # it says so itself where the server offers it

    def set_character_set(self, charset: str, collation: str | None = None) -> None:
        """Not the SET NAMES that pymysql sends after every login: the handshake has already said utf8mb4."""
        del charset, collation

    def _request_authentication(self) -> None:
        wire: Any = self
        if self._insists and not wire.server_capabilities & CLIENT.SSL:
            raise OperationalError(NOT_TRUSTED, "it offers no TLS, and TLS is required")
        super()._request_authentication()  # type: ignore[misc]

    def _process_auth(self, plugin_name: bytes, auth_packet: Any, handler: Any = None) -> Any:
        """Whoever answers may ask for the password itself; without TLS it gets a scramble or nothing."""
        wire: Any = self
        if plugin_name != b"mysql_native_password" and not wire._secure:
            said = f"it asks for the password by {plugin_name.decode(errors='replace')!r} without TLS"
            raise OperationalError(NOT_TRUSTED, said)
        return super()._process_auth(plugin_name, auth_packet, handler)  # type: ignore[misc]
