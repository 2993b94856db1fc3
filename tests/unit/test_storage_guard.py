"""Volumes are never taken from under a component: what is held, what is kept, and what an owner may consent to."""

from __future__ import annotations

from typing import Any

import pytest

from starrocks_operator.storage import LOSS_CONSENT
from tests.unit.membership_world import World

FE, BE = "starRocksFeSpec", "starRocksBeSpec"


def findings(world: World) -> dict[str, str]:
    return {finding.reason: finding.message for finding in world.decide().findings}


def due(world: World) -> set[str]:
    """What is written, by name."""
    return {item["metadata"]["name"] for items in world.decide().apply.values() for item in items}


def volumes(world: World, field: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = world.raw["spec"][field]["storageVolumes"]
    return listed


def on_empty_dirs(**replicas: int) -> World:
    """A founded cluster whose metadata and tablets lie in emptyDirs."""
    world = World(**replicas)
    for field in (FE, BE):
        world.raw["spec"][field]["storageVolumes"] = []
        world.remove("StatefulSet", f"sample-{field[9:11].lower()}")
    world.settle()
    return world


def test_a_grown_volume_keeps_its_size_and_everything_else_is_applied() -> None:
    world = World()
    volumes(world, BE)[0]["storageSize"] = "2Gi"
    world.raw["spec"][BE]["image"] = "starrocks/be-ubuntu:3.5.6"
    decision = world.decide()
    assert "made with 1Gi and shall have 2Gi" in findings(world)["VolumeGrowthNotSupported"]
    stateful_set = next(item for item in decision.apply["be"] if item["kind"] == "StatefulSet")
    assert stateful_set["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"] == "1Gi"
    assert stateful_set["spec"]["template"]["spec"]["containers"][0]["image"].endswith("3.5.6")


def test_the_same_size_in_other_words_is_no_growth() -> None:
    world = World()
    volumes(world, BE)[0]["storageSize"] = "1024Mi"
    assert findings(world) == {}
    assert not world.decide().due


@pytest.mark.parametrize("field", [FE, BE])
@pytest.mark.parametrize("change", ["removed", "emptied", "added", "another class"])
def test_other_changes_of_volumes_hold_the_component(field: str, change: str) -> None:
    world = World()
    listed = volumes(world, field)
    match change:
        case "removed":
            listed.clear()
        case "emptied":
            listed[0]["storageClassName"] = "emptyDir"
        case "added":
            listed.append({"name": "more", "mountPath": "/more", "storageSize": "1Gi"})
        case "another class":
            listed[0]["storageClassName"] = "fast"
    assert "VolumeChangeNotSupported" in findings(world)
    assert due(world) == set()
    component = field[9:11].lower()
    assert component in world.decide().held


@pytest.mark.parametrize(("replicas", "held"), [(1, True), (2, True), (3, False), (5, False)])
def test_frontends_on_empty_dirs_are_replaced_only_if_they_can_take_each_in_again(replicas: int, held: bool) -> None:
    world = on_empty_dirs(fe=replicas)
    world.raw["spec"][FE]["image"] = "starrocks/fe-ubuntu:3.5.6"
    assert ("VolatileStorage" in findings(world)) is held
    assert ("sample-fe" in due(world)) is not held


def test_backends_on_empty_dirs_that_hold_tablets_are_not_replaced() -> None:
    world = on_empty_dirs()
    world.raw["spec"][BE]["image"] = "starrocks/be-ubuntu:3.5.6"
    assert "30 tablet replicas" in findings(world)["VolatileStorage"]
    assert due(world) == set()


def test_more_pods_on_empty_dirs_replace_nothing() -> None:
    world = on_empty_dirs()
    world.raw["spec"][BE]["replicas"] = 5
    assert "VolatileStorage" not in findings(world)
    assert "sample-be" in due(world)


def test_the_owner_may_consent_to_the_loss_for_one_generation() -> None:
    world = on_empty_dirs()
    world.raw["spec"][BE]["image"] = "starrocks/be-ubuntu:3.5.6"
    world.raw["metadata"]["generation"] = 7
    world.raw["metadata"]["annotations"] = {LOSS_CONSENT: "6"}
    assert due(world) == set()
    world.raw["metadata"]["annotations"] = {LOSS_CONSENT: "7"}
    assert "sample-be" in due(world)
    assert findings(world) == {}
