"""An image of the metadata before frontends change their minor release: told once, and waited for."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from starrocks_operator.decision import Decision
from starrocks_operator.frontend.health import _images, _jobs
from starrocks_operator.rollout.image import TRIES
from starrocks_operator.step import StepKind
from tests.unit.roll_world import RollWorld

UP = {"fe": "4.0.1", "be": "4.0.1", "cn": "4.0.1"}
DOWN = {"fe": "3.4.9", "be": "3.4.9", "cn": "3.4.9"}


def told(world: RollWorld) -> int:
    return sum(step.kind == StepKind.CREATE_IMAGE for step in world.steps)


def until_told(world: RollWorld, times: int = 1) -> None:
    for _ in range(40):
        if told(world) >= times:
            return
        world.turn()
    raise AssertionError(f"{world.steps}")


def turned(world: RollWorld, times: int = 5) -> Decision:
    for _ in range(times):
        decision = world.turn()
    return decision


@pytest.mark.parametrize(
    ("images", "times"),
    [
        (UP, 1),
        (DOWN, 1),
        ({"fe": "3.5.6", "be": "3.5.6"}, 0),
        ({"be": "4.0.1", "cn": "4.0.1"}, 0),
        ({"fe": "3.4.9"}, 1),
    ],
)
@pytest.mark.parametrize("count", [0, 7, None])
def test_once_for_each_minor_release_of_frontends_and_before_the_first_pod(
    images: dict[str, str], times: int, count: int | None
) -> None:
    world = RollWorld().change(**images)
    world.written = count
    while not world.order:
        world.turn()
    assert told(world) == times
    world.roll()
    assert told(world) == times


def test_no_pod_is_replaced_until_it_is_there() -> None:
    world = RollWorld().change(**UP)
    world.writes = False
    until_told(world)
    decision = turned(world, 20)
    assert (told(world), world.order, decision.rollout["gate"]) == (1, [], "MetadataImage")
    assert "the leader writes an image of the metadata" in "; ".join(decision.waits)
    world.written = 1
    world.roll()
    assert told(world) == 1


def test_a_leader_that_does_not_write_one_is_told_again_a_few_times_and_then_a_person_is() -> None:
    world = RollWorld().change(**UP)
    world.writes = False
    for times in range(1, TRIES + 1):
        until_told(world, times)
        world.now += timedelta(minutes=5)
    decision = turned(world, 20)
    assert (told(world), world.order) == (TRIES, [])
    (stalled,) = [finding for finding in decision.findings if finding.reason == "RolloutStalled"]
    assert "MetadataImage objects: after 5 times CREATE IMAGE" in stalled.message
    world.annotate(skip_rollout_gates=f"MetadataImage@{world.raw['metadata']['generation']}")
    assert len(world.roll()) == 7


def test_another_process_that_leads_is_told_once_more() -> None:
    world = RollWorld().change(**UP)
    world.writes = False
    until_told(world)
    world.frontends = [replace(row, start_time="later") for row in world.frontends]
    world.written, world.writes = 0, True
    until_told(world, 2)
    world.roll()
    assert told(world) == 2


def test_a_lost_record_costs_one_more() -> None:
    world = RollWorld().change(**UP)
    while len(world.order) < 2:
        world.turn()
    world.raw["status"] = {"phase": "running", "bootstrap": world.raw["status"]["bootstrap"]}
    world.roll()
    assert told(world) == 2


def test_a_statement_whose_answer_was_lost_is_said_again() -> None:
    world = RollWorld().change(**UP)
    world.written = None
    until_told(world)
    world.last_run = None
    until_told(world, 2)
    world.roll()
    assert told(world) == 2


@pytest.mark.parametrize(
    ("text", "images", "jobs"),
    [
        (b"", None, None),
        (b"starrocks_fe_image_write 4\nstarrocks_fe_image_push 8\n", 12, None),
        (b'starrocks_fe_image_write{type="success"} 4\nstarrocks_fe_image_write{type="failed"} 2\n', 4, None),
        (b"starrocks_fe_unfinished_backup_job 1\nstarrocks_fe_image_size 9\n", None, 1),
    ],
)
def test_what_the_metrics_count(text: bytes, images: int | None, jobs: int | None) -> None:
    assert (_images(text), _jobs(text)) == (images, jobs)
