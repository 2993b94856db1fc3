"""Frontends are replaced only while a spare follower lives, or where the first to go is down anyway (I1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from starrocks_operator.membership.quorum import OUTAGE_CONSENT
from starrocks_operator.step import KUBERNETES_STEPS
from tests.unit.roll_world import RollWorld


def changed(**replicas: int) -> RollWorld:
    """A cluster whose frontends shall have another image."""
    world = RollWorld(**replicas)
    world.raw["metadata"]["generation"] = 4
    return world.change(fe="3.5.6")


def die(world: RollWorld, ordinal: int) -> RollWorld:
    """Down for long, and it stays so."""
    world.frontends[ordinal] = replace(world.frontends[ordinal], alive=False, role="FOLLOWER")
    world.get("Pod", f"sample-fe-{ordinal}")["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    world.look()
    return world


def held(world: RollWorld) -> bool:
    """Whether it is said so, and no pod is touched."""
    decision = world.recorded()
    reasons = {finding.reason for finding in decision.findings}
    for items in decision.apply.values():
        for item in items:
            world.write(item)
    stepping = (step := world.recorded().step) is not None and step.kind in KUBERNETES_STEPS
    assert ("QuorumWouldSuffer" in reasons) != stepping
    return "QuorumWouldSuffer" in reasons


def joining(world: RollWorld) -> RollWorld:
    world.frontends[1] = replace(world.frontends[1], joined=False, alive=False)
    world.look()
    return world


def leaderless(world: RollWorld) -> RollWorld:
    world.view = None
    return world


@pytest.mark.parametrize(
    ("frontends", "trouble", "expected"),
    [
        (1, None, True),
        (2, None, True),
        (3, None, False),
        (5, None, False),
        (5, lambda world: die(world, 1), False),
        (5, lambda world: die(die(world, 1), 2), False),  # the dead ones go first
        (3, lambda world: die(world, 1), False),
        (3, lambda world: die(world, 2), False),
        (1, lambda world: die(world, 0), False),
        (3, joining, True),
        (3, leaderless, True),
    ],
)
def test_who_must_wait(frontends: int, trouble: Callable[[RollWorld], RollWorld] | None, expected: bool) -> None:
    world = changed(fe=frontends)
    assert held(trouble(world) if trouble else world) is expected


def test_one_that_died_just_now_is_waited_for_as_it_may_come_back() -> None:
    world = changed(fe=3)
    die(world, 1).get("Pod", "sample-fe-1")["status"]["conditions"][0]["lastTransitionTime"] = world.instant()
    assert held(world)


def test_the_owner_may_consent_to_an_outage_for_one_generation() -> None:
    world = changed(fe=1)
    world.raw["metadata"]["annotations"] = {OUTAGE_CONSENT: "4"}
    assert held(world)
    world.raw["metadata"]["annotations"] = {OUTAGE_CONSENT: "5"}
    assert not held(world)


def test_more_frontends_replace_nobody() -> None:
    world = RollWorld(fe=1)
    world.raw["spec"]["starRocksFeSpec"]["replicas"] = 3
    decision = world.decide()
    assert "sample-fe" in {item["metadata"]["name"] for item in decision.apply["fe"]}
    assert not decision.findings
