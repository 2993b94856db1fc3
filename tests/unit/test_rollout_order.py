"""Which pod is replaced next: by the releases, the leader last, and what is broken before all."""

from __future__ import annotations

import pytest

from starrocks_operator.decision import Decision
from tests.unit.roll_world import RollWorld


def reasons(decision: Decision) -> set[str]:
    return {finding.reason for finding in decision.findings}


BACKENDS = ["sample-be-2", "sample-be-1", "sample-be-0"]


@pytest.mark.parametrize("to", ["3.5.6", "4.0.1"])
def test_an_upgrade_begins_with_the_backends_and_ends_with_the_leader(to: str) -> None:
    world = RollWorld().change(fe=to, be=to, cn=to)
    assert world.roll() == [*BACKENDS, "sample-cn-0", "sample-fe-2", "sample-fe-1", "sample-fe-0"]
    assert [world.images(name) for name in ("fe", "be", "cn")] == [{to}, {to}, {to}]


@pytest.mark.parametrize("to", ["3.5.4", "3.4.9"])
def test_a_downgrade_begins_with_the_frontends(to: str) -> None:
    world = RollWorld().change(fe=to, be=to, cn=to)
    assert world.roll() == ["sample-fe-2", "sample-fe-1", "sample-fe-0", "sample-cn-0", *BACKENDS]


def test_the_leader_is_last_wherever_it_is() -> None:
    world = RollWorld()
    world.frontends[0], world.frontends[2] = (
        world.frontends[0].__class__(**{**vars(world.frontends[0]), "role": "FOLLOWER"}),
        world.frontends[2].__class__(**{**vars(world.frontends[2]), "role": "LEADER"}),
    )
    assert world.label("fe").roll() == ["sample-fe-1", "sample-fe-0", "sample-fe-2"]


def test_observers_come_before_followers() -> None:
    world = RollWorld(observers=1)
    assert world.change(fe="3.5.6").roll()[0] == "sample-fe-observer-0"


def test_what_changes_no_release_is_rolled_backends_first_and_all_at_rest_in_the_end() -> None:
    world = RollWorld().label("fe", "be")
    assert world.roll() == [*BACKENDS, "sample-fe-2", "sample-fe-1", "sample-fe-0"]
    for name in ("fe", "be"):
        strategy = world.get("StatefulSet", f"sample-{name}")["spec"]["updateStrategy"]
        assert strategy == {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}


@pytest.mark.parametrize("slow_one", ["fe", "be", "cn"])
@pytest.mark.parametrize("to", ["3.5.6", "3.5.4", "3.5.5"])
def test_the_order_waits_for_a_controller_that_has_yet_to_take_note(to: str, slow_one: str) -> None:
    """Until then a StatefulSet's status names its former revision, and its pods look as if they were through."""
    quick, slow = (RollWorld().change(fe=to, be=to, cn=to).label("fe", "be", "cn") for _ in range(2))
    slow.slow = {slow_one}
    assert slow.roll() == quick.roll()


def test_frontends_first_where_the_spec_waits_for_them() -> None:
    world = RollWorld().label("fe", "be")
    world.raw["spec"]["waitForFullRollout"] = True
    assert world.roll() == ["sample-fe-2", "sample-fe-1", "sample-fe-0", *BACKENDS]


def test_an_upgrade_has_its_own_order_even_then() -> None:
    world = RollWorld().change(fe="3.5.6", be="3.5.6")
    world.raw["spec"]["waitForFullRollout"] = True
    assert world.roll() == [*BACKENDS, "sample-fe-2", "sample-fe-1", "sample-fe-0"]


def test_a_bad_image_stops_after_one_pod_and_the_fix_begins_with_that_pod() -> None:
    world = RollWorld().change(be="3.5.6")
    world.bad_images = {"starrocks/be-ubuntu:3.5.6"}
    for _ in range(20):
        decision = world.turn()
    assert world.order == ["sample-be-2"]
    assert decision.rollout["gate"] == "NewGenerationAlive"
    assert "CrashLoopBackOff" in decision.waits[0]
    world.change(be="3.5.7")
    assert world.roll() == ["sample-be-2", "sample-be-2", "sample-be-1", "sample-be-0"]
    assert world.images("be") == {"3.5.7"}


@pytest.mark.parametrize("component", ["fe", "be"])
def test_the_spec_before_takes_a_bad_change_back(component: str) -> None:
    world = RollWorld().change(**{component: "3.5.6"})
    world.bad_images = {f"starrocks/{component}-ubuntu:3.5.6"}
    for _ in range(20):
        world.turn()
    assert world.order == [f"sample-{component}-2"]
    world.change(**{component: "3.5.5"})
    assert world.roll() == [f"sample-{component}-2"] * 2
    assert world.images(component) == {"3.5.5"}


def test_a_roll_without_progress_is_said_with_the_name_of_the_gate() -> None:
    world = RollWorld().annotate(stall_seconds="5").change(be="3.5.6")
    world.bad_images = {"starrocks/be-ubuntu:3.5.6"}
    for _ in range(12):
        decision = world.turn()
    (finding,) = [item for item in decision.findings if item.reason == "RolloutStalled"]
    assert (
        "NewGenerationAlive objects: sample-be-2 was replaced, and its pod is Running (CrashLoopBackOff"
        in finding.message
    )
    assert finding.degraded


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"fe": "latest", "be": "3.5.6"}, "VersionUnknown"),
        ({"fe": "starrocks/fe@sha256:0123", "cn": "3.5.6"}, "VersionUnknown"),
        ({"fe": "latest"}, ""),
        ({"be": "latest"}, ""),
        ({"fe": "3.3.9", "be": "3.3.9", "cn": "3.3.9"}, "VersionPathRefused"),
        ({"fe": "4.1.0", "be": "4.1.0", "cn": "4.1.0"}, "VersionPathRefused"),
        ({"fe": "4.0.1"}, "VersionPathRefused"),  # newer than its backends
        ({"be": "3.4.9"}, "VersionPathRefused"),
        ({"be": "4.0.1"}, ""),
        ({"fe": "4.0.1", "be": "4.0.1", "cn": "4.0.1"}, ""),
    ],
)
def test_the_way_is_judged_before_anything_moves(change: dict[str, str], reason: str) -> None:
    world = RollWorld().change(**change)
    for _ in range(4):
        decision = world.turn()
    assert reasons(decision) & {"VersionUnknown", "VersionPathRefused"} == ({reason} - {""})
    assert bool(world.steps) is not bool(reason)


def test_what_a_tag_does_not_say_its_owner_may() -> None:
    world = RollWorld().change(fe="latest", be="latest", cn="latest").annotate(version="3.5.6")
    for item in ("fe", "be", "cn"):
        world.raw["spec"][f"starRocks{item.title()}Spec"]["image"] = f"mirror/{item}:latest"
    decision = world.decide()
    assert not reasons(decision)
    assert decision.rollout["pod" if "pod" in decision.rollout else "gate"]


def test_a_way_that_is_refused_can_be_vouched_for_at_one_generation() -> None:
    world = RollWorld().change(fe="4.1.0", be="4.1.0", cn="4.1.0")
    assert "VersionPathRefused" in reasons(world.decide())
    world.annotate(accept_version_path_at_generation="2")
    assert not reasons(world.decide())


def test_a_pod_that_dies_in_mid_roll_comes_back_as_it_was() -> None:
    world = RollWorld(fe=5).change(fe="3.5.6")
    while world.order != ["sample-fe-4"]:
        world.turn()
    world.turn()
    world.gone("sample-fe-1")
    world.control()
    assert world.get("Pod", "sample-fe-1")["spec"]["containers"][0]["image"].endswith("3.5.5")
    assert world.roll()[-1] == "sample-fe-0"
    assert world.images("fe") == {"3.5.6"}


def test_pods_that_an_owner_replaces_are_left_to_them_and_counted() -> None:
    world = RollWorld()
    world.raw["spec"]["starRocksBeSpec"]["updateStrategy"] = {"type": "OnDelete"}
    world.change(be="3.5.6")
    for _ in range(4):
        decision = world.turn()
    assert not world.steps
    (finding,) = decision.findings
    assert (finding.reason, finding.remark) == ("PodsWaitForOwner", True)
    assert "3 pods" in finding.message


def test_a_partition_of_the_users_is_a_floor() -> None:
    world = RollWorld()
    world.raw["spec"]["starRocksBeSpec"]["updateStrategy"] = {
        "type": "RollingUpdate",
        "rollingUpdate": {"partition": 1},
    }
    assert world.change(be="3.5.6").roll() == ["sample-be-2", "sample-be-1"]
