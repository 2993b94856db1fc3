"""What is changed in FE around a pod that is replaced, and that all of it is put back whatever happens."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from starrocks_operator.step import StepKind
from tests.unit.roll_world import DEFAULTS, RollWorld

SCHEDULING = "tablet_sched_max_scheduling_tablets"
BALANCE = "tablet_sched_disable_balance"


def with_lists(**replicas: int) -> RollWorld:
    world = RollWorld(**replicas)
    world.lists = {f"sample-fe-{ordinal}": set() for ordinal in range(len(world.frontends))}
    return world


def kinds(world: RollWorld) -> list[tuple[str, str]]:
    return [(str(step.kind), step.target.split(".")[0]) for step in world.steps]


def test_a_backend_gets_no_queries_from_before_it_stops_until_it_is_back() -> None:
    world = with_lists(be=1, cn=None).label("be")
    world.roll()
    assert kinds(world) == [
        ("DivertQueries", "sample-be-0"),
        ("ReplacePod", "sample-be-0"),
        ("ReadmitQueries", "sample-be-0"),
    ]
    assert set(map(len, world.lists.values())) == {0}


def test_one_gets_queries_again_before_the_next_gets_none() -> None:
    world = with_lists().label("be")
    while len(world.order) < 3:
        world.turn()
        assert len({number for ids in world.lists.values() for number in ids}) <= 1


def test_compute_nodes_have_lists_of_their_own() -> None:
    world = with_lists().label("cn")
    world.roll()
    assert [step.fact("list") for step in world.steps] == ["COMPUTE NODE", "", "COMPUTE NODE"]


@pytest.mark.parametrize("component", ["be", "cn"])
def test_a_pod_restarted_on_request_gets_no_queries_either_until_it_is_back(component: str) -> None:
    world = with_lists(cn=2)
    pods = [f"sample-{component}-{ordinal}" for ordinal in (1, 0)]
    world.annotate(restart_pods=", ".join(f"{pod}@{world.instant()}" for pod in pods))
    world.now += timedelta(minutes=1)
    for _ in range(100):
        world.turn()
    assert world.order == pods
    around = ("DivertQueries", "DeletePod", "ReadmitQueries")
    assert kinds(world) == [(kind, pod) for pod in pods for kind in around]
    assert set(map(len, world.lists.values())) == {0}


def test_a_request_withdrawn_in_time_changes_nothing() -> None:
    world = with_lists()
    world.annotate(restart_pods=f"sample-be-1@{world.instant()}")
    while not world.steps:
        world.turn()
    world.annotate(restart_pods="")
    world.roll()
    assert kinds(world) == [("DivertQueries", "sample-be-1"), ("ReadmitQueries", "sample-be-1")]
    assert world.order == []


def test_one_that_is_not_replaced_after_all_gets_queries_again() -> None:
    world = with_lists().label("be")
    while not world.steps:
        world.turn()
    world.label("be", value="1")
    del world.raw["spec"]["starRocksBeSpec"]["podLabels"]
    world.roll()
    assert kinds(world) == [("DivertQueries", "sample-be-2"), ("ReadmitQueries", "sample-be-2")]


def test_whom_it_keeps_queries_from_is_known_from_the_marker_alone() -> None:
    world = with_lists().label("be")
    while not world.steps:
        world.turn()
    world.remember()
    assert "quiet be/10002" in world.get("ConfigMap", "sample-fe-bootstrap")["data"]["memory"]
    del world.raw["spec"]["starRocksBeSpec"]["podLabels"]
    world.raw["status"] = {"phase": "running", "bootstrap": world.raw["status"]["bootstrap"]}
    world.roll()
    assert kinds(world)[-1] == ("ReadmitQueries", "sample-be-2")


def test_no_setting_is_touched_for_a_patch_release() -> None:
    world = RollWorld().change(fe="3.5.6", be="3.5.6", cn="3.5.6")
    world.roll()
    assert not {step.kind for step in world.steps} & {StepKind.HOLD_SETTING, StepKind.RESTORE_SETTING}


def test_between_minor_releases_nothing_is_balanced_and_repair_is_off_only_while_a_backend_is_down() -> None:
    world = RollWorld().change(fe="4.0.1", be="4.0.1", cn="4.0.1")
    off: list[bool] = []
    while len(world.order) < 7:
        before = len(world.order)
        world.turn()
        if len(world.order) > before:
            off.append(world.settings[SCHEDULING] == "0")
            assert world.settings[BALANCE] == "true" or "fe" in world.order[-1]
    assert off == [True, True, True, False, False, False, False]
    world.roll()
    assert world.settings == DEFAULTS
    assert not world.raw["status"]["heldSettings"]
    held = [step.target for step in world.steps if step.kind == StepKind.HOLD_SETTING]
    assert held.count(SCHEDULING) == 3, "off for each backend, and on in between"


@pytest.mark.parametrize("tag", ["3.5.99", "4.0.1"])
def test_who_comes_after_the_backends_waits_until_their_copies_are_made_good(tag: str) -> None:
    world = with_lists(be=3, cn=1).change(be=tag, cn=tag, fe=tag)
    for _ in range(60):
        world.turn()
        if len(world.order) == 3:
            break
    world.health = replace(world.health, unhealthy=12)
    for _ in range(20):
        decision = world.turn()
    assert world.order == ["sample-be-2", "sample-be-1", "sample-be-0"]
    assert decision.rollout["gate"] == "NoUnhealthyTablets"
    assert world.settings[SCHEDULING] == DEFAULTS[SCHEDULING], "or they would never be made good"
    world.health = replace(world.health, unhealthy=0)
    assert len(world.roll()) == 7


def test_values_of_the_users_are_what_comes_back() -> None:
    world = RollWorld().change(fe="4.0.1", be="4.0.1", cn="4.0.1")
    world.settings |= {SCHEDULING: "500", BALANCE: "true"}
    while not any(step.kind == StepKind.RESTORE_SETTING for step in world.steps):
        world.turn()
    assert world.settings[SCHEDULING] == "500"
    assert BALANCE not in {step.target for step in world.steps}


@settings(max_examples=12, deadline=None, phases=(Phase.explicit, Phase.generate))
@example(lost={6}, back=17)
@given(lost=st.sets(st.integers(1, 60), max_size=3), back=st.integers(1, 60))
def test_all_is_put_back_though_the_status_is_lost_and_the_change_taken_back_at_any_moment(
    lost: set[int], back: int
) -> None:
    world = with_lists(be=2, cn=1).change(fe="4.0.1", be="4.0.1", cn="4.0.1")
    for turn in range(60):
        if turn in lost:
            world.raw["status"] = {"phase": "running", "bootstrap": world.raw["status"]["bootstrap"]}
        if turn == back:
            world.change(fe="3.5.5", be="3.5.5", cn="3.5.5")
        world.turn()
    world.roll(400)
    assert world.settings == DEFAULTS
    assert set(map(len, world.lists.values())) == {0}
