"""What a frontend's TLS is made of: its PKCS12 keystore as PEM, and a server's context of that."""

from __future__ import annotations

import asyncio
import ssl
import tempfile
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, pkcs12

READER: ContextVar[asyncio.StreamReader] = ContextVar("READER")
"""Of the connection that is being served."""


class _ServerContext(ssl.SSLContext):
    """Does not lose what arrived too early.

    A client begins its handshake right behind the request for TLS; what came with that is in the reader's buffer by
    then, where asyncio's TLS would never look for it.
    """

    def wrap_bio(self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, *more: Any, **options: Any) -> ssl.SSLObject:
        buffer: bytearray = READER.get()._buffer  # type: ignore[attr-defined]
        incoming.write(bytes(buffer))
        buffer.clear()
        return super().wrap_bio(incoming, outgoing, *more, **options)


def pem_of(keystore: bytes, password: str) -> str:
    """Key and certificates of a PKCS12 keystore; empty if it cannot be opened: FE then offers no TLS."""
    try:
        key, certificate, more = pkcs12.load_key_and_certificates(keystore, password.encode())
    except ValueError:
        return ""
    if key is None or certificate is None:
        return ""
    parts = [key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())]
    parts += [one.public_bytes(Encoding.PEM) for one in (certificate, *more)]
    return b"".join(parts).decode()


@lru_cache(maxsize=64)
def server_context(pem: str) -> ssl.SSLContext | None:
    """What a listener speaks TLS with; None: it does not."""
    if not pem:
        return None
    context = _ServerContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile("w") as file:  # mode 0600, as the ssl module reads nothing but files
        Path(file.name).chmod(0o600)
        file.write(pem)
        file.flush()
        context.load_cert_chain(file.name)
    return context
