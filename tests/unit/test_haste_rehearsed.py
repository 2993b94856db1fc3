"""What FE does not know yet, and what would be the case only later: nothing is replaced on the strength of old news."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

from lab.rehearsal import Rehearsal, rehearsal
from lab.rehearsal.controllers import pods_of
from lab.rehearsal.invariants import HUMAN
from starrocks_operator.membership import Pod
from starrocks_operator.observed import Raw
from starrocks_operator.rollout.record import record_of
from tests.unit.membership_world import NOW
from tests.unit.roll_world import RollWorld
from tests.unit.test_rollout_mechanics import AT_REST, NEW, OLD, desired, live, pods, roll


def running(*, written: bool = False, **replicas: int) -> Rehearsal:
    made = Rehearsal(**replicas)
    made.until_settled()
    made.create_table("plain", replication=3, tablets=12, written=written)
    made.let(40)
    return made


def deletions(made: Rehearsal, component: str) -> list[tuple[float, str, list[str]]]:
    """When a pod of the component began to go, not by a person's hand, and which others were not ready then."""
    found: list[tuple[float, str, list[str]]] = []

    def noticed(by: str, before: Raw | None, after: Raw | None) -> None:
        if after is None or before is None or after["kind"] != "Pod" or by == HUMAN:
            return
        name, news = after["metadata"]["name"], not before["metadata"].get("deletionTimestamp")
        if name.startswith(f"sample-{component}-") and news and after["metadata"].get("deletionTimestamp"):
            others = (Pod.of(raw) for raw in pods_of(made.kubernetes, component) if raw["metadata"]["name"] != name)
            found.append((made.now, name, [pod.name for pod in others if not pod.ready]))

    made.kubernetes.listeners.append(noticed)
    return found


@pytest.mark.parametrize(("component", "seconds"), [("be", 2), ("be", 4), ("fe", 4)])
def test_a_pod_that_was_evicted_just_before_a_roll_is_back_before_the_next_one_goes(
    component: str, seconds: float
) -> None:
    made = running(fe=3, be=4, cn=1)
    gone = deletions(made, component)
    made.kubernetes.delete("Pod", f"sample-{component}-0", by=HUMAN)
    made.let(seconds)
    made.edit(component, podLabels={"round": "1"})
    made.until_settled()
    assert len(gone) == made.wished(component)
    assert [others for _, _, others in gone if others] == []


@pytest.mark.parametrize("component", ["fe", "be"])
def test_pods_restarted_on_request_wait_until_fe_must_have_noticed_the_one_before(component: str) -> None:
    made = running(written=True)
    gone = deletions(made, component)
    at = made.kubernetes.now()
    made.let(2)
    made.annotate(restart_pods=",".join(f"sample-{component}-{ordinal}@{at}" for ordinal in (2, 1, 0)))
    made.until(lambda: len(gone) == 3, "the restarts")
    made.until_settled()
    times = [moment for moment, _, _ in gone]
    assert min(later - earlier for earlier, later in itertools.pairwise(times)) >= 30


def test_what_was_unhealthy_when_the_roll_began_is_no_excuse_once_it_has_healed() -> None:
    world = RollWorld().label("be")
    rolls = [roll("be", desired(), live("new", AT_REST, update=NEW), pods(OLD, OLD, NEW))]
    world.raw["status"]["rollout"] = record_of(world.cluster, [], NOW, unhealthy=12).document()
    assert record_of(world.cluster, rolls, NOW, unhealthy=15).baseline == 12
    healed = record_of(world.cluster, rolls, NOW, unhealthy=3)
    assert healed.baseline == 3
    world.raw["status"]["rollout"] = replace(healed, gate="").document()
    assert record_of(world.cluster, rolls, NOW, unhealthy=9).baseline == 3


def asleep(**replicas: int) -> Rehearsal:
    made = running(**replicas)
    made.annotate(hibernate="true")
    made.until(lambda: made.condition("Ready").get("reason") == "Hibernated", "sleep")
    return made


def test_a_forbidden_way_is_not_gone_in_sleep_either() -> None:
    made = asleep()
    made.release("2.5.3")
    made.annotate(hibernate="false")
    made.let(120)
    assert not [key for key in made.kubernetes.objects if key.kind == "Pod"]
    assert made.condition("Degraded")["reason"] == "VersionPathRefused"
    made.release("3.4.2")
    made.until_settled()
    made.assert_whole()
    made.assert_quiet()


def test_what_does_not_start_after_sleep_can_be_fixed() -> None:
    made = asleep()
    made.release("3.3.9-broken", "fe")
    made.annotate(hibernate="false")
    made.let(120)
    made.release("3.3.10", "fe")
    made.until_settled()
    made.let(60)
    made.assert_whole()
    made.assert_quiet()


@pytest.mark.parametrize("seconds", [10, 40, 80])
def test_in_mid_roll_it_goes_to_sleep_and_wakes_up_rolled_out(seconds: float) -> None:
    made = running()
    for component in ("fe", "be", "cn"):
        made.edit(component, podLabels={"round": "1"})
    made.let(seconds)
    made.annotate(hibernate="true")
    made.until(lambda: made.condition("Ready").get("reason") == "Hibernated", "sleep")
    made.annotate(hibernate="false")
    made.until_settled()
    made.assert_whole()
    made.assert_quiet()


def test_a_broken_frontend_goes_no_forbidden_way() -> None:
    made = running()
    follower = made.stage.followers("sample")[-1]
    made.stage.fault(follower, "kill")
    made.let(100)
    made.release("2.5.3", "fe")
    made.let(100)
    assert made.condition("Degraded")["reason"] == "VersionPathRefused"
    assert not [step for step in made.steps if "OfferTemplate" in step]


def test_backends_on_empty_dirs_are_replaced_when_the_one_before_has_told_what_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = rehearsal.manifest

    def manifest(**replicas: int) -> dict[str, Any]:
        made = whole(**replicas)
        del made["spec"]["starRocksBeSpec"]["storageVolumes"]
        return made

    monkeypatch.setattr(rehearsal, "manifest", manifest)
    made = running()
    gone = deletions(made, "be")
    made.edit("be", podLabels={"round": "1"})
    made.until_settled()
    made.let(300)
    made.assert_whole()
    assert [pod for _, pod, _ in gone] == ["sample-be-2", "sample-be-1", "sample-be-0"]
    times = [moment for moment, _, _ in gone]
    assert min(later - earlier for earlier, later in itertools.pairwise(times)) >= 180


DIGITS = "9" * 5000
HOSTILE = {
    "an endless ordinal": {"restart_pods": f"sample-be-{DIGITS}@2026-05-01T12:00:00Z"},
    "before the first year": {"restart_pods": "sample-be-0@0001-01-01T00:00:00+14:00"},
    "after the last year": {"restart_be": "9999-12-31T23:59:59-14:00"},
    "an endless release": {"version": f"{DIGITS}.1.1"},
}


@pytest.mark.parametrize("case", HOSTILE)
def test_annotations_that_mean_nothing_break_nothing(case: str) -> None:
    world = RollWorld().label("be").change(be="private/be:custom").annotate(**HOSTILE[case])
    world.turn()
    world.turn()


def test_an_offer_written_by_another_hand_is_taken_back() -> None:
    world = RollWorld().label("fe")
    world.turn()
    world.turn()
    world.get("StatefulSet", "sample-fe")["metadata"]["annotations"]["starrocks.com/template-offered-to"] = "garbage"
    world.roll()


def test_a_status_written_by_another_hand_breaks_nothing() -> None:
    world = RollWorld().label("be")
    world.raw["status"]["rollout"] = {"since": "2026-01-01T00:00:00Z", "seen": "0001-01-01T00:00:00+14:00"}
    world.turn()


def test_a_restart_in_the_far_future_is_not_done_and_stands_in_nobodys_way() -> None:
    world = RollWorld().annotate(restart_be="2999-01-01T00:00:00Z")
    decision = world.turn()
    assert (decision.apply, decision.step) == ({}, None)
    assert [finding.reason for finding in decision.findings] == ["RestartNotUnderstood"]
