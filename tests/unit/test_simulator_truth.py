"""The truth log: a line whenever members come, go, die, are told to leave or are empty, and one for every mark."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.simulator.server.truth_log import TruthLog
from lab.simulator.stage import Stage


class Told:
    """A world whose truth is written to a file."""

    def __init__(self, path: Path) -> None:
        self.stage = Stage()
        self._path, self._log = path, TruthLog(path)
        self.stage.world.on_truth = self._log.changed
        self.stage.world.on_mark = self._log.marked

    def close(self) -> None:
        self._log.close()

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._path.read_text().splitlines()]

    def node(self, pod: str) -> dict[str, Any]:
        """What the last line says of a backend."""
        rows = [row for row in self.lines()[-1]["nodes"] if row["host"] == Stage.host(pod)]
        return dict(rows[0])


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Told]:
    told = Told(tmp_path / "truth.jsonl")
    yield told
    told.close()


def test_a_backend_on_its_way_out(told: Told) -> None:
    database = told.stage.running("c", fe=1, be=4)
    assert told.node("c-be-3")["empty"]
    database.tablets.create_table("db", "t", replication=3, tablets=8)
    assert (told.node("c-be-3")["empty"], told.node("c-be-3")["decommissioned"]) == (False, False)
    told.stage.sql("c-fe-0", 'ADMIN SET FRONTEND CONFIG ("drop_backend_after_decommission" = "false")')
    told.stage.sql("c-fe-0", f'ALTER SYSTEM DECOMMISSION BACKEND "{Stage.host("c-be-3")}:9050"')
    assert (told.node("c-be-3")["empty"], told.node("c-be-3")["decommissioned"]) == (False, True)
    told.stage.after(120)
    assert (told.node("c-be-3")["empty"], told.node("c-be-3")["decommissioned"]) == (True, True)
    assert told.lines()[-1]["leader"] == database.state.frontends[0].name


def test_equal_truths_make_one_line(told: Told) -> None:
    told.stage.running("c", fe=3, be=3)
    before = len(told.lines())
    told.stage.after(3600)
    assert len(told.lines()) == before


def test_who_died_and_what_was_marked(told: Told) -> None:
    database = told.stage.running("c", fe=1, be=1)
    database.tablets.create_table("db", "t", replication=1, tablets=1)
    told.stage.fault("c-be-0", "wipe")
    marks = [line for line in told.lines() if "mark" in line]
    assert [(mark["mark"], mark["namespace"], mark["cluster"]) for mark in marks] == [("tablet-lost", "default", "c")]
    told.stage.fault("c-be-0", "kill")
    told.stage.after(60)
    assert not told.node("c-be-0")["alive"]


def test_what_is_behind_what_was_set_and_who_answers(told: Told) -> None:
    stage = told.stage
    stage.running("c", fe=3, be=3).tablets.create_table("db", "t", replication=3, tablets=6, written=True)
    stage.sql(stage.leader("c"), 'ADMIN SET FRONTEND CONFIG ("tablet_sched_max_scheduling_tablets" = "0")')
    set_on = [row["settings"] for row in told.lines()[-1]["frontends"]]
    assert set_on == [{"tablet_sched_max_scheduling_tablets": "0"}] * 3
    before = told.node("c-be-0")["started"]
    stage.delete_pod("c-be-0")
    away = told.node("c-be-0")
    assert (away["answers"], away["alive"], away["started"], away["behind"], away["lagging"]) == (False, True, 0, 6, 0)
    stage.after(10)
    stage.pod("c-be-0")
    stage.after(30)
    back = told.node("c-be-0")
    assert (back["answers"], back["alive"], back["behind"], back["lagging"]) == (True, True, 6, 6)
    assert back["started"] > before
    victim = stage.followers("c")[0]
    stage.fault(victim, "crash")
    stage.after(60)
    rows = {row["host"].split(".")[0]: row["settings"] for row in told.lines()[-1]["frontends"]}
    assert rows[victim] == {}, "a process that starts again has its file's values"
