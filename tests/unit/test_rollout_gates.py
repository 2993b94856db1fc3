"""Each gate by itself: who is asked, what it says, and its off-switch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from starrocks_operator.decision import Decision
from starrocks_operator.observed import Health
from tests.unit.roll_world import RollWorld

Trouble = Callable[[RollWorld], None]


def health(**counts: int) -> Trouble:
    def lay(world: RollWorld) -> None:
        world.health = Health(**({"unhealthy": 0, "clones": 0, "backups": 0} | counts))

    return lay


def row(rows: str, ordinal: int, **changes: Any) -> Trouble:
    def lay(world: RollWorld) -> None:
        listed = getattr(world, rows)
        listed[ordinal] = replace(listed[ordinal], **changes)

    return lay


def both_die(world: RollWorld) -> None:
    for ordinal in (1, 2):
        row("frontends", ordinal, alive=False)(world)


def waiting(component: str, trouble: Trouble, **annotations: str) -> Decision:
    """The decision when one pod has been replaced and the trouble comes."""
    world = RollWorld(fe=5).annotate(**annotations).label(component)
    while not world.order:
        world.turn()
    trouble(world)
    for _ in range(6):
        decision = world.turn()
    return decision


CASES = [
    ("be", health(unhealthy=2), "NoUnhealthyTablets", "2 tablets lack good copies"),
    ("fe", health(unhealthy=2), "", ""),
    ("be", health(clones=3), "NoPendingClones", "3 tablets are being copied"),
    ("fe", health(clones=3), "", ""),
    ("be", health(backups=1), "NoBackup", "1 backup or restore jobs are running"),
    ("fe", health(backups=1), "NoBackup", "1 backup or restore jobs are running"),
    ("be", row("backends", 0, alive=False), "BackendsAlive", "sample-be-0 is not alive"),
    ("fe", row("backends", 0, alive=False), "", ""),
    ("be", row("backends", 0, decommissioned=True), "NoDecommission", "sample-be-0 is being decommissioned"),
    ("be", row("backends", 2, alive=False), "NewGenerationAlive", "FE does not count it as alive"),
    ("fe", both_die, "QuorumAfterStop", "only 3 of 5 followers are alive"),
    ("fe", row("frontends", 0, replayed_journal_id=5000), "JournalLag", "journal entries behind"),
]


@pytest.mark.parametrize(("component", "trouble", "gate", "said"), CASES)
def test_a_gate_objects_with_its_name_and_a_reason(component: str, trouble: Trouble, gate: str, said: str) -> None:
    decision = waiting(component, trouble)
    assert decision.rollout.get("gate", "") == gate
    assert said in "; ".join(decision.waits)


@pytest.mark.parametrize(("component", "trouble", "gate", "said"), [case for case in CASES if case[2]])
def test_each_has_an_off_switch_for_one_generation(component: str, trouble: Trouble, gate: str, said: str) -> None:
    assert waiting(component, trouble, skip_rollout_gates=f"Other, {gate}@1").rollout["gate"] == gate
    assert waiting(component, trouble, skip_rollout_gates=f"Other, {gate}@2").rollout.get("gate", "") != gate


def test_what_was_unhealthy_before_does_not_count() -> None:
    world = RollWorld()
    world.health = replace(world.health, unhealthy=4)
    assert len(world.label("be").roll()) == 3


def test_a_release_that_does_not_tell_is_taken_at_its_backends() -> None:
    world = RollWorld()
    world.health = Health()
    assert len(world.label("be").roll()) == 3
