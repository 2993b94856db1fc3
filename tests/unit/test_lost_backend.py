"""A backend without a volume comes back empty only if nothing can be lost, or its owner named that very volume."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from starrocks_operator.deed import deed_of
from starrocks_operator.observed import Health
from starrocks_operator.step import StepKind
from tests.unit.membership_world import World, at, claim

LOST, NAME = "be-data-sample-be-1", "starrocks.com/replace-backend"
GOOD = Health(unhealthy=0, clones=0, fewest_copies=3)


class Lossy(World):
    """Three backends with claims; the second has lost its volume, and FE knows it as dead."""

    def __init__(
        self, *, tablets: int | None = 0, be: int = 3, phase: str = "Lost", health: Health | None = GOOD
    ) -> None:
        super().__init__(be=be)
        for ordinal in range(be):
            self.put(claim(f"be-data-sample-be-{ordinal}"))
        self.get("PersistentVolumeClaim", LOST)["status"]["phase"] = phase
        self.row(1, alive=phase == "Bound", tablets=tablets)
        self.answers = {"health": health}
        self.look()

    def row(self, ordinal: int, **changes: Any) -> None:
        self.backends[ordinal] = replace(self.backends[ordinal], **changes)
        self.look()

    def name(self, value: str = f"sample-be-1@uid-{LOST}") -> None:
        self.raw["metadata"]["annotations"] = {NAME: value}

    def findings(self) -> dict[str, str]:
        return {finding.reason: finding.message for finding in self.decide().findings}

    def homeless(self, seconds: float) -> None:
        self.get("Pod", "sample-be-1")["status"] = {
            "phase": "Pending",
            "conditions": [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "reason": "Unschedulable",
                    "message": "0/3 nodes are available: 3 node(s) had volume node affinity conflict.",
                    "lastTransitionTime": at(-seconds),
                }
            ],
        }


def test_without_a_tablet_on_it_the_volume_goes_and_then_the_pod() -> None:
    world = Lossy()
    step = world.decide().step
    assert step is not None
    assert (step.kind, step.target, step.fact("uid")) == (StepKind.DELETE_BACKEND_VOLUME, LOST, f"uid-{LOST}")
    deed = deed_of(step, cluster=world.cluster, observed=world.observed, decision=world.decide())
    assert deed is not None
    assert (deed.verb, deed.kind, deed.uid) == ("delete", "PersistentVolumeClaim", f"uid-{LOST}")
    world.get("PersistentVolumeClaim", LOST)["metadata"]["deletionTimestamp"] = at(0)
    step = world.decide().step
    assert step is not None
    assert (step.kind, step.target, step.fact("uid")) == (StepKind.DELETE_POD, "sample-be-1", "uid-sample-be-1")
    world.get("Pod", "sample-be-1")["metadata"]["deletionTimestamp"] = at(0)
    assert world.decide().step is None


def test_with_tablets_on_it_a_person_is_told_what_to_run() -> None:
    world = Lossy(tablets=51)
    assert world.decide().step is None
    said = world.findings()["BackendLost"]
    assert "FE counts 51 tablets on it" in said
    assert f"kubectl -n default annotate --overwrite src sample {NAME}=sample-be-1@uid-{LOST}" in said
    world.name()
    step = world.decide().step
    assert step is not None
    assert step.kind == StepKind.DELETE_BACKEND_VOLUME


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (lambda world: world.row(2, alive=False), "sample-be-2 is not alive either"),
        (lambda world: world.row(2, decommissioned=True), "backends are leaving or coming"),
        (lambda world: world.row(1, alive=True), "FE still counts it as alive"),
        (lambda world: world.raw["spec"]["starRocksBeSpec"].update(replicas=4), "backends are leaving or coming"),
        (lambda world: world.raw["spec"].update(deletionProtection=True), "deletionProtection"),
        (
            lambda world: world.get("Pod", "sample-be-0")["metadata"]["labels"].update(
                {"controller-revision-hash": "old"}
            ),
            "pods are being replaced",
        ),
    ],
)
@pytest.mark.parametrize("named", [False, True])
def test_neither_by_itself_nor_by_name_while_anything_else_is_amiss(trouble: Any, said: str, named: bool) -> None:
    world = Lossy()
    if named:
        world.name()
    trouble(world)
    step = world.decide().step
    assert step is None or step.kind != StepKind.DELETE_BACKEND_VOLUME
    assert said in world.findings()["BackendReplacementHeld" if named else "BackendLost"]


def test_of_two_backends_none_is_a_minority() -> None:
    assert "no minority" in Lossy(be=2).findings()["BackendLost"]


@pytest.mark.parametrize(
    ("health", "alive", "said"),
    [
        (None, True, "is not known"),
        (Health(unhealthy=0, clones=0, fewest_copies=1), True, "replication_num 1"),
        (Health(unhealthy=2, clones=0, fewest_copies=3), True, "not every tablet is known to have another good copy"),
        (Health(unhealthy=0, clones=1, fewest_copies=3), True, "not every tablet is known to have another good copy"),
        (Health(unhealthy=2, clones=1, fewest_copies=2), False, ""),
        (GOOD, True, ""),
    ],
)
def test_by_name_a_volume_that_is_there_goes_only_if_tablets_have_other_copies(
    health: Health | None, alive: bool, said: str
) -> None:
    world = Lossy(tablets=51, phase="Bound", health=health)
    world.row(1, alive=alive)
    world.name()
    step = world.decide().step
    assert (step is not None and step.kind == StepKind.DELETE_BACKEND_VOLUME) is (not said)
    assert said in world.findings().get("BackendReplacementHeld", "")


@pytest.mark.parametrize("value", ["sample-be-1@another", "sample-be-1", "sample-be-1@7", "x" * 200])
def test_a_word_that_names_no_volume_that_is_there_is_told_of_and_does_nothing(value: str) -> None:
    world = Lossy(phase="Bound", tablets=0)
    world.name(value)
    assert world.decide().step is None
    assert "BackendReplacementIgnored" in world.findings()


@pytest.mark.parametrize(("seconds", "lost"), [(60, False), (700, True)])
def test_a_pod_that_finds_no_node_with_its_volume_for_long_has_lost_it(seconds: float, lost: bool) -> None:
    world = Lossy(phase="Bound", tablets=0)
    world.row(1, alive=False)
    world.homeless(seconds)
    step = world.decide().step
    assert (step is not None and step.kind == StepKind.DELETE_BACKEND_VOLUME) is lost


def test_a_new_volume_of_a_pod_that_waits_for_it_is_left_alone() -> None:
    world = Lossy(phase="Bound", tablets=0)
    world.row(1, alive=False)
    world.homeless(700)
    world.get("PersistentVolumeClaim", LOST)["metadata"]["creationTimestamp"] = at(-10)
    assert world.decide().step is None


def test_what_nobody_has_heard_of_is_not_judged() -> None:
    world = Lossy()
    world.view = None
    assert world.decide().step is None
    assert "BackendLost" not in world.findings()
