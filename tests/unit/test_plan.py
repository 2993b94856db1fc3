"""Plan before act: what is written down, what waits for approval, and what its hash covers."""

from __future__ import annotations

from typing import Any

import pytest

from starrocks_operator.decision import Decision
from starrocks_operator.plan import APPROVED, REQUIRED
from starrocks_operator.quiet.hibernation import HIBERNATE
from starrocks_operator.status import status_of
from tests.unit.membership_world import World


def careful() -> World:
    world = World()
    world.raw["metadata"]["annotations"] = {REQUIRED: "required"}
    return world


def names(decision: Decision) -> list[str]:
    return [f"{entry['step']} {entry['object']}" for entry in (decision.plan or {}).get("steps", ())]


def told(world: World) -> str:
    plan = world.decide().plan
    assert plan is not None
    return str(plan["hash"])


def change(world: World, component: str = "Be", **fields: Any) -> None:
    world.raw["spec"][f"starRocks{component}Spec"] |= fields


def approve(world: World) -> None:
    world.raw["metadata"]["annotations"][APPROVED] = told(world)


def test_a_cluster_that_is_as_wished_has_no_plan() -> None:
    decision = careful().decide()
    assert decision.plan is None
    assert not decision.findings


def test_nothing_is_done_before_the_plan_is_approved() -> None:
    world = careful()
    change(world, image="starrocks/be-ubuntu:3.5.6", replicas=2)
    decision = world.decide()
    assert not decision.due
    assert names(decision) == [
        "Apply StatefulSet/sample-be",
        "RemoveMember sample-be-2",
        "ReplacePod sample-be-1",
        "ReplacePod sample-be-0",
    ]
    status = status_of(world.cluster, world.observed, decision, last_run=None)
    assert status["plan"]["hash"] == told(world)
    assert status["plan"]["approved"] is False
    said = {condition["type"]: (condition["status"], condition["reason"]) for condition in status["conditions"]}
    assert said["Ready"] == said["Progressing"] == ("False", "PlanNotApproved")
    assert said["Degraded"][0] == "False"


def test_an_approved_plan_is_carried_out_and_keeps_its_hash() -> None:
    world = careful()
    change(world, image="starrocks/be-ubuntu:3.5.6")
    approve(world)
    before, planned = told(world), names(world.decide())
    assert world.decide().due
    world.settle()
    assert told(world) == before
    assert set(names(world.decide())) <= set(planned)


def test_an_approval_is_of_one_plan() -> None:
    world = careful()
    change(world, image="starrocks/be-ubuntu:3.5.6")
    approve(world)
    change(world, image="starrocks/be-ubuntu:3.5.7")
    assert not world.decide().due


@pytest.mark.parametrize(
    "other",
    [{"image": "starrocks/be-ubuntu:3.5.7"}, {"replicas": 2}, {"replicas": 4}, {"podLabels": {"a": "b"}}],
)
def test_another_spec_has_another_hash(other: dict[str, Any]) -> None:
    world = careful()
    change(world, image="starrocks/be-ubuntu:3.5.6")
    before = told(world)
    change(world, **other)
    assert told(world) != before


def test_frontends_are_planned_last_and_their_leader_last_of_all() -> None:
    world = careful()
    change(world, "Fe", image="starrocks/fe-ubuntu:3.5.6")
    change(world, "Cn", image="starrocks/cn-ubuntu:3.5.6")
    pods = [name for name in names(world.decide()) if name.startswith("ReplacePod")]
    assert pods == [f"ReplacePod sample-{pod}" for pod in ("cn-0", "fe-2", "fe-1", "fe-0")]


def test_what_a_new_cluster_is_to_be_is_planned_as_a_whole() -> None:
    world = careful()
    world.objects.clear()
    world.raw["status"] = {}
    world.view = None
    decision = world.decide()
    assert not decision.due
    planned = names(decision)
    assert {"Apply StatefulSet/sample-fe", "Apply StatefulSet/sample-be", "AddMember sample-be-2"} <= set(planned)


def test_hibernation_is_a_plan_too() -> None:
    world = careful()
    world.raw["metadata"]["annotations"][HIBERNATE] = "true"
    decision = world.decide()
    assert not decision.due
    assert [name for name in names(decision) if name.startswith("Sleep")] == [
        f"SleepStatefulSet sample-{name}" for name in ("cn", "be", "fe")
    ]
    approve(world)
    assert world.decide().step is not None


def test_an_unknown_word_asks_for_no_plan() -> None:
    world = careful()
    world.raw["metadata"]["annotations"][REQUIRED] = "no"
    change(world, image="starrocks/be-ubuntu:3.5.6")
    assert world.decide().due
