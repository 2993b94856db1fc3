"""Real scripts, real agents and a real world, with loopback addresses for pods: no containers, and no Kubernetes.

DNS is a file of names; `hostname`, `getent` and `mysql` are programs that go by it.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from pathlib import Path

from lab.simulator.model import FixedSurroundings
from lab.simulator.pods.farewell import Farewells
from lab.simulator.pods.gateway import Gateway
from lab.simulator.server.clock import ScaledClock
from lab.simulator.server.simulator import Simulator

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "images" / "simulator"
NAMESPACE = "db"

_PROGRAMS = {
    "hostname": '#!/bin/bash\necho "$FAKE_SELF"\n',
    "getent": '#!/bin/bash\ngrep "^$2 " "$FAKE_NAMES" | cut -d " " -f 2 | sed "s/$/ STREAM/"\n',
    # The client of the images, as far as the scripts use it.
    "mysql": f"""#!{sys.executable}
import os, sys
import pymysql
given = dict(argument[2:].split("=", 1) for argument in sys.argv[1:] if "=" in argument)
names = dict(line.split() for line in open(os.environ["FAKE_NAMES"]))
try:
    connection = pymysql.connect(host=names.get(given["host"], given["host"]), port=int(given["port"]),
        user=given["user"], password=os.environ.get("MYSQL_PWD", ""), connect_timeout=5)
    with connection.cursor() as cursor:
        cursor.execute(given["execute"])
        rows = cursor.fetchall()
        if cursor.description:
            print("\\t".join(column[0] for column in cursor.description))
        for row in rows:
            print("\\t".join("NULL" if cell is None else str(cell) for cell in row))
except pymysql.Error as error:
    sys.exit("ERROR %s (HY000): %s" % (error.args[0], error.args[1:]))
""",
}


class Pod:
    """One pod with its files; `volume` outlives its containers."""

    def __init__(self, machine: Machine, name: str, address: str) -> None:
        stem, _, _ = name.rpartition("-")
        self.name, self.address, self.component = name, address, stem.rpartition("-")[2]
        self.host = f"{name}.{stem}-search.{NAMESPACE}.svc.cluster.local"
        self._machine = machine
        self.directory = machine.directory / name
        self.root = self.directory / "starrocks"
        shutil.copytree(IMAGES / "starrocks", self.root)
        (self.root / "cn").symlink_to("be")
        (self.root / "fe" / "log").mkdir()
        (self.root / "be" / "log").mkdir()
        self.home = self.root / self.component
        self.environment: dict[str, str] = {}
        self.process: asyncio.subprocess.Process | None = None
        self.log = self.directory / "log"  # of the container; that of the process is `out`
        self.out = self.home / "log" / f"{self.component}.out"

    @property
    def conf(self) -> Path:
        return self.home / "conf" / f"{self.component}.conf"

    @property
    def data(self) -> Path:
        return self.home / ("meta" if self.component == "fe" else "storage")

    async def start(self, *command: str) -> None:
        """One container: a program of the image, or of the operator, as pid 1."""
        machine = self._machine
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                "bash",
                *command,
                env={
                    "PATH": f"{machine.programs}:{os.environ['PATH']}",
                    "FAKE_SELF": self.host,
                    "FAKE_NAMES": str(machine.names),
                    "STARROCKS_ROOT": str(self.root),
                    "STARROCKS_SIMULATOR": machine.world,
                    "STARROCKS_SIMULATOR_LISTEN": self.address,
                    "SIMULATOR_HOME": str(IMAGES / "simulator"),
                    "SIMULATOR_PYTHON": sys.executable,
                    "SIMULATOR_PYTHONPATH": str(ROOT),
                    "POD_NAME": self.name,
                    "POD_NAMESPACE": NAMESPACE,
                    "POD_IP": self.address,
                    "HOST_TYPE": "FQDN",
                    "FE_SERVICE_NAME": "c-fe-service",
                    "FE_MARKER_DIRECTORY": str(machine.marker),
                    "FE_PROBE_INTERVAL": "0.1",
                    "POD_INTERVAL": "0.1",
                    "FE_SETTLE_SECONDS": "0",
                    "PROBE_INTERVAL": "0.1",
                    "PROBE_LEADER_POD0_TIMEOUT": "1",
                    **self.environment,
                },
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    async def stop(self, *arguments: str) -> None:
        """The preStop hook's program, beside the container's own."""
        script = self.home / "bin" / f"stop_{self.component}.sh"
        environment = {**os.environ, "SIMULATOR_HOME": str(IMAGES / "simulator")}
        stopping = await asyncio.create_subprocess_exec("bash", str(script), *arguments, env=environment)
        assert await stopping.wait() == 0
        await self.ended()

    async def ended(self) -> int:
        assert self.process is not None
        async with asyncio.timeout(30):
            return await self.process.wait()

    async def kill(self) -> None:
        """SIGKILL for the container and all that is in it."""
        if self.process is not None and self.process.returncode is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            await self.process.wait()

    def lose_volume(self) -> None:
        shutil.rmtree(self.data, ignore_errors=True)


class Machine:
    """A world, and the pods that call in. subnet: 127.N.M of the pods."""

    def __init__(self, directory: Path, subnet: str) -> None:
        self.directory = directory
        self.subnet = subnet
        self.programs, self.names, self.marker = directory / "bin", directory / "names", directory / "marker"
        self.world = ""
        self.pods: list[Pod] = []
        self.programs.mkdir()
        self.marker.mkdir()
        self.marker.joinpath("cluster-id").touch()
        for name, text in _PROGRAMS.items():
            (self.programs / name).write_text(text)
            (self.programs / name).chmod(0o755)

    def pod(self, name: str) -> Pod:
        pod = Pod(self, name, f"{self.subnet}.{len(self.pods) + 1}")
        self.pods.append(pod)
        lines = [f"{each.host} {each.address}\n{each.host.partition('.')[2]} {each.address}\n" for each in self.pods]
        frontends = [f"c-fe-service {each.address}\n" for each in self.pods if each.name == "c-fe-0"]
        self.names.write_text("".join([*lines, *frontends]))
        return pod

    async def close(self) -> None:
        for pod in self.pods:
            await pod.kill()


def new_world(number: int) -> tuple[Simulator, Gateway, Farewells]:
    surroundings = FixedSurroundings()
    simulator = Simulator(clock=ScaledClock(20), surroundings=surroundings)
    farewells = Farewells(simulator.world, surroundings)
    return simulator, Gateway(simulator, farewells, subnet=f"127.{number}", default_version="3.3.9"), farewells
