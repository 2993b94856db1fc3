"""`serve`: the simulator beside a Kubernetes API, until it is told to stop."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kubernetes.aio import client

from lab.simulator.server.clock import ScaledClock
from lab.simulator.server.control import served
from lab.simulator.server.kubernetes import Mirror, connect
from lab.simulator.server.process import allow_many_sockets, stop_signal, until
from lab.simulator.server.simulator import Simulator
from lab.simulator.server.statement_log import StatementLog
from lab.simulator.server.truth_log import TruthLog


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    kubeconfig: Path
    namespace: str | None = None
    speed: float = 1.0
    version: str = "3.3.9"
    control: str = "127.0.0.1:0"
    statement_log: Path | None = None
    truth_log: Path | None = None
    readiness: bool = True
    seed: int = 0


async def serve(options: ServeOptions) -> None:
    allow_many_sockets()
    stop = stop_signal()
    api_client = await connect(options.kubeconfig)
    try:
        mirror = Mirror(client.CoreV1Api(api_client), options.namespace, options.version)
        mirror.write_back.enabled = options.readiness
        simulator = Simulator(
            clock=ScaledClock(options.speed),
            surroundings=mirror,
            log=StatementLog(options.statement_log),
            truth=TruthLog(options.truth_log),
            write_back=mirror.write_back,
            seed=options.seed,
        )
        mirror.simulator = simulator
        simulator.refresh = mirror.refresh
        async with served(simulator, options.control) as where:
            print(f"The simulator runs at speed {options.speed:g}; control API: {where}", flush=True)
            await until(stop, simulator.run(), mirror.run())
    finally:
        await api_client.close()
