"""Pause, kept templates and restarts on request: what is decided, and what is left alone."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from starrocks_operator.decision import Decision, Finding
from starrocks_operator.objects.metadata import TEMPLATE_HASH, TEMPLATE_SOURCE
from starrocks_operator.objects.restarts import RESTARTED, moment
from starrocks_operator.quiet.pause import PAUSED
from starrocks_operator.quiet.templates import ACCEPTED
from starrocks_operator.rollout.restart import RESTART_PODS
from starrocks_operator.status import status_of
from starrocks_operator.step import StepKind
from tests.unit.membership_world import World, at
from tests.unit.roll_world import RollWorld


def annotate(world: World, **annotations: str) -> None:
    names = {"paused": PAUSED, "accept": ACCEPTED, "pods": RESTART_PODS, "be": "starrocks.com/restart-be"}
    known = world.raw["metadata"].setdefault("annotations", {})
    known.update({names[name]: value for name, value in annotations.items()})


def finding(decision: Decision, reason: str) -> Finding | None:
    return next((found for found in decision.findings if found.reason == reason), None)


def condition(world: World, kind: str) -> dict[str, Any]:
    status = status_of(world.cluster, world.observed, world.decide(), last_run=None)
    return next(found for found in status["conditions"] if found["type"] == kind)


# -- pause -----------------------------------------------------------------------------------------------------------


def test_a_paused_cluster_that_is_as_wished_is_ready_and_says_that_it_is_paused() -> None:
    world = World()
    annotate(world, paused="true")
    ready = condition(world, "Ready")
    assert (ready["status"], "Paused" in ready["message"]) == ("True", True)
    assert not world.decide().due


def test_what_a_paused_cluster_would_have_done_is_said_and_not_done() -> None:
    world = World()
    annotate(world, paused="true")
    world.raw["spec"]["starRocksBeSpec"]["image"] = "starrocks/be-ubuntu:3.5.6"
    decision = world.decide()
    assert (decision.due, decision.waits, decision.apply, decision.prune) == (False, (), {}, ())
    ready, progressing = condition(world, "Ready"), condition(world, "Progressing")
    assert (ready["status"], ready["reason"]) == ("False", "Paused")
    assert "StatefulSet/sample-be: what is wanted of it has changed" in ready["message"]
    assert (progressing["status"], progressing["reason"]) == ("False", "Paused")
    assert condition(world, "Degraded")["status"] == "False"


def test_no_step_is_taken_in_a_paused_cluster() -> None:
    world = World()
    world.raw["spec"]["starRocksBeSpec"]["replicas"] = 2
    world.answers = {"settings": {"drop_backend_after_decommission": "false"}, "replication": 1}
    world.look()
    annotate(world, paused="true")
    assert world.decide().step is None
    annotate(world, paused="false")
    assert world.decide().due


# -- templates of another release ------------------------------------------------------------------------------------


def made_by_another_release(world: World, name: str = "sample-be") -> str:
    """The live template is one that this release would not make of the same words."""
    live = copy.deepcopy(world.get("StatefulSet", name))
    live["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 77
    live["metadata"]["annotations"][TEMPLATE_HASH] = "former"
    wanted: str = world.get("StatefulSet", name)["metadata"]["annotations"][TEMPLATE_HASH]
    world.put(live)
    return wanted


def grace_period(world: World, name: str = "sample-be") -> int:
    period: int = world.get("StatefulSet", name)["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
    return period


def test_a_template_of_another_release_is_kept() -> None:
    world = World()
    wanted = made_by_another_release(world)
    decision = world.decide()
    remark = finding(decision, "TemplateOutdated")
    assert remark is not None
    assert remark.remark
    assert wanted in remark.message
    assert decision.step is None
    world.settle()
    assert grace_period(world) == 77
    assert world.get("StatefulSet", "sample-be")["metadata"]["annotations"][TEMPLATE_HASH] == "former"
    assert not world.decide().due
    assert condition(world, "Ready")["status"] == "True"


def test_it_is_taken_when_its_owner_agrees() -> None:
    world = World()
    annotate(world, accept=f"other, {made_by_another_release(world)}")
    assert finding(world.decide(), "TemplateOutdated") is None
    world.settle()
    assert grace_period(world) == 120


@pytest.mark.parametrize(("field", "value"), [("image", "starrocks/be-ubuntu:3.5.6"), ("podLabels", {"a": "b"})])
def test_it_is_taken_with_a_change_of_its_component(field: str, value: Any) -> None:
    world = World()
    made_by_another_release(world)
    world.raw["spec"]["starRocksBeSpec"][field] = value
    assert finding(world.decide(), "TemplateOutdated") is None


@pytest.mark.parametrize(("field", "value"), [("replicas", 4), ("service", {"type": "NodePort"})])
def test_a_change_that_no_template_shows_is_no_consent(field: str, value: Any) -> None:
    world = World()
    made_by_another_release(world)
    world.raw["spec"]["starRocksBeSpec"][field] = value
    assert finding(world.decide(), "TemplateOutdated") is not None


def test_a_volume_may_grow_without_a_new_template() -> None:
    world = World()
    source = world.get("StatefulSet", "sample-be")["metadata"]["annotations"][TEMPLATE_SOURCE]
    world.raw["spec"]["starRocksBeSpec"]["storageVolumes"][0]["storageSize"] = "2Gi"
    world.settle()
    assert world.get("StatefulSet", "sample-be")["metadata"]["annotations"][TEMPLATE_SOURCE] == source


def test_what_was_made_before_that_mark_is_changed_as_ever() -> None:
    world = World()
    made_by_another_release(world)
    del world.get("StatefulSet", "sample-be")["metadata"]["annotations"][TEMPLATE_SOURCE]
    assert finding(world.decide(), "TemplateOutdated") is None


# -- restart on request ----------------------------------------------------------------------------------------------


def template_moment(world: World) -> str | None:
    template = world.get("StatefulSet", "sample-be")["spec"]["template"]
    moment: str | None = (template["metadata"].get("annotations") or {}).get(RESTARTED)
    return moment


def test_a_restart_of_a_component_is_a_change_of_its_template_and_stays() -> None:
    world = World()
    annotate(world, be="2026-11-21T11:00:00Z")
    world.settle()
    assert template_moment(world) == "2026-11-21T11:00:00Z"
    world.raw["metadata"]["annotations"].clear()
    world.settle()
    assert template_moment(world) == "2026-11-21T11:00:00Z"
    annotate(world, be="2026-11-20T11:00:00Z")  # they are younger than that
    world.settle()
    assert template_moment(world) == "2026-11-21T11:00:00Z"


@pytest.mark.parametrize("text", ["now", "2026-11-21T11:00:00", "yesterday"])
def test_a_restart_that_is_not_understood_is_said(text: str) -> None:
    world = World()
    annotate(world, be=text)
    decision = world.decide()
    remark = finding(decision, "RestartNotUnderstood")
    assert remark is not None
    assert remark.remark
    assert not decision.due


def test_a_pod_that_is_older_than_asked_is_deleted() -> None:
    world = RollWorld()
    annotate(world, pods=f"sample-be-1@{at(-10)}")
    assert world.turn().step is None, "FE is asked for the health of its tablets first"
    world.look()
    decision = world.decide()
    assert decision.step is not None
    assert (decision.step.kind, decision.step.target) == (StepKind.DELETE_POD, "sample-be-1")
    assert decision.step.fact("uid") == world.get("Pod", "sample-be-1")["metadata"]["uid"]
    world.get("Pod", "sample-be-1")["metadata"]["creationTimestamp"] = at(-5)
    assert not world.decide().due


def test_only_one_pod_at_a_time_and_none_while_another_is_missing() -> None:
    world = World()
    annotate(world, pods=f"sample-be-1@{at(-10)}, sample-be-2@{at(-10)}")
    world.remove("Pod", "sample-be-1")
    decision = world.decide()
    assert decision.step is None
    assert any("sample-be-2 is to be restarted, but not yet" in wait for wait in decision.waits)


def test_a_gate_stops_a_restart() -> None:
    world = World()
    annotate(world, pods=f"sample-be-1@{at(-10)}")
    world.backends[0] = replace(world.backends[0], alive=False)
    world.look()
    assert world.decide().step is None


def test_a_moment_that_is_near_is_waited_for() -> None:
    world = World()
    annotate(world, pods=f"sample-be-1@{at(60)}")
    decision = world.decide()
    assert decision.step is None
    assert any("is to be restarted at" in wait for wait in decision.waits)


@pytest.mark.parametrize(
    "word", ["sample-be-1", "sample-be-9@2026-11-21T11:00:00Z", "x@y@z", f"sample-be-1@{at(9000)}"]
)
def test_a_restart_of_what_is_no_pod_is_said(word: str) -> None:
    world = World()
    annotate(world, pods=word)
    decision = world.decide()
    assert finding(decision, "RestartNotUnderstood") is not None
    assert not decision.due
    assert not decision.waits


def test_moments_have_a_zone() -> None:
    assert moment("2026-05-01T12:00:00+02:00") == moment("2026-05-01T10:00:00Z")
    assert moment("2026-05-01T12:00:00") is None
