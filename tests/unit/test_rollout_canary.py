"""A roll that stops after the first pod of each component until its owner approves."""

from __future__ import annotations

import pytest

from starrocks_operator.decision import Decision
from tests.unit.roll_world import RollWorld


def stopped(world: RollWorld) -> Decision:
    for _ in range(20):
        decision = world.turn()
    return decision


@pytest.mark.parametrize("component", ["be", "fe"])
def test_a_canary_waits_for_approval_and_is_no_stall(component: str) -> None:
    world = RollWorld().annotate(canary="true", stall_seconds="5").label(component)
    decision = stopped(world)
    assert world.order == [f"sample-{component}-2"]
    assert [finding.reason for finding in decision.findings] == ["CanaryWaits"]
    world.annotate(approve_canary=f"cn@2,{component}@1")
    stopped(world)
    assert len(world.order) == 1, "approved for another generation"
    world.annotate(approve_canary=f"cn@2, {component}@2")
    assert len(world.roll()) == 3


def test_each_component_has_a_canary_of_its_own() -> None:
    world = RollWorld().annotate(canary="true", approve_canary="be@2").label("be", "fe")
    assert "fe@2" in stopped(world).findings[0].message
    assert world.order == ["sample-be-2", "sample-be-1", "sample-be-0", "sample-fe-2"]


@pytest.mark.parametrize("component", ["be", "fe"])
def test_the_way_back_needs_no_approval(component: str) -> None:
    world = RollWorld().annotate(canary="true").change(**{component: "3.5.6"})
    stopped(world)
    assert world.change(**{component: "3.5.5"}).roll() == [f"sample-{component}-2"] * 2


def test_a_partition_of_the_users_makes_no_canaries_of_those_below() -> None:
    world = RollWorld().annotate(canary="true")
    world.raw["spec"]["starRocksBeSpec"]["updateStrategy"] = {
        "type": "RollingUpdate",
        "rollingUpdate": {"partition": 1},
    }
    stopped(world.label("be"))
    assert world.order == ["sample-be-2"]
