"""The simulator in real pods, as far as a machine without Kubernetes has them: see simulated_pods."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import urllib.request
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from lab.simulator.client import Control
from lab.simulator.model.database import Database
from lab.simulator.pods.farewell import Farewells
from lab.simulator.server.simulator import Simulator
from tests.cluster.simulated_pods import ROOT, Machine, Pod, new_world

_FE_START = str(ROOT / "starrocks_operator" / "scripts" / "fe_start.sh")


class Lab(Machine):
    simulator: Simulator
    farewells: Farewells

    def database(self) -> Database | None:
        databases = list(self.simulator.world.databases.values())
        assert len(databases) <= 1, "there is never a second cluster"
        return databases[0] if databases else None

    def alive(self, *pods: Pod) -> bool:
        database = self.database()
        rows = [*database.state.frontends, *database.state.nodes] if database is not None else []
        living = {row.host for row in rows if row.alive}
        return all(pod.host in living for pod in pods)

    async def until(self, condition: Callable[[], bool], what: str) -> None:
        try:
            async with asyncio.timeout(45):
                while not condition():
                    await asyncio.sleep(0.02)
        except TimeoutError:
            files = [file for pod in self.pods for file in (pod.log, pod.out) if file.exists()]
            logs = "\n".join(f"--- {file}\n{file.read_text()}" for file in files)
            raise AssertionError(f"waited for {what}\n{logs}") from None

    async def frontends(self, count: int) -> list[Pod]:
        pods = [self.pod(f"c-fe-{ordinal}") for ordinal in range(count)]
        for pod in pods:
            await pod.start(_FE_START, "c-fe-service")
        await self.until(lambda: self.alive(*pods), "the frontends")
        return pods

    async def backend(self, name: str) -> Pod:
        pod = self.pod(name)
        await pod.start(str(pod.root / "be_entrypoint.sh"), "c-fe-service")
        await self.until(lambda: self.alive(pod), name)
        return pod


@pytest.fixture
async def lab(tmp_path: Path) -> AsyncIterator[Lab]:
    number = os.getpid() % 250
    lab = Lab(tmp_path, f"127.252.{number}")
    lab.simulator, gateway, lab.farewells = new_world(100 + number % 100)
    running = asyncio.ensure_future(lab.simulator.run())
    async with gateway.serving("127.0.0.1", 0) as lab.world:
        try:
            yield lab
        finally:
            await lab.close()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def test_a_cluster_comes_up_by_the_operators_own_script(lab: Lab) -> None:
    pods = await lab.frontends(3)
    database = lab.database()
    assert database is not None
    assert len(database.group) == 3
    for pod in pods:
        assert "role=FOLLOWER" in (pod.data / "image" / "ROLE").read_text()
        assert str(database.cluster_id) in (pod.data / "image" / "VERSION").read_text()


async def test_a_killed_frontend_dies_at_once_and_comes_back_with_its_metadata(lab: Lab) -> None:
    first, second, third = await lab.frontends(3)
    await second.kill()
    await lab.until(lambda: "db/c-fe-1" not in lab.simulator.world.pods, "the world to see it")
    await lab.until(lambda: not lab.alive(second), "the leader to miss it")
    await second.start(_FE_START, "c-fe-service")
    await lab.until(lambda: lab.alive(first, second, third), "its return")
    assert "starting as the frontend it says" in second.log.read_text()


async def test_a_frontend_without_its_volume_waits_to_be_dropped(lab: Lab) -> None:
    _, _, third = await lab.frontends(3)
    await third.kill()
    third.lose_volume()
    await third.start(_FE_START, "c-fe-service")
    await lab.until(lambda: "waiting until the operator has dropped it" in third.log.read_text(), "what it says")


async def test_backends_keep_their_tablets_on_their_volumes(lab: Lab) -> None:
    await lab.frontends(1)
    first, second = await lab.backend("c-be-0"), await lab.backend("c-be-1")
    database = lab.database()
    assert database is not None
    assert (first.data / "cluster_id").read_text() == f"{database.cluster_id}\n"
    database.tablets.create_table("db", "orders", replication=1, tablets=4)
    await first.kill()
    await first.start(str(first.root / "be_entrypoint.sh"), "c-fe-service")
    await lab.until(lambda: database.tablets.answers(database.state.nodes[0]), "its return")
    assert not lab.simulator.world.losses
    await second.kill()
    second.lose_volume()
    await second.start(str(second.root / "be_entrypoint.sh"), "c-fe-service")
    await lab.until(lambda: bool(lab.simulator.world.losses), "the loss to be seen")


async def test_a_graceful_stop_is_seen_before_the_end(lab: Lab) -> None:
    await lab.frontends(1)
    pod = await lab.backend("c-be-0")
    world, seen = lab.simulator.world, set()
    truth = world.on_truth

    def record(database: Database) -> None:
        seen.update(row.status for row in database.state.nodes)
        truth(database)

    world.on_truth = record
    await pod.stop("-g")
    assert pod.process is not None
    assert pod.process.returncode == 0
    await lab.until(lambda: "SHUTDOWN" in seen, "FE to know why")


async def test_a_compute_node_drops_itself_when_its_container_ends(lab: Lab) -> None:
    await lab.frontends(1)
    pod = lab.pod("c-cn-0")
    await pod.start(str(pod.root / "cn_entrypoint.sh"), "c-fe-service")
    await lab.until(lambda: lab.alive(pod), "the compute node")
    assert pod.process is not None
    pod.process.send_signal(signal.SIGTERM)
    database = lab.database()
    assert database is not None
    await lab.until(lambda: not database.state.nodes, "its row to go")


async def test_the_official_entrypoints_ways_found_and_join(lab: Lab) -> None:
    first = lab.pod("c-fe-0")
    await first.start(str(first.root / "fe_entrypoint.sh"), "c-fe-service")
    await lab.until(lambda: lab.alive(first), "the first frontend")
    second = lab.pod("c-fe-1")
    await second.start(str(second.root / "fe_entrypoint.sh"), "c-fe-service")
    await lab.until(lambda: lab.alive(first, second), "the second frontend")


@pytest.mark.parametrize("line", ["query_port = many", "crash_on_start = true", "default_replication_num = three"])
async def test_a_bad_line_of_the_conf_file_ends_the_process_until_it_is_mended(lab: Lab, line: str) -> None:
    (pod,) = await lab.frontends(1)
    await pod.kill()
    good = pod.conf.read_text()
    pod.conf.write_text(f"{good}{line}\n")
    await pod.start(str(pod.home / "bin" / "start_fe.sh"))
    assert await pod.ended() == 1
    pod.conf.write_text(good)
    await pod.start(_FE_START, "c-fe-service")
    await lab.until(lambda: lab.alive(pod), "its return")


async def test_health_and_metrics_are_asked_at_the_pod(lab: Lab) -> None:
    (pod,) = await lab.frontends(1)

    def get(path: str) -> bytes:
        with urllib.request.urlopen(f"http://{pod.address}:8030{path}", timeout=5) as response:
            body: bytes = response.read()
        return body

    assert b'"OK"' in await asyncio.to_thread(get, "/api/health")
    assert b"starrocks_fe_max_journal_id" in await asyncio.to_thread(get, "/metrics")


async def test_a_process_ends_with_its_world(lab: Lab) -> None:
    (pod,) = await lab.frontends(1)
    lab.simulator.world.pods["db/c-fe-0"].exit(255, "a test wants it")
    assert await pod.ended() == 255


async def test_a_cluster_that_its_owner_deleted_may_be_founded_anew(lab: Lab) -> None:
    (frontend,) = await lab.frontends(1)
    backend = await lab.backend("c-be-0")
    first = lab.database()
    assert first is not None
    first.tablets.create_table("db", "orders", replication=1, tablets=4, written=True)
    lab.farewells.deleted(("db", "c"), volumes=True)
    for pod in (backend, frontend):
        await pod.kill()
        pod.lose_volume()
    await frontend.start(_FE_START, "c-fe-service")
    await lab.until(lambda: lab.database() not in (None, first) and lab.alive(frontend), "another cluster")
    assert lab.simulator.world.violations == []


async def test_the_world_as_a_program_shows_its_logs(tmp_path: Path) -> None:
    lab = Lab(tmp_path, f"127.253.{os.getpid() % 250}")
    world = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lab.simulator", "world", "--logs", str(tmp_path / "logs"), "--speed", "20"),
        *("--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--subnet", f"127.{50 + os.getpid() % 50}"),
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    assert world.stdout is not None
    try:
        said = re.search(r"agents: (\S+); control API: (\S+)", (await world.stdout.readline()).decode())
        assert said is not None
        lab.world, control = said[1], Control(said[2])
        pod = lab.pod("c-fe-0")
        await pod.start(_FE_START, "c-fe-service")

        def led() -> bool:
            return any(line.get("leader") for line in control.log("truth"))

        async with asyncio.timeout(45):
            while not await asyncio.to_thread(led):
                await asyncio.sleep(0.1)
        await asyncio.to_thread(control.deleted, "db", "c", volumes=False)
        assert await asyncio.to_thread(control.log, "statements") == []
        world.send_signal(signal.SIGTERM)
        assert await world.wait() == 0
        assert await pod.ended() == 70
    finally:
        await lab.close()
        if world.returncode is None:
            world.kill()
            await world.wait()
