"""Frontends are replaced only while a spare follower lives, or where the first to go is down anyway (I1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from starrocks_operator.rollout import OUTAGE_CONSENT
from tests.unit.membership_world import World


def changed(**replicas: int) -> World:
    """A cluster whose frontends shall have another image."""
    world = World(**replicas)
    world.raw["spec"]["starRocksFeSpec"]["image"] = "starrocks/fe-ubuntu:3.5.6"
    world.raw["metadata"]["generation"] = 5
    return world


def die(world: World, ordinal: int) -> World:
    world.frontends[ordinal] = replace(world.frontends[ordinal], alive=False, role="FOLLOWER")
    world.get("Pod", f"sample-fe-{ordinal}")["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    world.look()
    return world


def held(world: World) -> bool:
    decision = world.decide()
    reasons = {finding.reason for finding in decision.findings}
    written = {item["metadata"]["name"] for item in decision.apply.get("fe", ())}
    assert ("QuorumWouldSuffer" in reasons) != ("sample-fe" in written)
    return "QuorumWouldSuffer" in reasons


def joining(world: World) -> World:
    world.frontends[1] = replace(world.frontends[1], joined=False, alive=False)
    world.look()
    return world


def leaderless(world: World) -> World:
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
        (5, lambda world: die(die(world, 1), 2), True),
        (3, lambda world: die(world, 1), True),
        (3, lambda world: die(world, 2), False),  # the first to be replaced is the dead one
        (1, lambda world: die(world, 0), False),
        (3, joining, True),
        (3, leaderless, True),
    ],
)
def test_who_must_wait(frontends: int, trouble: Callable[[World], World] | None, expected: bool) -> None:
    world = changed(fe=frontends)
    assert held(trouble(world) if trouble else world) is expected


def test_the_owner_may_consent_to_an_outage_for_one_generation() -> None:
    world = changed(fe=1)
    world.raw["metadata"]["annotations"] = {OUTAGE_CONSENT: "4"}
    assert held(world)
    world.raw["metadata"]["annotations"] = {OUTAGE_CONSENT: "5"}
    assert not held(world)


def test_more_frontends_replace_nobody() -> None:
    world = World(fe=1)
    world.raw["spec"]["starRocksFeSpec"]["replicas"] = 3
    decision = world.decide()
    assert "sample-fe" in {item["metadata"]["name"] for item in decision.apply["fe"]}
