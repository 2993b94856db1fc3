"""The control API: HTTP and JSON, on loopback or a unix socket. It lays faults, makes tables, and tells what it saw."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from aiohttp import web

from lab.simulator.model import ConnectionLost, Done, Hang, Refused, Rows, Session
from lab.simulator.model.database import Database
from lab.simulator.model.faults import FAULTS, lay
from lab.simulator.model.outcome import SqlError
from lab.simulator.server.simulator import Simulator
from lab.simulator.server.state import world_state

_CLASSES = {Done: "ok", Hang: "hang", ConnectionLost: "lost"}


def application(simulator: Simulator, more: Sequence[web.RouteDef] = ()) -> web.Application:
    routes = _Routes(simulator)
    app = web.Application(middlewares=[_said_in_words])
    app.add_routes(
        [
            web.get("/state", routes.state),
            web.get("/violations", routes.marks("violations")),
            web.get("/losses", routes.marks("losses")),
            web.get("/faults", routes.faults),
            web.get("/counts", routes.counts),
            web.post("/clock", routes.clock),
            web.post("/clock/speed", routes.clock),
            web.post("/nodes/{pod}/{fault}", routes.lay),
            web.post("/nodes/{namespace}/{pod}/{fault}", routes.lay),
            web.post("/tables", routes.create_table),
            web.delete("/tables", routes.drop_table),
            web.post("/tables/load", routes.load),
            web.post("/backups", routes.begin_job),
            web.delete("/backups", routes.end_job),
            web.post("/recycle-bin/empty", routes.empty_recycle_bin),
            web.post("/sql", routes.sql),
            web.post("/halt", routes.lay_halt),
            web.get("/halt", routes.halted),
            web.delete("/halt", routes.release),
            *more,
        ]
    )
    return app


@contextlib.asynccontextmanager
async def served(simulator: Simulator, where: str, more: Sequence[web.RouteDef] = ()) -> AsyncIterator[str]:
    """Serve on `HOST:PORT` (port 0: any) or on the path of a unix socket; gives the place where it listens."""
    runner = web.AppRunner(application(simulator, more), access_log=None)
    await runner.setup()
    try:
        host, colon, port = where.rpartition(":")
        if colon and port.isdigit():
            await web.TCPSite(runner, host or "127.0.0.1", int(port)).start()
            address = runner.addresses[0]
            yield f"{address[0]}:{address[1]}"
        else:
            Path(where).unlink(missing_ok=True)
            await web.UnixSite(runner, where).start()
            yield where
    finally:
        await runner.cleanup()


@web.middleware
async def _said_in_words(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    try:
        return await handler(request)
    except LookupError as error:
        return web.json_response({"error": str(error.args[0])}, status=404)
    except (SqlError, ValueError, TypeError) as error:
        return web.json_response({"error": str(error)}, status=400)


class _Routes:
    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator

    async def state(self, _request: web.Request) -> web.Response:
        self._simulator.advance()
        return web.json_response({"speed": self._simulator.clock.speed, **world_state(self._simulator.world)})

    def marks(self, name: str) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def show(_request: web.Request) -> web.Response:
            self._simulator.advance()
            return web.json_response([mark.as_dict() for mark in getattr(self._simulator.world, name)])

        return show

    async def faults(self, _request: web.Request) -> web.Response:
        return web.json_response({name: [fault.meaning, fault.parameters] for name, fault in FAULTS.items()})

    async def counts(self, _request: web.Request) -> web.Response:
        return web.json_response(self._simulator.log.counts)

    async def clock(self, request: web.Request) -> web.Response:
        self._simulator.set_speed(float((await _body(request))["speed"]))
        return web.json_response({"speed": self._simulator.clock.speed})

    async def lay(self, request: web.Request) -> web.Response:
        namespace = request.match_info.get("namespace") or request.query.get("namespace")
        key = self._pod(request.match_info["pod"], namespace)
        self._simulator.advance()
        lay(self._simulator.world, key, request.match_info["fault"], await _body(request))
        self._simulator.wake()
        return web.json_response({"pod": key, "fault": request.match_info["fault"]})

    async def create_table(self, request: web.Request) -> web.Response:
        body = await _body(request)
        table = self._database(body).tablets.create_table(
            str(body.get("db", "db")),
            str(body["name"]),
            replication=int(body.get("replication", 3)),
            tablets=int(body.get("tablets", 1)),
            tablet_gb=float(body.get("tablet_gb", 1.0)),
            written=bool(body.get("written", False)),
        )
        self._simulator.wake()
        return web.json_response({"table": table.full_name})

    async def drop_table(self, request: web.Request) -> web.Response:
        body = await _body(request)
        self._database(body).tablets.drop_table(str(body.get("db", "db")), str(body["name"]))
        return web.json_response({})

    async def load(self, request: web.Request) -> web.Response:
        """One load into a table: a backend that is away misses it."""
        body = await _body(request)
        tablets = self._database(body).tablets
        tablets.loads.load(tablets.table(str(body.get("db", "db")), str(body["name"])))
        self._simulator.wake()
        return web.json_response({})

    async def begin_job(self, request: web.Request) -> web.Response:
        """A backup or a restore runs until it is ended here."""
        body = await _body(request)
        backups = self._database(body).backups
        backups.begin(str(body.get("db", "db")), str(body.get("name", "snapshot")), str(body.get("kind", "backup")))
        return web.json_response({})

    async def end_job(self, request: web.Request) -> web.Response:
        body = await _body(request)
        self._database(body).backups.end(str(body.get("db", "db")), str(body.get("state", "FINISHED")))
        return web.json_response({})

    async def empty_recycle_bin(self, request: web.Request) -> web.Response:
        self._database(await _body(request)).tablets.empty_recycle_bin()
        self._simulator.wake()
        return web.json_response({})

    async def sql(self, request: web.Request) -> web.Response:
        """A statement as root without a password, for people who play; it is logged as coming from `control`."""
        body = await _body(request)
        self._simulator.advance()
        session = Session(source="control")
        outcome = self._simulator.world.execute(self._pod(body["pod"], body.get("namespace")), body["sql"], session)
        self._simulator.wake()
        if isinstance(outcome, Rows):
            return web.json_response({"rows": outcome.as_dicts()})
        if isinstance(outcome, Refused):
            return web.json_response({"error": outcome.text, "code": outcome.code}, status=400)
        return web.json_response({"result": _CLASSES[type(outcome)]})

    async def lay_halt(self, request: web.Request) -> web.Response:
        body = await _body(request)
        self._simulator.halts.lay(
            pattern=str(body["pattern"]),
            number=int(body.get("number", 1)),
            afterwards=bool(body.get("afterwards", False)),
            namespace=str(body["namespace"]),
        )
        return web.json_response({})

    async def halted(self, _request: web.Request) -> web.Response:
        return web.json_response({"statement": self._simulator.halts.statement})

    async def release(self, _request: web.Request) -> web.Response:
        self._simulator.halts.release()
        return web.json_response({})

    # -- names -------------------------------------------------------------------------------------------------

    def _pod(self, name: str, namespace: str | None) -> str:
        found = [
            key
            for key, container in self._simulator.world.pods.items()
            if container.facts.name == name and namespace in (None, container.facts.namespace)
        ]
        if len(found) > 1:
            raise LookupError(f"There are several pods {name}: name the namespace, one of {', '.join(sorted(found))}.")
        if not found:
            raise LookupError(f"There is no pod {name}{' in namespace ' + namespace if namespace else ''}.")
        return found[0]

    def _database(self, body: dict[str, Any]) -> Database:
        self._simulator.advance()
        cluster, namespace = body.get("cluster"), body.get("namespace")
        if not cluster:
            raise ValueError("The body must name the cluster.")
        found = [
            database
            for database in self._simulator.world.databases.values()
            if database.cluster[1] == cluster
            and namespace in (None, database.cluster[0])
            and database.leader is not None
        ]
        if len(found) != 1:
            raise LookupError(f"There are {len(found)} clusters {cluster} with a leader, and one is needed.")
        return found[0]


async def _body(request: web.Request) -> dict[str, Any]:
    body = await request.json() if request.can_read_body else {}
    if not isinstance(body, dict):
        raise ValueError("The body must be a JSON object.")
    return body
