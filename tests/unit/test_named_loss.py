"""The loss that an owner names: exactly one leaving backend from which nothing moves any more, at one generation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lab.rehearsal import Rehearsal
from starrocks_operator.membership.named_loss import FORCE_DROP
from starrocks_operator.status import transitions
from starrocks_operator.step import StepKind
from tests.unit.membership_world import World
from tests.unit.test_membership_nodes import AUTO_DROP, HELD, SCHEDULING, drain, member, record, scaling_in

POD = "sample-be-3"


def stalled(annotation: str = f"{POD}@{{}}") -> World:
    """Four backends, of which the last is leaving, dead, and has not given away a tablet for eleven minutes."""
    world = scaling_in(be=4)
    drain(world, 3, left=7)
    record(world)
    world.backends[3] = replace(world.backends[3], alive=False)
    world.answers = {"settings": HELD}
    world.look()
    world.now = world.now.replace(minute=11)
    record(world)
    world.raw["metadata"]["annotations"] = {
        FORCE_DROP: annotation.replace("{}", str(world.raw["metadata"]["generation"]))
    }
    return world


def found(world: World) -> dict[str, str]:
    return {finding.reason: finding.message for finding in world.decide().findings}


def test_a_stall_names_the_way_out() -> None:
    world = stalled("")
    said = found(world)["ScaleInStalled"]
    assert f'{FORCE_DROP}: "{POD}@{world.raw["metadata"]["generation"]}"' in said


def test_nobody_is_invited_to_lose_data_before_the_cause_is_known() -> None:
    world = stalled("")
    world.answers = {"settings": {AUTO_DROP: "false"}}
    world.backends[3] = replace(world.backends[3], alive=True)
    world.look()
    said = found(world)["ScaleInStalled"]
    assert "the cause is not known yet" in said
    assert FORCE_DROP not in said


def test_what_is_named_while_fe_moves_nothing_is_not_asked_for_again() -> None:
    world = stalled()
    world.answers = {"settings": HELD | {SCHEDULING: "0"}}
    world.look()
    said = found(world)["ScaleInStalled"]
    assert "names it; that counts when FE is seen to be free to move tablets" in said
    assert "set the annotation" not in said


def test_what_is_named_is_said_first_and_then_shrunk_and_dropped_with_force() -> None:
    world = stalled()
    shrunk = record(world)
    assert shrunk.step is not None
    assert (shrunk.step.kind, shrunk.step.fact("pod")) == (StepKind.SHRINK_STATEFUL_SET, POD)
    assert "7 tablets are left on it" in found(world)["LossNamed"]
    before = world.raw["status"]
    assert {c["type"]: c["reason"] for c in before["conditions"]}["Degraded"] == "LossNamed"
    assert (member(world, 3)["state"], member(world, 3)["tabletsLeft"]) == ("given-up", 7)

    world.get("StatefulSet", "sample-be")["spec"]["replicas"] = 3
    assert record(world).step is None, "its pod is still there"
    world.remove("Pod", POD)
    forced = record(world).step
    assert forced is not None
    assert (forced.kind, forced.reversible) == (StepKind.FORCE_DROP_BACKEND, False)
    assert forced.target.startswith(f"{POD}.")
    assert dict(forced.expects) == {
        "id": world.backends[3].id,
        "alive": "false",
        "decommissioned": "true",
        "consent": f"{POD}@{world.raw['metadata']['generation']}",
    }
    before = world.raw["status"]
    del world.backends[3]
    world.look()
    record(world)
    told = [event for event in transitions(before, world.raw["status"]) if event.reason == "BackendForceDropped"]
    assert [event.type for event in told] == ["Warning"]
    assert "7 tablets were left on it" in told[0].message


def test_the_pod_goes_first_and_fe_must_see_that() -> None:
    world = stalled()
    world.get("StatefulSet", "sample-be")["spec"]["replicas"] = 3
    world.remove("Pod", POD)
    world.backends[3] = replace(world.backends[3], alive=True)
    world.look()
    decision = record(world)
    assert decision.step is None
    assert f"backend {POD} is given up: FE still counts it as alive" in decision.waits


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        (f"{POD}@1234", "it names generation 1234"),
        (f"{POD}", "is not of the form <pod>@<generation>"),
        (f"{POD}@{{}},sample-be-2@{{}}", "is not of the form"),
        ("*@{}", "is not of the form"),
        ("sample-be-2@{}", "it names sample-be-2, which is to stay"),
        ("sample-be-9@{}", "there is no such backend"),
    ],
)
def test_whatever_does_not_name_it_exactly_is_ignored_and_said(annotation: str, said: str) -> None:
    world = stalled(annotation)
    decision = record(world)
    assert decision.step is None
    messages = found(world)
    assert said in messages["NamedLossIgnored"]
    assert "ScaleInStalled" in messages


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda world: setattr(world, "now", world.now.replace(minute=9)), id="not for long enough"),
        pytest.param(
            lambda world: world.answers.update(settings=HELD | {SCHEDULING: "0"}), id="FE may not move tablets"
        ),
        pytest.param(lambda world: world.answers.update(settings={}), id="whether it may is not known"),
        pytest.param(
            lambda world: world.backends.__setitem__(3, replace(world.backends[3], tablets=6)), id="one has just moved"
        ),
        pytest.param(
            lambda world: (
                world.raw["status"]["members"][-2].pop("orderedBy", None)
                or [member.pop("orderedBy", None) for member in world.raw["status"]["members"]]
            ),
            id="somebody else ordered it",
        ),
        pytest.param(lambda world: world.raw["metadata"].update(generation=99), id="the spec has changed since"),
    ],
)
def test_a_named_loss_is_not_taken(change: Any) -> None:
    world = stalled()
    change(world)
    world.look()
    step = world.decide().step
    assert step is None or step.kind not in (StepKind.SHRINK_STATEFUL_SET, StepKind.FORCE_DROP_BACKEND)


def test_the_wish_comes_back_and_it_is_taken_back() -> None:
    world = stalled()
    world.raw["spec"]["starRocksBeSpec"]["replicas"] = 4
    step = world.decide().step
    assert step is not None
    assert step.kind == StepKind.CANCEL_DECOMMISSION


def test_afterwards_the_annotation_is_only_remarked_upon() -> None:
    world = World()
    world.raw["metadata"]["annotations"] = {FORCE_DROP: f"sample-be-9@{world.raw['metadata']['generation']}"}
    decision = world.decide()
    assert [(finding.reason, finding.remark) for finding in decision.findings] == [("NamedLossIgnored", True)]


# -- rehearsed -------------------------------------------------------------------------------------------------


def with_a_dead_backend(*, be: int = 4) -> Rehearsal:
    """The highest backend has the only copy of some tablets, is dead for good, and is no longer wanted."""
    made = Rehearsal(fe=3, be=be, cn=0)
    made.until_settled()
    made.create_table("plain", replication=2, tablets=12)
    made.create_table("single", replication=1, tablets=8)
    made.annotate(stall_seconds="60")
    made.let(10)
    made.stage.fault(f"sample-be-{be - 1}", "kill")
    made.let(40)
    made.wish(be=be - 1)
    made.until(lambda: made.condition("Degraded")["reason"] == "ScaleInStalled", "the scale-in to stall")
    return made


def test_nothing_is_forced_however_long_it_takes() -> None:
    made = with_a_dead_backend()
    made.let(3600)
    assert not made.stage.world.consented
    assert made.tablets_beyond("be", 3) == 2


def test_the_named_loss_and_nothing_more_is_lost() -> None:
    made = with_a_dead_backend()
    made.annotate(force_drop_backend=f"sample-be-3@{made.raw['metadata']['generation']}")
    made.until_settled()
    made.assert_whole()
    made.assert_quiet()
    marks = [mark.kind for mark in made.stage.world.consented]
    assert sorted(marks) == ["drop-with-tablets", "tablet-lost", "tablet-lost"]
    assert not made.stage.world.losses
    assert [step for step in made.steps if "ForceDrop" in step] == ["ForceDropBackend sample-be-3: done"]
    assert made.kubernetes.get("PersistentVolumeClaim", "be-data-sample-be-3"), "its volume stays"


def test_a_second_stuck_backend_needs_a_word_of_its_own() -> None:
    made = Rehearsal(fe=3, be=5, cn=0)
    made.until_settled()
    made.create_table("single", replication=1, tablets=10)
    made.annotate(stall_seconds="60")
    for ordinal in (3, 4):
        made.stage.fault(f"sample-be-{ordinal}", "kill")
    made.let(40)
    made.wish(be=3)
    made.until(lambda: made.condition("Degraded")["reason"] == "ScaleInStalled", "the scale-in to stall")
    generation = made.raw["metadata"]["generation"]
    made.annotate(force_drop_backend=f"sample-be-4@{generation}")
    made.let(1800)
    assert made.tablets_beyond("be", 3) == 2
    assert [mark.kind for mark in made.stage.world.consented].count("tablet-lost") == 2
    made.annotate(force_drop_backend=f"sample-be-3@{generation}")
    made.until_settled()
    made.assert_whole()
    assert not made.stage.world.losses
