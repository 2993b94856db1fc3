"""The watcher's end of its worker processes."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping

from watcher.family import bury
from watcher.play import Ending, HostRecord, Play
from watcher.settings import ROOT

LINE = 64 * 1024 * 1024  # the longest answer: one host's objects


class Worker:
    """One process that runs plays, one at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pid: int) -> None:
        self._reader, self._writer, self._pid = reader, writer, pid

    async def play(self, play: Play, tell: Callable[[str, HostRecord], None]) -> Ending:
        """Run it; `tell` is called for each host that finishes. EOFError: the process has died."""
        self._writer.write(json.dumps(dataclasses.asdict(play)).encode() + b"\n")
        await self._writer.drain()
        while line := await self._reader.readline():
            answer = json.loads(line)
            if "ending" in answer:
                return Ending(**answer["ending"])
            tell(answer["host"], HostRecord(**answer["record"]))
        raise EOFError

    def dismiss(self) -> None:
        """It ends when it has nothing more to read."""
        self._writer.close()

    def kill(self) -> None:
        """Ask it to end with everything below it; it does so on SIGTERM."""
        self._writer.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGTERM)


class Nursery:
    """The warm parent that workers are forked from; begun anew if it is lost."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = {**os.environ, **environment}
        self._control: socket.socket | None = None
        self._parent: asyncio.subprocess.Process | None = None

    async def worker(self) -> Worker:
        """A new worker, ready to play."""
        if self._parent is None or self._parent.returncode is not None:
            await self._begin()
        assert self._control is not None
        assert self._parent is not None
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                socket.send_fds(self._control, [b"1"], [theirs.fileno()])
        except BrokenPipeError:  # the parent died a moment ago
            ours.close()
            await self._parent.wait()
            return await self.worker()
        reader, writer = await asyncio.open_connection(sock=ours, limit=LINE)
        if not (hello := await reader.readline()):
            raise EOFError
        return Worker(reader, writer, json.loads(hello)["pid"])

    async def close(self) -> None:
        """The parent ends when its control socket is closed."""
        if self._control is not None:
            self._control.close()
        if self._parent is not None:
            await self._parent.wait()

    async def _begin(self) -> None:
        if self._control is not None:
            self._control.close()
        bury()  # the workers of a parent that died: they came to us, and have ended
        self._control, theirs = socket.socketpair()
        with theirs:
            descriptor = theirs.fileno()
            self._parent = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "watcher.worker", str(descriptor)),
                pass_fds=(descriptor,),
                stdin=asyncio.subprocess.DEVNULL,
                cwd=ROOT,
                env=self._environment,
            )
