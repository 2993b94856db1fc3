"""What goes with a pod must be there a second time before the pod is replaced (I2)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from starrocks_operator.observed import Health
from starrocks_operator.step import KUBERNETES_STEPS
from starrocks_operator.storage import LOSS_CONSENT
from tests.unit.roll_world import RollWorld

FE, BE = "starRocksFeSpec", "starRocksBeSpec"


def on_empty_dirs(*, backends: list[dict[str, str]] | None = None, **replicas: int) -> RollWorld:
    """A founded cluster whose metadata and tablets lie in emptyDirs."""
    world = RollWorld(**replicas)
    for field, listed in ((FE, []), (BE, backends or [])):
        world.raw["spec"][field]["storageVolumes"] = listed
        world.remove("StatefulSet", f"sample-{field[9:11].lower()}")
    world.settle()
    world.look()
    return world


def refusal(world: RollWorld) -> str:
    """What is said of it; empty: the pod is replaced."""
    for items in world.recorded().apply.values():
        for item in items:
            world.write(item)
    world.look()
    decision = world.recorded()
    found = [item.message for item in decision.findings if item.reason == "VolatileStorage"]
    stepping = decision.step is not None and decision.step.kind in KUBERNETES_STEPS
    assert bool(found) != stepping, decision.waits
    return found[0] if found else ""


@pytest.mark.parametrize(("replicas", "held"), [(1, True), (2, True), (3, False), (5, False)])
def test_frontends_on_empty_dirs_are_replaced_only_if_they_can_take_each_in_again(replicas: int, held: bool) -> None:
    assert bool(refusal(on_empty_dirs(fe=replicas).change(fe="3.5.6"))) is held


def test_the_only_ones_alive_are_not_risked_for_one_that_is_broken() -> None:
    world = on_empty_dirs().change(fe="3.5.6")
    for ordinal in (1, 2):
        world.frontends[ordinal] = replace(world.frontends[ordinal], alive=False)
        world.get("Pod", f"sample-fe-{ordinal}")["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    world.look()
    assert "metadata would be gone" in refusal(world)


@pytest.mark.parametrize(
    ("tablets", "health", "said"),
    [
        (10, Health(unhealthy=0, clones=0, fewest_copies=3), ""),
        (10, Health(unhealthy=0, clones=0, fewest_copies=2), ""),
        (10, Health(unhealthy=0, clones=0, fewest_copies=1), "not all of them have another live copy"),
        (10, Health(unhealthy=1, clones=0, fewest_copies=3), "not all of them have another live copy"),
        (10, Health(unhealthy=0, clones=0), "whether there are other live copies is not known"),
        (10, Health(fewest_copies=3), "whether there are other live copies is not known"),
        (0, Health(), ""),
        (None, Health(unhealthy=0, clones=0, fewest_copies=3), "how many tablets it holds is not known"),
    ],
)
def test_backends_on_empty_dirs_are_replaced_if_all_they_hold_is_elsewhere(
    tablets: int | None, health: Health, said: str
) -> None:
    world = on_empty_dirs().change(be="3.5.6")
    world.backends = [replace(row, tablets=tablets) for row in world.backends]
    world.health = health
    message = refusal(world)
    assert said in message
    assert bool(message) == bool(said)


def test_an_old_count_of_tablets_is_no_count() -> None:
    world = on_empty_dirs().change(be="3.5.6")
    world.backends = [replace(row, tablets=0) for row in world.backends]
    assert not refusal(world)
    world.now += timedelta(minutes=1)
    decision = world.decide()
    assert [finding.reason for finding in decision.findings] == ["VolatileStorage"]


def test_the_owner_may_consent_to_the_loss_for_one_generation() -> None:
    world = on_empty_dirs(fe=1)
    world.raw["metadata"]["generation"] = 6
    world.change(fe="3.5.6").annotate(accept_frontend_outage_at_generation="7")
    world.raw["metadata"]["annotations"][LOSS_CONSENT] = "6"
    assert refusal(world)
    world.raw["metadata"]["annotations"][LOSS_CONSENT] = "7"
    assert not refusal(world)


def test_an_empty_dir_is_known_by_where_it_is_mounted_and_not_by_its_name() -> None:
    world = on_empty_dirs(
        backends=[{"name": "vol0", "mountPath": "/opt/starrocks/be/storage", "storageClassName": "emptyDir"}]
    ).change(be="3.5.6")
    world.health = replace(world.health, fewest_copies=1)
    assert refusal(world)


def test_what_is_not_understood_counts_as_founded() -> None:
    """Another operator's lone frontend on an emptyDir refuses our password: its metadata is no less worth."""
    world = on_empty_dirs(fe=1)
    del world.raw["status"]["bootstrap"]
    world.remove("ConfigMap", "sample-fe-bootstrap")
    world.change(fe="3.5.6")
    world.view = None
    decision = world.recorded()
    assert "VolatileStorage" in {finding.reason for finding in decision.findings}
    assert decision.step is None


def test_a_first_start_that_never_founded_anything_can_be_corrected() -> None:
    world = on_empty_dirs(fe=1)
    del world.raw["status"]["bootstrap"]
    world.get("ConfigMap", "sample-fe-bootstrap")["data"]["cluster-id"] = ""
    world.frontends = []
    world.change(fe="3.5.6")
    assert not refusal(world)
