"""TLS from the operator to a frontend that really speaks it: every mode against every kind of frontend."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from lab.certificates import Authority
from lab.simulator.server.keystore import pem_of
from starrocks_operator.frontend.connection import FrontendConnection, FrontendError, Timeouts
from starrocks_operator.frontend.endpoints import Credentials, Endpoint
from starrocks_operator.frontend.tls import Tls, TlsMode
from starrocks_operator.observed import Outcome
from tests.unit.frontend_stage import FrontendStage

OURS, THEIRS = Authority.make("ours"), Authority.make("theirs")
HOST = "sample-fe-0.sample-fe-search.default.svc.cluster.local"
WELL, ENCRYPTED, PLAIN = "*.sample-fe-search.default.svc.cluster.local", "encrypted", "plain"
FORCED = {"ssl_force_secure_transport": "true"}


def certificate(authority: Authority, host: str) -> str:
    return pem_of(authority.keystore([host], "changeit"), "changeit")


# what the frontend is, by mode: what becomes of it
TABLE = {
    "no TLS": (PLAIN, PLAIN, "offers no TLS", "offers no TLS", "offers no TLS"),
    "ours": (PLAIN, ENCRYPTED, ENCRYPTED, ENCRYPTED, ENCRYPTED),
    "ours, another name": (PLAIN, ENCRYPTED, ENCRYPTED, ENCRYPTED, "certificate does not pass"),
    "theirs": (PLAIN, ENCRYPTED, ENCRYPTED, "certificate does not pass", "certificate does not pass"),
    "ours, forced": ("demands TLS", ENCRYPTED, ENCRYPTED, ENCRYPTED, ENCRYPTED),
}
FRONTENDS = {
    "no TLS": {},
    "ours": {"certificate": certificate(OURS, WELL)},
    "ours, another name": {"certificate": certificate(OURS, "elsewhere.example")},
    "theirs": {"certificate": certificate(THEIRS, HOST)},
    "ours, forced": {"certificate": certificate(OURS, HOST), "conf": FORCED},
}


@pytest.fixture(params=list(FRONTENDS))
def frontend(request: pytest.FixtureRequest) -> Iterator[tuple[str, FrontendStage]]:
    stage = FrontendStage()
    try:
        stage.start("fe", 0, **FRONTENDS[request.param])
        anyhow = Credentials(tls=Tls(mode=TlsMode.PREFERRED))
        stage.look_until(lambda view: view.leader, 0, credentials=anyhow)
        yield request.param, stage
    finally:
        stage.close()


def test_each_mode(frontend: tuple[str, FrontendStage]) -> None:
    kind, stage = frontend
    for mode, wanted in zip(TlsMode, TABLE[kind], strict=True):
        who = Credentials(tls=Tls(mode=mode, ca=OURS.pem if mode.startswith("VERIFY") else ""))
        try:
            with FrontendConnection(stage.endpoint(0), who) as connection:
                connection.ask("SHOW FRONTENDS")
                found = ENCRYPTED if connection.encrypted else PLAIN
        except FrontendError as failure:
            found = str(failure) if failure.outcome == Outcome.UNTRUSTED else repr(failure)
        assert wanted in found, mode


def test_a_ca_that_is_none_is_said(frontend: tuple[str, FrontendStage]) -> None:
    who = Credentials(tls=Tls(mode=TlsMode.VERIFY_CA, ca="-----BEGIN CERTIFICATE-----\nnothing"))
    with pytest.raises(FrontendError) as caught, FrontendConnection(frontend[1].endpoint(0), who):
        pass
    assert caught.value.outcome in (Outcome.UNTRUSTED, Outcome.FAILED)


class Impostor:
    """Somebody in between: greets as a server does, and keeps what it is sent."""

    def __init__(self, *, offers_tls: bool, asks_again: bytes = b"") -> None:
        self.heard = b""
        self._asks_again = asks_again
        capabilities = 0x000FF7FF | (0x800 if offers_tls else 0)
        capabilities = (capabilities | 0x00080000) & (0xFFFFFFFF if offers_tls else ~0x800)
        self._greeting = b"".join(
            [
                b"\x0a8.0.33\x00",
                struct.pack("<I", 1),
                b"12345678\x00",
                struct.pack("<H", capabilities & 0xFFFF),
                b"\x2d\x02\x00",
                struct.pack("<H", capabilities >> 16),
                b"\x15" + b"\x00" * 10,
                b"901234567890\x00",
                b"mysql_native_password\x00",
            ]
        )
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        peer, _ = self._socket.accept()
        with peer:
            peer.settimeout(2)
            peer.sendall(_packet(0, self._greeting))
            try:
                self.heard += peer.recv(4096)
                if self._asks_again and self.heard:
                    peer.sendall(_packet(2, b"\xfe" + self._asks_again + b"\x00" + b"12345678901234567890\x00"))
                    self.heard += peer.recv(4096)
            except OSError:
                return

    def heard_all(self) -> bytes:
        self._thread.join(5)
        self._socket.close()
        return self.heard


def _packet(number: int, content: bytes) -> bytes:
    return struct.pack("<I", len(content))[:3] + bytes([number]) + content


@pytest.mark.parametrize("mode", [TlsMode.REQUIRED, TlsMode.VERIFY_CA, TlsMode.VERIFY_IDENTITY])
def test_whoever_takes_the_offer_of_tls_away_hears_nothing(mode: TlsMode) -> None:
    impostor = Impostor(offers_tls=False)
    refuse(impostor, Tls(mode=mode, ca=OURS.pem))
    assert impostor.heard_all() == b""


@pytest.mark.parametrize("plugin", [b"mysql_clear_password", b"sha256_password", b"dialog", b"mysql_old_password"])
def test_nobody_gets_the_password_by_asking_for_it_in_another_way(plugin: bytes) -> None:
    """PREFERRED without an offer of TLS: the scramble is all that goes over the wire."""
    impostor = Impostor(offers_tls=False, asks_again=plugin)
    refuse(impostor, Tls(mode=TlsMode.PREFERRED))
    heard = impostor.heard_all()
    assert b"root" in heard
    assert b"s3cret-password" not in heard


def refuse(impostor: Impostor, tls: Tls) -> None:
    place = Endpoint(pod="sample-fe-0", host=HOST, address="127.0.0.1", port=impostor.port)
    who = Credentials(password="s3cret-password", tls=tls)
    with pytest.raises(FrontendError) as caught, FrontendConnection(place, who, timeouts=Timeouts(answer=2.0)):
        pass
    assert caught.value.outcome == Outcome.UNTRUSTED
