"""Volumes that grow: claim by claim, then the StatefulSet is made anew around its pods."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from starrocks_operator.components import COMPONENTS
from starrocks_operator.deed import deed_of, is_done
from starrocks_operator.objects.former import is_remembered, with_remembered
from starrocks_operator.observed import Observed
from starrocks_operator.step import Step, StepKind
from starrocks_operator.storage.claims import classes_needed
from tests.unit.membership_world import NOW, World, applied, at

BE, FE = "starRocksBeSpec", "starRocksFeSpec"


class Growing(World):
    """Claims of a class that lets them grow; StatefulSets that are not there are remembered, as for the operator."""

    def __init__(self, *, expandable: bool | None = True, **replicas: Any) -> None:
        super().__init__(**replicas)
        self.observed_extras = {"expandable": {"fast": expandable}}
        for name in ("fe", "be"):
            volume = {"fe": "fe-meta", "be": "be-data"}[name]
            for ordinal in range(3):
                self.put(claim(f"{volume}-sample-{name}-{ordinal}", component=name))
        self.settle()

    def put(self, raw: dict[str, Any]) -> dict[str, Any]:
        """A claim is only marked, never made, by the operator."""
        before = self.objects.get((raw["kind"], raw["metadata"]["name"]))
        if raw["kind"] == "PersistentVolumeClaim" and "spec" not in raw and before is not None:
            before["metadata"]["annotations"] = raw["metadata"].get("annotations") or {}
            return before
        return super().put(raw)

    @property
    def observed(self) -> Observed:
        seen = super().observed
        return replace(seen, children=with_remembered(self.cluster, seen.children, tuple(COMPONENTS)))

    def ask(self, field: str, size: str) -> None:
        self.raw["spec"][field]["storageVolumes"][0]["storageSize"] = size

    def grow(self, name: str, *, requests: str = "", capacity: str = "", **status: Any) -> None:
        raw = self.get("PersistentVolumeClaim", name)
        if requests:
            raw["spec"]["resources"]["requests"]["storage"] = requests
        raw["status"] |= {"capacity": {"storage": capacity or raw["status"]["capacity"]["storage"]}, **status}

    def grow_all(self, size: str) -> None:
        for ordinal in range(3):
            self.grow(f"be-data-sample-be-{ordinal}", requests=size, capacity=size)

    def step(self) -> Step:
        step = self.decide().step
        assert step is not None
        return step

    def findings(self) -> dict[str, str]:
        return {finding.reason: finding.message for finding in self.decide().findings}

    def write(self) -> None:
        """Apply what is due."""
        for items in self.decide().apply.values():
            for item in items:
                self.put(applied(item))

    def orphan(self) -> dict[str, Any]:
        """All claims have grown, the StatefulSet is written down and deleted. Returns what it was."""
        self.ask(BE, "2Gi")
        self.grow_all("2Gi")
        self.write()
        step = self.step()
        assert (step.kind, step.target) == (StepKind.ORPHAN_STATEFUL_SET, "sample-be")
        live = self.get("StatefulSet", "sample-be")
        self.remove("StatefulSet", "sample-be")
        return live


def claim(name: str, *, component: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{name}",
            "resourceVersion": "7",
            "creationTimestamp": at(-90000),
            "labels": {
                "app.starrocks.ownerreference/name": f"sample-{component}",
                "app.kubernetes.io/component": component,
            },
        },
        "spec": {"storageClassName": "fast", "resources": {"requests": {"storage": "1Gi"}}},
        "status": {"phase": "Bound", "capacity": {"storage": "1Gi"}},
    }


def test_one_claim_after_the_other_is_told_to_grow() -> None:
    world = Growing()
    world.ask(BE, "2Gi")
    for ordinal in range(3):
        name = f"be-data-sample-be-{ordinal}"
        step = world.step()
        assert (step.kind, step.target) == (StepKind.GROW_CLAIM, name)
        deed = deed_of(step, cluster=world.cluster, observed=world.observed, decision=world.decide())
        assert deed is not None
        assert (deed.verb, deed.uid, deed.version) == ("patch", f"uid-{name}", "7")
        assert deed.manifest == {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}
        world.grow(name, requests="2Gi")
        assert is_done(step, world.get("PersistentVolumeClaim", name))
        waiting = world.decide()
        assert waiting.step is None
        assert f"volume {name} grows to 2Gi" in waiting.waits
        world.grow(name, capacity="2Gi")


def test_what_else_was_changed_is_applied_and_the_size_is_kept_meanwhile() -> None:
    world = Growing()
    world.ask(BE, "2Gi")
    world.raw["spec"][BE]["minReadySeconds"] = 3
    stateful_set = next(item for item in world.decide().apply["be"] if item["kind"] == "StatefulSet")
    assert stateful_set["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"] == "1Gi"


@pytest.mark.parametrize("expandable", [False, None])
def test_a_class_without_growth_is_refused_and_one_that_is_unknown_is_tried(expandable: bool | None) -> None:
    world = Growing(expandable=expandable)
    world.ask(BE, "2Gi")
    assert ("VolumeGrowthRefused" in world.findings()) is (expandable is False)
    assert (world.decide().step is None) is (expandable is False)
    if expandable is False:
        said = world.findings()["VolumeGrowthRefused"]
        assert "be-data-sample-be-0, be-data-sample-be-1, be-data-sample-be-2 are of StorageClass fast" in said


def test_a_claim_without_a_class_does_not_grow() -> None:
    world = Growing()
    for ordinal in range(3):
        world.get("PersistentVolumeClaim", f"be-data-sample-be-{ordinal}")["spec"]["storageClassName"] = ""
    world.ask(BE, "2Gi")
    assert "were not made by a StorageClass" in world.findings()["VolumeGrowthRefused"]


def test_a_smaller_size_is_refused_and_holds_nothing_up() -> None:
    world = Growing()
    world.ask(BE, "512Mi")
    assert "no volume gets smaller" in world.findings()["VolumeShrinkRefused"]
    assert not world.decide().due


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (
            {"conditions": [{"type": "FileSystemResizePending", "status": "True", "lastTransitionTime": at(-3600)}]},
            "some drivers need pod sample-be-0 restarted",
        ),
        (
            {"conditions": [{"type": "Resizing", "status": "True", "lastTransitionTime": at(-3600)}]},
            "its driver has not grown it since",
        ),
        (
            {"conditions": [{"type": "ControllerResizeError", "status": "True", "message": "no room"}]},
            "its driver fails to (no room)",
        ),
        (
            {"allocatedResourceStatuses": {"storage": "ControllerResizeInfeasible"}},
            "its driver cannot make it so large",
        ),
    ],
)
def test_a_growth_that_gets_nowhere_is_told_of(status: dict[str, Any], said: str) -> None:
    world = Growing()
    world.ask(BE, "2Gi")
    world.grow("be-data-sample-be-0", requests="2Gi", **status)
    assert said in world.findings()["VolumeGrowthStalled"]
    assert world.decide().step is None


def test_a_file_system_that_is_still_to_grow_is_waited_for() -> None:
    world = Growing()
    world.ask(BE, "2Gi")
    pending = [{"type": "FileSystemResizePending", "status": "True", "lastTransitionTime": at(-5)}]
    world.grow("be-data-sample-be-0", requests="2Gi", conditions=pending)
    assert any("its file system is still to grow" in wait for wait in world.decide().waits)
    assert "VolumeGrowthStalled" not in world.findings()


def test_the_stateful_set_is_written_down_then_deleted_alone_then_made_anew_and_forgotten() -> None:
    world = Growing()
    world.ask(BE, "2Gi")
    world.grow_all("2Gi")
    first = world.decide()
    assert first.step is None
    assert [item["metadata"]["name"] for item in first.apply["be"]] == ["sample-be-former"]
    world.write()
    step = world.step()
    assert step.kind == StepKind.ORPHAN_STATEFUL_SET
    deed = deed_of(step, cluster=world.cluster, observed=world.observed, decision=world.decide())
    live = world.get("StatefulSet", "sample-be")
    assert deed is not None
    assert (deed.verb, deed.kind, deed.version) == ("orphan", "StatefulSet", live["metadata"]["resourceVersion"])
    world.remove("StatefulSet", "sample-be")
    assert is_done(step, None)
    world.write()
    anew = world.get("StatefulSet", "sample-be")
    assert anew["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"] == "2Gi"
    same = ("template", "serviceName", "podManagementPolicy", "replicas", "updateStrategy", "selector")
    assert {field: anew["spec"][field] for field in same} == {field: live["spec"][field] for field in same}
    last = world.decide()
    assert [str(key) for key in last.prune] == ["ConfigMap/sample-be-former"]
    world.settle()
    assert not world.decide().due
    assert not world.decide().waits


def test_while_it_is_not_there_everything_is_decided_as_if_it_were() -> None:
    world = Growing()
    before = world.decide()
    world.orphan()
    decision = world.decide()
    assert decision.step is None
    assert decision.waits == ("the StatefulSet of the backends is made anew around its pods",)
    assert not decision.findings
    assert decision.context.live == before.context.live
    assert decision.context.replicas == before.context.replicas
    assert decision.context.profile == before.context.profile
    assert is_remembered(world.observed.children.get("StatefulSet", "sample-be") or {})


def _image(world: Growing) -> None:
    world.raw["spec"][BE]["image"] = "starrocks/be-ubuntu:3.5.6"


def _fewer(world: Growing) -> None:
    world.raw["spec"][BE]["replicas"] = 2


def _emptied(world: Growing) -> None:
    world.raw["spec"][BE]["storageVolumes"] = []


def _another_size(world: Growing) -> None:
    world.ask(BE, "3Gi")


def _leaderless(world: Growing) -> None:
    world.view = None


def _without_a_pod(world: Growing) -> None:
    world.remove("Pod", "sample-be-2")


@pytest.mark.parametrize("edit", [_image, _fewer, _emptied, _another_size, _leaderless, _without_a_pod])
def test_whatever_happens_meanwhile_it_comes_back_as_it_was_written_down(edit: Callable[[Growing], None]) -> None:
    world = Growing()
    live = world.orphan()
    edit(world)
    world.write()
    anew = world.get("StatefulSet", "sample-be")
    assert anew["spec"]["template"] == live["spec"]["template"]
    assert anew["spec"]["replicas"] == live["spec"]["replicas"]
    assert anew["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"] == "2Gi"


def _roll(world: Growing) -> None:
    world.get("Pod", "sample-be-0")["metadata"]["labels"]["controller-revision-hash"] = "old"


def _cluster_that_shrinks(world: Growing) -> None:
    world.raw["spec"][BE]["replicas"] = 2


def _missing_pod(world: Growing) -> None:
    world.remove("Pod", "sample-be-1")


def _retention(world: Growing) -> None:
    world.raw["spec"][BE]["persistentVolumeClaimRetentionPolicy"] = {"whenDeleted": "Delete"}
    world.settle()


def _owned(world: Growing) -> None:
    owner = {"uid": world.get("StatefulSet", "sample-be")["metadata"]["uid"]}
    world.get("PersistentVolumeClaim", "be-data-sample-be-0")["metadata"]["ownerReferences"] = [owner]


@pytest.mark.parametrize("trouble", [_roll, _cluster_that_shrinks, _missing_pod, _retention, _owned])
def test_it_is_not_deleted_while_anything_else_goes_on(trouble: Callable[[Growing], None]) -> None:
    world = Growing()
    world.ask(BE, "2Gi")
    world.grow_all("2Gi")
    trouble(world)
    decision = world.decide()
    assert "be" not in decision.context.formers
    assert decision.step is None or decision.step.kind != StepKind.ORPHAN_STATEFUL_SET
    assert any("volumes have grown; their StatefulSet is made anew when" in wait for wait in decision.waits)


def test_what_was_written_down_of_another_cluster_counts_for_nothing() -> None:
    world = Growing()
    world.orphan()
    world.get("ConfigMap", "sample-be-former")["metadata"]["ownerReferences"][0]["uid"] = "another"
    assert world.observed.children.get("StatefulSet", "sample-be") is None


def test_it_is_written_down_anew_when_it_has_changed() -> None:
    world = Growing()
    world.ask(BE, "2Gi")
    world.grow_all("2Gi")
    world.write()
    stateful_set = world.get("StatefulSet", "sample-be")
    stateful_set["metadata"]["annotations"]["somebody.else/says"] = "something"
    decision = world.decide()
    assert decision.step is None
    document = json.loads(decision.apply["be"][0]["data"]["stateful-set.json"])
    assert document["annotations"]["somebody.else/says"] == "something"


def test_a_full_disk_does_not_wait_for_another_component() -> None:
    world = Growing()
    world.ask(FE, "2Gi")
    for ordinal in range(3):
        world.grow(f"fe-meta-sample-fe-{ordinal}", requests="2Gi", capacity="2Gi")
    world.write()
    assert world.step().kind == StepKind.ORPHAN_STATEFUL_SET
    world.ask(BE, "2Gi")
    assert world.step().kind == StepKind.GROW_CLAIM
    assert world.now == NOW


def test_only_the_classes_of_claims_that_are_to_grow_are_asked_for() -> None:
    world = Growing()
    assert classes_needed(world.cluster, world.observed.children) == ()
    world.ask(BE, "2Gi")
    world.raw["spec"][BE]["replicas"] = 3_000_000
    assert classes_needed(world.cluster, world.observed.children) == ("fast",)
    world.grow_all("2Gi")
    assert classes_needed(world.cluster, world.observed.children) == ()
