"""/healthz (restart me if not), /readyz (am I at work?), and /metrics, which may have an address of its own.

Who may ask for the one need not be let to the other: a NetworkPolicy speaks of ports.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

Check = Callable[[], str]  # what is wrong; empty: nothing
Answer = Callable[[web.Request], Awaitable[web.Response]]
Address = tuple[str, int]  # host and port


class Probes:
    """A small HTTP server, or two."""

    def __init__(self, *, healthy: Check, ready: Check, refresh: Callable[[], None]) -> None:
        self._checks = {"/healthz": healthy, "/readyz": ready}
        self._refresh = refresh
        self._runners: list[web.AppRunner] = []

    async def start(self, probes: Address, metrics: Address) -> None:
        """Serve; at one address if both are the same."""
        answers: dict[Address, dict[str, Answer]] = {probes: dict.fromkeys(self._checks, self._probe)}
        answers.setdefault(metrics, {})["/metrics"] = self._metrics
        for (host, port), paths in answers.items():
            app = web.Application()
            for path, answer in paths.items():
                app.router.add_get(path, answer)
            runner = web.AppRunner(app, access_log=None)
            self._runners.append(runner)
            await runner.setup()
            await web.TCPSite(runner, host, port).start()

    async def stop(self) -> None:
        for runner in self._runners:
            await runner.cleanup()

    async def _probe(self, request: web.Request) -> web.Response:
        wrong = self._checks[request.path]()
        return web.Response(text=wrong or "ok", status=503 if wrong else 200)

    async def _metrics(self, request: web.Request) -> web.Response:
        del request
        self._refresh()
        return web.Response(body=generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})
