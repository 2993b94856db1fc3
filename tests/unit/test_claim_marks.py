"""The cluster id lives with the frontends' volumes: who applies a cluster again on old volumes never founds another."""

from __future__ import annotations

from typing import Any

from starrocks_operator.objects.claim_marks import CLUSTER_ID
from tests.unit.membership_world import CLUSTER_ID as FOUNDED
from tests.unit.membership_world import World, claim


def labelled(world: World, *, cluster_id: str = "", ordinals: range = range(3)) -> None:
    for ordinal in ordinals:
        raw = claim(f"fe-meta-sample-fe-{ordinal}")
        raw["metadata"]["labels"] = {
            "app.starrocks.ownerreference/name": "sample-fe",
            "app.kubernetes.io/component": "fe",
        }
        raw["metadata"]["annotations"] = {CLUSTER_ID: cluster_id} if cluster_id else {}
        world.put(raw)


def applied_again(world: World) -> World:
    """The same cluster deleted with its objects, and applied anew: only the volumes are left."""
    world.raw["metadata"]["uid"] = "uid-2"
    del world.raw["status"]
    world.objects = {key: raw for key, raw in world.objects.items() if key[0] == "PersistentVolumeClaim"}
    world.view = None
    return world


def marker(world: World) -> dict[str, Any]:
    found: dict[str, Any] = next(
        item["data"] for item in world.decide().apply["fe"] if item["metadata"]["name"] == "sample-fe-bootstrap"
    )
    return found


def test_after_the_founding_every_frontend_volume_carries_the_id() -> None:
    world = World()
    labelled(world)
    marks = [item for item in world.decide().apply["fe"] if item["kind"] == "PersistentVolumeClaim"]
    assert [mark["metadata"]["name"] for mark in marks] == [f"fe-meta-sample-fe-{ordinal}" for ordinal in range(3)]
    assert {mark["metadata"]["annotations"][CLUSTER_ID] for mark in marks} == {FOUNDED}


def test_a_volume_never_becomes_a_child_of_its_cluster() -> None:
    world = World()
    labelled(world)
    for mark in world.decide().apply["fe"]:
        if mark["kind"] == "PersistentVolumeClaim":
            assert "ownerReferences" not in mark["metadata"]
            assert "spec" not in mark


def test_before_the_founding_nothing_is_written_on_volumes() -> None:
    world = applied_again(World())
    labelled(world)
    assert not [item for item in world.decide().apply["fe"] if item["kind"] == "PersistentVolumeClaim"]
    assert marker(world)["cluster-id"] == ""


def test_applied_again_on_old_volumes_the_marker_has_the_id_from_the_start() -> None:
    world = applied_again(World())
    labelled(world, ordinals=range(1))
    labelled(world, cluster_id=FOUNDED, ordinals=range(1, 3))
    assert marker(world)["cluster-id"] == FOUNDED


def test_applied_again_without_volumes_it_may_be_founded_anew() -> None:
    world = applied_again(World())
    world.objects = {}
    assert marker(world)["cluster-id"] == ""


def test_volumes_of_two_clusters_freeze_membership() -> None:
    world = applied_again(World())
    labelled(world, cluster_id=FOUNDED, ordinals=range(2))
    labelled(world, cluster_id="999", ordinals=range(2, 3))
    found = [finding for finding in world.decide().findings if finding.reason == "SplitBrain"]
    assert len(found) == 1
    assert "999" in found[0].message
