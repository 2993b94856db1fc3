"""What travels between an agent and the world: JSON lines first, and on connections of clients plain bytes after one.

Stdlib only: agents run in images that have nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from typing import Any

LINE_LIMIT = 1 << 20  # bytes; a conf file and a keystore fit
_CHUNK = 1 << 16
_KEEPALIVE = ((socket.TCP_KEEPIDLE, 10), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 3))

Message = dict[str, Any]


async def receive(reader: asyncio.StreamReader) -> Message | None:
    """The next message; None: the other side is gone."""
    try:
        line = await reader.readline()
    except (ConnectionError, ValueError):
        return None
    if not line.endswith(b"\n"):
        return None
    found: Message = json.loads(line)
    return found


def send(writer: asyncio.StreamWriter, message: Message) -> None:
    writer.write(json.dumps(message).encode() + b"\n")


def keep_alive(writer: asyncio.StreamWriter) -> None:
    """A machine that vanishes says no goodbye."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _KEEPALIVE:
        sock.setsockopt(socket.IPPROTO_TCP, option, value)


async def splice(
    one: tuple[asyncio.StreamReader, asyncio.StreamWriter], other: tuple[asyncio.StreamReader, asyncio.StreamWriter]
) -> None:
    """Pass bytes both ways until either side ends; then both do."""
    ways = [asyncio.ensure_future(_pass(one[0], other[1])), asyncio.ensure_future(_pass(other[0], one[1]))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        for writer in (one[1], other[1]):
            writer.close()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
