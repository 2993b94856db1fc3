"""An API server having a bad day: a proxy that answers 409, 429 or 500 when told to, drops watches, or lays ambushes.

The operator is given the proxy's kubeconfig, with its own token in it; everything it does passes through here and goes
on to the real API server, so that only the failures are made up.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from aiohttp import ClientSession, ClientTimeout, TCPConnector, web

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer", "content-length", "host"}
TEXTS = {409: "Conflict", 429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable"}


@dataclass
class Fault:
    """Answers `status` to the next `times` requests whose "METHOD /path" matches."""

    pattern: re.Pattern[str]
    status: int
    times: int
    met: int = 0


@dataclass
class Ambush:
    """Does `act` at the number-th request whose "METHOD /path" matches; it says whether the request goes on.

    afterwards: the server has answered, and the answer is held; otherwise the request itself is.
    """

    pattern: re.Pattern[str]
    number: int
    afterwards: bool
    act: Callable[[], bool]
    request: str = ""
    met: threading.Event = field(default_factory=threading.Event)  # and `act` has ended
    failure: Exception | None = None

    def spring(self) -> bool:
        """In a thread: what is done may take its time."""
        try:
            return self.act()
        except Exception as failure:
            self.failure = failure
            return True
        finally:
            self.met.set()


class Interference:
    """A running proxy. `fail`, `ambush` and `drop_watches` may be called from any thread."""

    def __init__(self, kubeconfig: Path) -> None:
        self._kubeconfig = yaml.safe_load(kubeconfig.read_text())
        cluster = self._kubeconfig["clusters"][0]["cluster"]
        self._server = cluster["server"]
        self._tls = ssl.create_default_context(cafile=cluster["certificate-authority"])
        self.requests: list[str] = []  # every "METHOD /path" that came, in order
        self._faults: list[Fault] = []
        self._laid: Ambush | None = None
        self._watches: set[asyncio.Task[Any]] = set()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stopped: asyncio.Event | None = None
        self.port = 0

    def fail(self, pattern: str, *, status: int, times: int) -> Fault:
        """The next `times` requests like `pattern` (a regular expression on "METHOD /path") get `status`."""
        fault = Fault(re.compile(pattern), status, times)
        self._faults.append(fault)
        return fault

    def ambush(self, pattern: str, *, number: int, afterwards: bool, act: Callable[[], bool]) -> Ambush:
        """Lay an ambush at the number-th request from now like `pattern`; one that was laid before is gone."""
        self._laid = Ambush(re.compile(pattern), number, afterwards, act)
        return self._laid

    def lift(self) -> None:
        """No ambush any more."""
        self._laid = None

    def drop_watches(self) -> int:
        """Break every watch connection in the middle; returns how many there were."""
        watches = list(self._watches)
        for watch in watches:
            self._loop.call_soon_threadsafe(watch.cancel)
        return len(watches)

    def write_kubeconfig(self, path: Path) -> Path:
        """The same kubeconfig, but leading through here."""
        cluster = {"server": f"http://127.0.0.1:{self.port}"}
        clusters = [{**self._kubeconfig["clusters"][0], "cluster": cluster}]
        document = {**self._kubeconfig, "clusters": clusters}
        path.write_text(yaml.safe_dump(document))
        return path

    def _fault(self, request: web.Request) -> Fault | None:
        line = f"{request.method} {request.path}"
        for fault in self._faults:
            if fault.met < fault.times and fault.pattern.search(line):
                fault.met += 1
                return fault
        return None

    def _meet(self, line: str) -> Ambush | None:
        ambush = self._laid
        if ambush is None or not ambush.pattern.search(line):
            return None
        ambush.number -= 1
        if ambush.number > 0:
            return None
        self._laid, ambush.request = None, line
        return ambush

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        line = f"{request.method} {request.path}"
        self.requests.append(line)
        if fault := self._fault(request):
            headers = {"Retry-After": "1"} if fault.status == 429 else {}
            body = {
                "kind": "Status",
                "apiVersion": "v1",
                "status": "Failure",
                "code": fault.status,
                "reason": TEXTS[fault.status],
                "message": "the lab's API server has a bad day",
            }
            return web.json_response(body, status=fault.status, headers=headers)
        if request.query.get("watch") in ("true", "1"):
            task = asyncio.current_task()
            assert task is not None
            self._watches.add(task)
            task.add_done_callback(self._watches.discard)
        ambush = self._meet(line)
        if ambush is not None and not ambush.afterwards:
            if not await self._loop.run_in_executor(None, ambush.spring):
                return _broken_off(request)
            ambush = None
        return await self._forward(request, ambush)

    async def _forward(self, request: web.Request, ambush: Ambush | None) -> web.StreamResponse:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP_BY_HOP}
        async with self._session.request(
            request.method, self._server + request.path_qs, headers=headers, data=await request.read() or None
        ) as answer:
            if ambush is not None and not await self._loop.run_in_executor(None, ambush.spring):
                return _broken_off(request)
            response = web.StreamResponse(status=answer.status)
            for name, value in answer.headers.items():
                if name.lower() not in HOP_BY_HOP | {"content-encoding"}:
                    response.headers.add(name, value)
            await response.prepare(request)
            async for chunk in answer.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
            return response

    async def _serve(self) -> None:
        self._stopped = asyncio.Event()
        connector = TCPConnector(ssl=self._tls, limit=0)
        async with ClientSession(connector=connector, timeout=ClientTimeout(total=None)) as self._session:
            application = web.Application(client_max_size=2**24)
            application.router.add_route("*", "/{path:.*}", self._handle)
            runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=1)
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            self.port = runner.addresses[0][1]
            self._ready.set()
            await self._stopped.wait()
            await runner.cleanup()

    def start(self) -> None:
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),), daemon=True)
        self._thread.start()
        self._ready.wait(10)

    def stop(self) -> None:
        if self._stopped is not None:
            self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(10)
        if not self._thread.is_alive():
            self._loop.close()


def _broken_off(request: web.Request) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=502)


@contextmanager
def interference(kubeconfig: Path) -> Iterator[Interference]:
    """A proxy for the length of a `with` block."""
    proxy = Interference(kubeconfig)
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.stop()
