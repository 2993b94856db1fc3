"""Volumes are never taken from under a component: what is held, what is kept, and what an owner may consent to."""

from __future__ import annotations

from typing import Any

import pytest

from starrocks_operator.observed import Configuration
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
    assert "be" not in decision.held
    stateful_set = next(item for item in decision.apply["be"] if item["kind"] == "StatefulSet")
    assert stateful_set["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"] == "1Gi"
    assert stateful_set["spec"]["template"]["spec"]["containers"][0]["image"].endswith("3.5.6")


def test_the_same_size_in_other_words_is_no_growth() -> None:
    world = World()
    volumes(world, BE)[0]["storageSize"] = "1024Mi"
    assert findings(world) == {}
    assert not world.decide().due


@pytest.mark.parametrize("field", [FE, BE])
@pytest.mark.parametrize("change", ["removed", "emptied", "renamed", "added under OnDelete", "another class"])
def test_other_changes_of_volumes_hold_the_component(field: str, change: str) -> None:
    world = World()
    listed = volumes(world, field)
    match change:
        case "removed":
            listed.clear()
        case "emptied":
            listed[0]["storageClassName"] = "emptyDir"
        case "renamed":
            listed[0]["name"] = "other"
        case "added under OnDelete":
            listed.append({"name": "more", "mountPath": "/more", "storageSize": "1Gi"})
            world.raw["spec"][field]["updateStrategy"] = {"type": "OnDelete"}
        case "another class":
            listed[0]["storageClassName"] = "fast"
    assert "VolumeChangeNotSupported" in findings(world)
    assert due(world) == set()
    component = field[9:11].lower()
    assert component in world.decide().held


def test_more_pods_on_empty_dirs_replace_nothing() -> None:
    world = on_empty_dirs()
    world.raw["spec"][BE]["replicas"] = 5
    assert "VolatileStorage" not in findings(world)
    assert "sample-be" in due(world)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        (BE, {"mountPath": "/data/be"}),
        (BE, {"subPath": "inner"}),
        (FE, {"mountPath": "/data/meta"}),
    ],
)
def test_a_volume_mounted_elsewhere_holds_the_component(field: str, change: dict[str, str]) -> None:
    world = World()
    volumes(world, field)[0].update(change)
    assert "VolumeChangeNotSupported" in findings(world)
    assert f"sample-{field[9:11].lower()}" not in due(world)


def test_another_home_moves_the_data_and_is_held() -> None:
    world = World()
    world.raw["spec"][BE]["beEnvVars"] = [{"name": "STARROCKS_ROOT", "value": "/srv"}]
    assert "VolumeChangeNotSupported" in findings(world)


@pytest.mark.parametrize("component", ["fe", "be"])
def test_pods_without_a_stateful_set_are_all_adopted(component: str) -> None:
    world = World(fe=3, be=5)
    world.raw["spec"][FE]["replicas"] = 1
    world.raw["spec"][BE]["replicas"] = 3
    world.remove("StatefulSet", f"sample-{component}")
    context = world.decide().context
    assert (context.replicas["fe"], context.replicas["be"]) == (3, 5)


def test_the_profile_is_remembered_by_the_stateful_sets_that_are_left() -> None:
    world = World(profile="upstream")
    world.profile = "safe"
    world.remove("StatefulSet", "sample-fe")
    assert world.decide().context.profile == "upstream"


def test_a_missing_configuration_moves_nobodys_pods() -> None:
    world = World()
    missing = Configuration(missing="ConfigMap sample-fe-cm")
    world.observed_extras = {"configurations": {"fe": missing}}
    world.raw["spec"][FE]["image"] = "starrocks/fe-ubuntu:3.5.6"
    world.raw["spec"][BE]["image"] = "starrocks/be-ubuntu:3.5.6"
    assert due(world) == set()
    assert "ConfigMapMissing" in findings(world)


def test_a_huge_number_of_pods_is_decided_on_quickly() -> None:
    world = World()
    world.raw["spec"]["starRocksCnSpec"]["replicas"] = 3_000_000
    assert world.decide().context.replicas["cn"] == 1000
