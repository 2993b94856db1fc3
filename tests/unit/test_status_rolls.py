"""What is told of a roll: its begin, and its end with the time that it took."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from starrocks_operator.status import transitions
from tests.unit.roll_world import RollWorld

NOW = datetime(2026, 5, 1, 12, 30, 5, tzinfo=UTC)
ROLL = {"began": "2026-05-01T12:10:00Z", "since": "2026-05-01T12:20:00Z", "done": 2, "total": 9}
REST = {"since": "2026-05-01T12:20:00Z", "done": 9, "total": 9}
BEGAN = ("RolloutBegan", "Pods are replaced one by one: 7 of 9 are not as wanted.")
OVER = "No pod is to be replaced any more: all 9 have the wanted template"


def told(before: Any, after: Any, *, phase: str = "running", now: datetime | None = NOW) -> list[tuple[str, str]]:
    found = transitions({"rollout": before}, {"rollout": after, "phase": phase}, now=now)
    assert {event.type for event in found} <= {"Normal"}
    return [(event.reason, event.message) for event in found]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, ROLL, [BEGAN]),
        (REST, ROLL, [BEGAN]),
        (ROLL, ROLL | {"done": 5}, []),
        (ROLL, None, [("RolloutEnded", f"{OVER}, after 20 min 5 s.")]),
        (ROLL, REST, [("RolloutEnded", f"{OVER}, after 20 min 5 s.")]),
        (ROLL | {"began": "2026-05-01T10:00:00Z"}, None, [("RolloutEnded", f"{OVER}, after 2 h 30 min.")]),
        (ROLL | {"began": "2026-05-01T12:30:00Z"}, None, [("RolloutEnded", f"{OVER}, after 5 s.")]),
        (ROLL | {"began": "some day"}, None, [("RolloutEnded", f"{OVER}.")]),
        (None, REST, []),
        (REST, None, []),
    ],
)
def test_the_begin_and_the_end_are_told(before: Any, after: Any, expected: list[tuple[str, str]]) -> None:
    assert told(before, after) == expected


@pytest.mark.parametrize("phase", ["failed", "hibernated"])
def test_a_roll_that_is_interrupted_has_not_ended(phase: str) -> None:
    assert told(ROLL, None, phase=phase) == []


def test_without_the_time_it_is_not_told() -> None:
    assert told(ROLL, None, now=None) == [("RolloutEnded", f"{OVER}.")]


def test_a_roll_tells_each_once() -> None:
    world, events = RollWorld().label("be"), []
    for _ in range(40):
        before = dict(world.raw["status"].get("rollout") or {})
        world.turn()
        events += told(before, world.raw["status"].get("rollout"), now=None)
    assert [reason for reason, _ in events] == ["RolloutBegan", "RolloutEnded"]
