"""The simulator's sockets: real MySQL and HTTP clients against pods that no Kubernetes knows."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pymysql
import pytest

from lab.simulator.client import Control, ControlError
from lab.simulator.model import Component, PodFacts
from lab.simulator.server.clock import ScaledClock
from lab.simulator.server.control import served
from lab.simulator.server.simulator import Simulator
from lab.simulator.server.statement_log import StatementLog
from lab.simulator.stage import Stage

# Loopback addresses of this process alone, beyond those that labs give their pods.
_SUBNET = f"127.251.{os.getpid() % 250}"
ADDRESS = {name: f"{_SUBNET}.{last}" for last, name in enumerate(("c-fe-0", "c-fe-1", "c-fe-2", "c-be-0"), start=1)}


def facts(name: str, **changes: Any) -> PodFacts:
    component = Component(name.split("-")[1])
    given: dict[str, Any] = {
        "namespace": "default",
        "name": name,
        "uid": name,
        "address": ADDRESS[name],
        "component": component,
        "cluster_name": "c",
        "host": Stage.host(name),
        "volume": f"claim:{name}",
        **changes,
    }
    return PodFacts(**given)


def ask(
    pod: str,
    sql: str,
    *,
    user: str = "root",
    password: str = "",
    timeout: float = 10.0,
    patience: float = 10.0,
    port: int = 9030,
) -> list[dict[str, Any]]:
    """timeout: for an answer. patience: for a greeting; long, as a busy machine is no refusal."""
    connection = pymysql.connect(
        host=ADDRESS[pod],
        port=port,
        user=user,
        password=password,
        connect_timeout=patience,
        read_timeout=timeout,
        cursorclass=pymysql.cursors.DictCursor,
    )
    with contextlib.closing(connection), connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())


async def asked(pod: str, sql: str, **how: Any) -> list[dict[str, Any]]:
    return await asyncio.to_thread(lambda: ask(pod, sql, **how))


async def refused(pod: str, sql: str, **how: Any) -> tuple[int, str]:
    with pytest.raises(pymysql.Error) as caught:
        await asked(pod, sql, **how)
    return int(caught.value.args[0]), str(caught.value.args[1])


async def web(pod: str, path: str) -> tuple[int, Any]:
    port = 8030 if "-fe-" in pod else 8040

    def get() -> tuple[int, Any]:
        try:
            with urllib.request.urlopen(f"http://{ADDRESS[pod]}:{port}{path}", timeout=2) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    return await asyncio.to_thread(get)


async def until(condition: Callable[[], bool], what: str) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)
    assert condition(), what


class Lab:
    """A running simulator with three frontends and a backend."""

    def __init__(self, simulator: Simulator, control: Control, log: Path) -> None:
        self.simulator = simulator
        self.control = control
        self.log = log

    def serving(self, *pods: str) -> bool:
        containers = self.simulator.world.pods
        return all(f"default/{pod}" in containers and containers[f"default/{pod}"].healthy for pod in pods)

    async def call(self, function: Callable[..., Any], *arguments: Any, **how: Any) -> Any:
        return await asyncio.to_thread(lambda: function(*arguments, **how))


@pytest.fixture
async def lab(tmp_path: Path) -> AsyncIterator[Lab]:
    log = tmp_path / "statements.jsonl"
    simulator = Simulator(clock=ScaledClock(200.0), log=StatementLog(log))
    running = asyncio.create_task(simulator.run())
    async with served(simulator, str(tmp_path / "control")) as where:
        for name in ADDRESS:
            simulator.pod_started(facts(name))
        lab = Lab(simulator, Control(where), log)
        await until(lambda: lab.serving(*ADDRESS) and len(simulator.listeners) == len(ADDRESS), "all to serve")
        yield lab
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running


async def test_every_frontend_answers_at_its_own_address(lab: Lab) -> None:
    for pod in ("c-fe-0", "c-fe-1", "c-fe-2"):
        rows = await asked(pod, "SHOW FRONTENDS")
        assert sorted(row["Role"] for row in rows) == ["FOLLOWER", "FOLLOWER", "LEADER"]
    assert len(await asked("c-fe-1", "SHOW BACKENDS")) == 1
    assert await asked("c-fe-1", "SHOW COMPUTE NODES") == []


async def test_errors_come_with_their_codes(lab: Lab) -> None:
    code, text = await refused("c-fe-0", 'ALTER SYSTEM ADD FOLLOWER "nobody:9010"')
    assert (code, text) == (1064, "unknown fqdn host: nobody")
    code, text = await refused("c-fe-0", "SHOW FRONTENDS", password="wrong")
    assert (code, text) == (1045, "Access denied for user 'root' (using password: YES)")
    code, _ = await refused("c-fe-0", "SHOW FRONTENDS", user="stranger")
    assert code == 1045
    await asked("c-fe-0", "CREATE USER 'u'@'%' IDENTIFIED BY 'p'")
    await until(lambda: "u" in lab.simulator.world.pods["default/c-fe-1"].frontend.database.state.accounts, "the user")  # type: ignore[union-attr]
    code, text = await refused("c-fe-0", "SHOW FRONTENDS", user="u", password="p")
    assert code == 5203
    assert "NODE" in text


async def test_a_password_once_set_is_needed(lab: Lab) -> None:
    await asked("c-fe-0", "SET PASSWORD = PASSWORD('hush')")
    leader = lab.simulator.world.databases.popitem()[1].leader
    assert leader is not None
    assert (await refused(leader.facts.name, "SELECT 1"))[0] == 1045
    assert await asked(leader.facts.name, "SELECT 1", password="hush")
    assert "hush" not in lab.log.read_text()


async def test_health_of_frontends_and_backends(lab: Lab) -> None:
    await until(lambda: lab.simulator.world.databases.copy().popitem()[1].state.nodes[0].alive, "the first heartbeat")
    status, body = await web("c-fe-2", "/api/health")
    assert (status, body["total_backend_num"], body["status"]) == (200, 1, "OK")
    assert await web("c-be-0", "/api/health") == (200, {"status": "OK", "msg": "To Be Added"})
    status, body = await web("c-fe-2", "/api/bootstrap?token=x")
    assert (status, body["queryPort"]) == (200, 9030)
    await lab.call(lab.control.lay, "c-fe-2", "leave")
    assert (await web("c-fe-2", "/api/health"))[0] == 500


async def test_a_killed_frontend_refuses_and_breaks_its_connections(lab: Lab) -> None:
    connection = await asyncio.to_thread(lambda: pymysql.connect(host=ADDRESS["c-fe-1"], port=9030, user="root"))
    await lab.call(lab.control.lay, "c-fe-1", "kill")
    await until(lambda: len(lab.simulator.listeners) == 3, "its sockets to close")
    assert (await refused("c-fe-1", "SELECT 1"))[0] == 2003
    with pytest.raises(pymysql.Error):
        await asyncio.to_thread(lambda: connection.ping(reconnect=False))
    await lab.call(lab.control.lay, "c-fe-1", "resume")
    await until(lambda: lab.serving("c-fe-1") and len(lab.simulator.listeners) == 4, "it to serve again")
    assert await asked("c-fe-1", "SELECT 1")


async def test_a_hung_frontend_accepts_and_never_greets(lab: Lab) -> None:
    await lab.call(lab.control.lay, "c-fe-1", "hang")
    code, _ = await refused("c-fe-1", "SELECT 1", patience=0.5)
    assert code in (2003, 2013)  # timed out, not refused
    await lab.call(lab.control.lay, "c-fe-1", "resume")
    assert await asked("c-fe-1", "SELECT 1")


async def test_statements_hang_without_a_leader_and_go_on_with_one(lab: Lab) -> None:
    database = lab.simulator.world.databases.copy().popitem()[1]
    assert database.leader is not None
    dead, survivor = (p.facts.name for p in database.attached.values() if p is not database.leader)
    leader = database.leader.facts.name
    await lab.call(lab.control.lay, dead, "kill")
    await lab.call(lab.control.lay, leader, "kill")
    code, _ = await refused(survivor, "SHOW FRONTENDS", timeout=0.3)
    assert code == 2013
    waiting = asyncio.create_task(asked(survivor, "SHOW FRONTENDS", timeout=10))
    await until(lambda: lab.simulator.log.counts.get("hang") == 2, "the second question to hang, too")
    await lab.call(lab.control.lay, dead, "resume")
    assert len(await waiting) == 3
    lines = [json.loads(line) for line in lab.log.read_text().splitlines()]
    own = [line for line in lines if line["source"] == "client" and line["statement"] == "SHOW FRONTENDS"]
    assert [(line["result"], line.get("again", False)) for line in own] == [
        ("hang", False),
        ("hang", False),
        ("rows", True),
    ]


async def test_a_drop_that_costs_the_quorum_breaks_the_connection(lab: Lab) -> None:
    database = lab.simulator.world.databases.copy().popitem()[1]
    # Until its first heartbeat one that joins does not count in the quorum.
    await until(lambda: not database.joining, "all to have been seen alive")
    assert database.leader is not None
    dead, live = (p.facts.name for p in database.attached.values() if p is not database.leader)
    await lab.call(lab.control.lay, dead, "kill")
    code, _ = await refused(database.leader.facts.name, f'ALTER SYSTEM DROP FOLLOWER "{Stage.host(live)}:9010"')
    assert code == 2013
    assert [mark["kind"] for mark in await lab.call(lab.control.violations)] == ["quorum-lost-by-statement"]
    assert await lab.call(lab.control.losses) == []


async def test_a_pod_may_come_back_under_the_same_address(lab: Lab) -> None:
    lab.simulator.pod_stopped("default/c-fe-1", "c-fe-1")
    lab.simulator.pod_started(facts("c-fe-1", uid="again"))
    await until(lambda: lab.serving("c-fe-1") and len(lab.simulator.listeners) == 4, "the new pod to serve")
    assert await asked("c-fe-1", "SELECT 1")


async def test_a_deleted_pod_listens_no_more(lab: Lab) -> None:
    lab.simulator.pod_stopped("default/c-fe-1", "another pod's uid")
    assert await asked("c-fe-1", "SELECT 1")
    lab.simulator.pod_stopped("default/c-fe-1", "c-fe-1")
    await until(lambda: len(lab.simulator.listeners) == 3, "its sockets to close")
    assert (await refused("c-fe-1", "SELECT 1"))[0] == 2003


async def test_the_statement_log_tells_who_asked_what_and_how_it_ended(lab: Lab) -> None:
    await asked("c-fe-1", "SHOW FRONTENDS")
    await refused("c-fe-1", "SHOW NONSENSE")
    lines = [json.loads(line) for line in lab.log.read_text().splitlines()]
    own = [line for line in lines if line["source"] == "client" and not line["statement"].startswith("SET ")]
    assert [(line["frontend"], line["statement"], line["result"]) for line in own] == [
        ("c-fe-1", "SHOW FRONTENDS", "rows"),
        ("c-fe-1", "SHOW NONSENSE", "error"),
    ]
    assert {line["source"] for line in lines} == {"client", "entrypoint"}
    assert {line["cluster"] for line in lines} == {"c"}


async def test_the_control_api_makes_tables_and_shows_state(lab: Lab) -> None:
    await lab.call(lab.control.create_table, "c", "t", replication=1, tablets=4)
    state = await lab.call(lab.control.state)
    assert state["databases"][0]["nodes"][0]["tablets"] == 4
    assert {pod["name"] for pod in state["pods"]} == set(ADDRESS)
    await lab.call(lab.control.lay, "c-be-0", "wipe")
    assert len(await lab.call(lab.control.losses)) == 4
    rows = (await lab.call(lab.control.sql, "c-fe-0", "SHOW PROC '/statistic'"))["rows"]
    assert rows[-1]["TabletNum"] == "4"
    await lab.call(lab.control.speed, 100)
    assert lab.simulator.clock.speed == 100


@pytest.mark.parametrize(
    ("method", "path", "text"),
    [
        ("POST", "/nodes/nobody/kill", "There is no pod nobody."),
        ("POST", "/nodes/c-fe-0/tickle", "There is no fault 'tickle'"),
        ("POST", "/tables", "The body must name the cluster."),
        ("POST", "/clock/speed", "speed"),
    ],
)
async def test_the_control_api_refuses_in_words(lab: Lab, method: str, path: str, text: str) -> None:
    with pytest.raises(ControlError, match=text.replace("'", ".")):
        await lab.call(lab.control.call, method, path)


def test_dates_stay_where_they_were_when_the_speed_changes() -> None:
    clock = ScaledClock(100.0)
    before = clock.wall(clock.now())
    moment = clock.now()
    clock.speed = 1.0
    assert clock.wall(moment) == pytest.approx(before, abs=0.5)
    with pytest.raises(ValueError, match="greater than zero"):
        clock.speed = 0
