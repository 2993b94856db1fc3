"""/healthz (restart me if not), /readyz (am I at work?), /metrics."""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

Check = Callable[[], str]  # what is wrong; empty: nothing


class Probes:
    """A small HTTP server."""

    def __init__(self, *, healthy: Check, ready: Check, refresh: Callable[[], None]) -> None:
        self._checks = {"/healthz": healthy, "/readyz": ready}
        self._refresh = refresh
        self._runner: web.AppRunner | None = None

    async def start(self, host: str, port: int) -> None:
        app = web.Application()
        app.router.add_get("/healthz", self._probe)
        app.router.add_get("/readyz", self._probe)
        app.router.add_get("/metrics", self._metrics)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port).start()

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _probe(self, request: web.Request) -> web.Response:
        wrong = self._checks[request.path]()
        return web.Response(text=wrong or "ok", status=503 if wrong else 200)

    async def _metrics(self, request: web.Request) -> web.Response:
        del request
        self._refresh()
        return web.Response(body=generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})
