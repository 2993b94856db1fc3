"""Hibernation as a table: who goes next, what it waits for, what refuses it, and how everybody comes back."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from starrocks_operator.decision import Decision
from starrocks_operator.deed import deed_of, is_done
from starrocks_operator.objects.sleep import AWAKE
from starrocks_operator.quiet.hibernation import HIBERNATE, WAKING
from starrocks_operator.status import status_of
from starrocks_operator.step import StepKind
from tests.unit.membership_world import World, applied, view_of


def tired(**shape: Any) -> World:
    """A cluster that shall sleep."""
    world = World(**shape)
    world.raw["metadata"]["annotations"] = {HIBERNATE: "true"}
    return world


def reasons(decision: Decision) -> list[str]:
    return [finding.reason for finding in decision.findings]


def take(world: World) -> str:
    """Do what is due: the step on the API server, or what is pruned; pods stay until they are stopped."""
    decision = world.decide()
    for key in decision.prune:
        world.remove(key.kind, key.name)
    step = decision.step
    if step is None:
        return ""
    assert step.kind == StepKind.SLEEP_STATEFUL_SET
    deed = deed_of(step, cluster=world.cluster, observed=world.observed, decision=decision)
    assert deed is not None
    assert deed.manifest is not None
    world.put(applied({**deed.manifest, "metadata": {**deed.manifest["metadata"]}}))
    assert is_done(step, world.get("StatefulSet", step.target))
    return step.target


def stop_pods(world: World, stateful_set: str) -> None:
    for kind, name in list(world.objects):
        if kind == "Pod" and name.startswith(f"{stateful_set}-") and name.removeprefix(f"{stateful_set}-").isdecimal():
            world.remove(kind, name)


def put_to_sleep(world: World) -> list[str]:
    """The StatefulSets in the order in which they go."""
    order = []
    for _ in range(20):
        if name := take(world):
            order.append(name)
            assert take(world) == "", "it waits for the pods before it"
            stop_pods(world, name)
            if name.endswith("-fe"):
                world.view = None
        if world.decide().asleep:
            return order
    raise AssertionError(world.decide())


def test_who_depends_on_others_goes_first() -> None:
    world = tired(observers=1)
    assert put_to_sleep(world) == ["sample-cn", "sample-be", "sample-fe-observer", "sample-fe"]
    assert not [name for kind, name in world.objects if kind == "HorizontalPodAutoscaler"]
    claims = [name for kind, name in world.objects if kind == "PersistentVolumeClaim"]
    assert len(claims) == 4


def test_a_sleeping_cluster_is_at_rest() -> None:
    world = tired()
    put_to_sleep(world)
    decision = world.decide()
    assert (decision.due, decision.waits) == (False, ())
    status = status_of(world.cluster, world.observed, decision, last_run=None)
    assert status["phase"] == status["starRocksFeStatus"]["phase"] == "hibernated"
    said = {condition["type"]: (condition["status"], condition["reason"]) for condition in status["conditions"]}
    assert said["Ready"] == ("False", "Hibernated")
    assert said["Progressing"] == ("False", "Hibernated")
    assert said["Degraded"] == ("False", "Healthy")
    assert said["QuorumSafe"] == ("Unknown", "Hibernated")
    world.raw["status"] = status
    assert status_of(world.cluster, world.observed, world.decide(), last_run=None) == status


def test_the_template_stays_as_it_is_while_the_spec_is_another() -> None:
    world = tired()
    world.raw["spec"]["starRocksBeSpec"]["image"] = "starrocks/be-ubuntu:3.5.6"
    before = copy.deepcopy(world.get("StatefulSet", "sample-be")["spec"]["template"])
    put_to_sleep(world)
    assert world.get("StatefulSet", "sample-be")["spec"]["template"] == before


def wake(world: World) -> None:
    world.raw["metadata"]["annotations"] = {}


def test_frontends_wake_up_first_and_all_together() -> None:
    world = tired()
    put_to_sleep(world)
    wake(world)
    decision = world.decide()
    assert list(decision.apply) == ["fe"]
    assert WAKING in decision.waits
    world.settle()
    assert world.get("StatefulSet", "sample-fe")["spec"]["replicas"] == 3
    assert AWAKE not in world.get("StatefulSet", "sample-fe")["metadata"]["annotations"]
    assert world.get("StatefulSet", "sample-be")["spec"]["replicas"] == 0
    world.view = view_of(world.frontends, world.backends, world.compute_nodes)
    world.settle()
    assert world.get("StatefulSet", "sample-be")["spec"]["replicas"] == 3
    assert [name for kind, name in world.objects if kind == "HorizontalPodAutoscaler"]


def test_all_wake_up_though_fewer_are_wanted_by_then() -> None:
    world = tired()
    put_to_sleep(world)
    world.raw["spec"]["starRocksBeSpec"]["replicas"] = 2
    wake(world)
    world.view = view_of(world.frontends, world.backends, world.compute_nodes)
    assert world.decide().step is None
    world.settle()
    assert world.get("StatefulSet", "sample-be")["spec"]["replicas"] == 3


def test_a_change_of_the_spec_is_applied_on_waking() -> None:
    world = tired()
    put_to_sleep(world)
    world.raw["spec"]["starRocksFeSpec"]["image"] = "starrocks/fe-ubuntu:3.5.6"
    assert not world.decide().due
    wake(world)
    world.settle()
    template = world.get("StatefulSet", "sample-fe")["spec"]["template"]
    assert template["spec"]["containers"][0]["image"] == "starrocks/fe-ubuntu:3.5.6"


def test_half_way_it_can_be_taken_back() -> None:
    world = tired()
    while take(world) != "sample-cn":
        pass
    stop_pods(world, "sample-cn")
    wake(world)
    world.settle()
    assert world.get("StatefulSet", "sample-cn")["spec"]["replicas"] == 1
    assert AWAKE not in world.get("StatefulSet", "sample-cn")["metadata"]["annotations"]


def on_empty_dir(world: World) -> None:
    live = world.get("StatefulSet", "sample-be")["spec"]
    del live["volumeClaimTemplates"]
    live["template"]["spec"]["volumes"] = [{"name": "be-data", "emptyDir": {}}]


def deleted_when_scaled(world: World) -> None:
    live = world.get("StatefulSet", "sample-be")["spec"]
    live["persistentVolumeClaimRetentionPolicy"] = {"whenScaled": "Delete"}


def one_after_the_other(world: World) -> None:
    world.get("StatefulSet", "sample-fe")["spec"]["podManagementPolicy"] = "OrderedReady"


def without_backends_in_the_spec(world: World) -> None:
    del world.raw["spec"]["starRocksBeSpec"]


@pytest.mark.parametrize(
    "obstacle", [on_empty_dir, deleted_when_scaled, one_after_the_other, without_backends_in_the_spec]
)
def test_it_is_refused_where_something_would_be_lost(obstacle: Any) -> None:
    world = tired()
    obstacle(world)
    decision = world.decide()
    assert "HibernationRefused" in reasons(decision)
    assert decision.step is None
    assert not decision.asleep


def test_a_decommission_is_finished_before() -> None:
    world = tired()
    world.backends[2] = replace(world.backends[2], decommissioned=True)
    world.look()
    decision = world.decide()
    assert decision.step is None or decision.step.kind != StepKind.SLEEP_STATEFUL_SET
    assert any("hibernation begins when" in wait and "decommissioned" in wait for wait in decision.waits)


def test_backends_are_not_stopped_while_nobody_can_tell_of_decommissions() -> None:
    world = tired()
    world.view = None
    assert world.decide().step is None
