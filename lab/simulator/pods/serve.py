"""`world`: the simulator for real pods, until it is told to stop."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from lab.simulator.model import FixedSurroundings
from lab.simulator.pods.farewell import Farewells
from lab.simulator.pods.gateway import Gateway
from lab.simulator.server.clock import ScaledClock
from lab.simulator.server.control import served
from lab.simulator.server.process import allow_many_sockets, stop_signal, until
from lab.simulator.server.simulator import Simulator
from lab.simulator.server.statement_log import StatementLog
from lab.simulator.server.truth_log import TruthLog


@dataclass(frozen=True, kw_only=True)
class WorldOptions:
    """logs: the directory of the truth log and the statement log, which the control API shows, too."""

    logs: Path
    listen: str = "0.0.0.0:7000"
    control: str = "127.0.0.1:8999"
    subnet: str = "127.77"
    speed: float = 1.0
    version: str = "3.3.9"
    seed: int = 0


async def serve_world(options: WorldOptions) -> None:
    allow_many_sockets()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("aiohttp.access").setLevel(logging.WARNING)  # probes ask every few seconds
    stop = stop_signal()
    options.logs.mkdir(parents=True, exist_ok=True)
    truth, statements = options.logs / "truth.jsonl", options.logs / "statements.jsonl"
    surroundings = FixedSurroundings()
    simulator = Simulator(
        clock=ScaledClock(options.speed),
        surroundings=surroundings,
        log=StatementLog(statements),
        truth=TruthLog(truth),
        seed=options.seed,
    )
    farewells = Farewells(simulator.world, surroundings)
    gateway = Gateway(simulator, farewells, subnet=options.subnet, default_version=options.version)
    host, _, port = options.listen.rpartition(":")
    routes = [_log_route("truth", truth), _log_route("statements", statements), farewells.route()]
    async with served(simulator, options.control, routes) as control, gateway.serving(host, int(port)) as agents:
        print(f"The world runs at speed {options.speed:g}; agents: {agents}; control API: {control}", flush=True)
        await until(stop, simulator.run())


def _log_route(name: str, file: Path) -> web.RouteDef:
    """The whole file, or what a Range asks for."""

    async def show(_request: web.Request) -> web.StreamResponse:
        return web.FileResponse(file, headers={"Content-Type": "application/x-ndjson"})

    return web.get(f"/logs/{name}", show)
