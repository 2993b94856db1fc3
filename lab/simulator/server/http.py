"""The HTTP side of every process: one handler behind many sockets, told apart by the address that was called."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from lab.simulator.model.container import Container
from lab.simulator.model.facts import Component
from lab.simulator.model.metrics import frontend_metrics
from lab.simulator.model.process import FrontendProcess
from lab.simulator.model.version import full_version
from lab.simulator.model.world import World

Find = Callable[[str], Container | None]  # by the address of the pod


def handler(
    world: World, find: Find, pause: Callable[[float], Awaitable[None]]
) -> Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        transport = request.transport
        address = transport.get_extra_info("sockname")[0] if transport is not None else ""
        container = find(address)
        while container is not None and container.faults.hang:
            await pause(1.0)
        if container is None or container.process is None:
            if transport is not None:
                transport.abort()
            raise asyncio.CancelledError
        return _answer(world, container, request)

    return handle


def _answer(world: World, container: Container, request: web.BaseRequest) -> web.StreamResponse:
    process = container.process
    if request.path == "/api/health":
        if isinstance(process, FrontendProcess):
            return _frontend_health(process)
        return web.json_response({"status": "OK", "msg": "To Be Added"})
    if request.path == "/api/bootstrap" and isinstance(process, FrontendProcess):
        return web.json_response(_bootstrap(world, process, with_token="token" in request.query))
    if request.path == "/metrics" and isinstance(process, FrontendProcess):
        return web.Response(text=frontend_metrics(process))
    if request.path == "/api/v2/feature" and isinstance(process, FrontendProcess):
        supported = world.options.features(process.facts.version).multi_warehouse
        listed = [{"name": "multi-warehouse", "description": "", "link": ""}] if supported else []
        return web.json_response({"features": listed, "version": full_version(process.facts.version), "status": "OK"})
    return web.json_response({"status": "FAILED", "msg": "not found"}, status=404)


def _frontend_health(process: FrontendProcess) -> web.StreamResponse:
    """Backends only, and no word about leader or quorum."""
    if process.leaving or process.database is None:
        return web.json_response({"status": "FAILED"}, status=500)
    backends = process.database.view(process).of_kind(Component.BE)
    alive = sum(1 for row in backends if row.alive)
    return web.json_response({"online_backend_num": alive, "total_backend_num": len(backends), "status": "OK"})


def _bootstrap(world: World, process: FrontendProcess, *, with_token: bool) -> dict[str, Any]:
    since = process.leaderless_since
    if since is not None and world.now - since > world.timing.stale_reads:
        return {"status": "FAILED", "msg": "not ready"}
    known = with_token and process.database is not None
    database = process.database
    return {
        "replayedJournalId": database.journal_id(database.seen_at(process)) if known and database is not None else 0,
        "queryPort": process.facts.port("query_port") if known else 0,
        "rpcPort": process.facts.port("rpc_port") if known else 0,
        "feStartTime": int(world.wall(process.started) * 1000) if known else 0,
        "feVersion": full_version(process.facts.version) if known else "",
        "status": "OK",
        "msg": "Success",
    }
