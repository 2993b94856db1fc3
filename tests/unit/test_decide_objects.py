"""decide: gates, what is written, what is pruned, what is held; and that nothing makes it raise."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from starrocks_operator.decide import decide
from starrocks_operator.decision import Context
from starrocks_operator.model import MalformedClusterError, StarRocksCluster
from starrocks_operator.observed import Children, Configuration, FrontendView, ObjectKey, Observed
from starrocks_operator.status import status_of
from tests.samples import CLUSTERS
from tests.unit.membership_world import NOW, World, applied, at, manifest
from tests.unit.roll_world import RollWorld


def kinds(world: World) -> dict[str, list[str]]:
    return {name: [str(ObjectKey.of(item)) for item in items] for name, items in world.decide().apply.items()}


def changed(world: World) -> list[str]:
    return [name for names in kinds(world).values() for name in names]


def reasons(world: World) -> list[str]:
    return [finding.reason for finding in world.decide().findings]


def test_a_cluster_as_wished_needs_nothing() -> None:
    decision = World().decide()
    assert not decision.due
    assert (decision.waits, decision.findings, decision.held) == ((), (), {})
    assert decision.context.components == ("fe", "be", "cn", "hpa")


def test_a_new_cluster_begins_with_its_frontends() -> None:
    decision = decide(StarRocksCluster.parse(manifest()), Observed(now=NOW, children=Children()))
    assert list(decision.apply) == ["fe"]
    assert decision.context.components == ("fe",)
    assert set(decision.held) == {"be", "cn", "hpa"}
    assert "until a frontend leads" in decision.waits[0]
    assert decision.findings == ()


def test_the_rest_follows_when_a_frontend_leads() -> None:
    world = World()
    for key in [key for key in world.objects if key[0] == "StatefulSet" and key[1] != "sample-fe"]:
        del world.objects[key]
    assert kinds(world) == {"be": ["StatefulSet/sample-be"], "cn": ["StatefulSet/sample-cn"]}
    world.view = FrontendView(asked_at=NOW, answers=())
    assert kinds(world) == {}


@pytest.mark.parametrize(
    ("asked", "recorded", "exists", "default", "profile"),
    [
        (None, None, False, "safe", "safe"),
        (None, None, False, "upstream", "upstream"),
        (None, None, True, "safe", "upstream"),
        (None, "safe", True, "upstream", "safe"),
        (None, "upstream", True, "safe", "upstream"),
        ("upstream", "safe", True, "safe", "upstream"),
        ("safe", "upstream", True, "upstream", "safe"),
        ("nonsense", "upstream", True, "safe", "upstream"),
        ("nonsense", None, False, "safe", "safe"),
    ],
)
def test_the_profile_is_the_owners_word_else_what_was_decided_before(
    asked: str | None, recorded: str | None, exists: bool, default: str, profile: str
) -> None:
    world = World(profile=default)
    if asked:
        world.raw["metadata"]["annotations"] = {"starrocks.com/profile": asked}
    if not exists:
        world.remove("StatefulSet", "sample-fe")
    else:
        annotations = world.get("StatefulSet", "sample-fe")["metadata"]["annotations"]
        annotations.pop("starrocks.com/profile")
        annotations |= {"starrocks.com/profile": recorded} if recorded else {}
    assert world.decide().context.profile == profile
    assert ("UnknownProfile" in reasons(world)) == (asked == "nonsense")


@pytest.mark.parametrize(
    ("component", "field"), [("fe", "starRocksFeSpec"), ("be", "starRocksBeSpec"), ("cn", "starRocksCnSpec")]
)
def test_a_lower_number_alone_changes_no_stateful_set(component: str, field: str) -> None:
    """Only a step of the membership makes a StatefulSet smaller."""
    world = World(fe=5, be=5, cn=5)
    world.raw["spec"][field]["replicas"] = 3
    decision = world.decide()
    assert decision.context.replicas[component] == 5
    assert decision.context.wished[component] == 3
    assert not any(item["kind"] == "StatefulSet" for items in decision.apply.values() for item in items)
    ready = status_of(world.cluster, world.observed, decision, last_run=None)["conditions"][0]
    assert ready["status"] == "False"


@pytest.mark.parametrize("field", ["starRocksFeSpec", "starRocksBeSpec", "starRocksCnSpec"])
def test_scaling_out_writes_the_stateful_set(field: str) -> None:
    world = World()
    world.raw["spec"][field]["replicas"] = 5
    assert f"StatefulSet/sample-{field[9:11].lower()}" in changed(world)
    assert reasons(world) == []


def test_the_autoscaler_is_pruned_with_its_policy() -> None:
    world = World()
    del world.raw["spec"]["starRocksCnSpec"]["autoScalingPolicy"]
    decision = world.decide()
    assert decision.prune == (ObjectKey("HorizontalPodAutoscaler", "sample-cn-autoscaler"),)
    world.settle()
    assert not world.decide().due


def test_disruption_budgets_are_pruned_with_the_profile_and_nothing_that_pods_need() -> None:
    world = World()
    world.raw["metadata"]["annotations"] = {"starrocks.com/profile": "upstream"}
    assert world.decide().prune == (
        ObjectKey("PodDisruptionBudget", "sample-be"),
        ObjectKey("PodDisruptionBudget", "sample-fe"),
    )


@pytest.mark.parametrize("change", [{"ownerReferences": []}, {"deletionTimestamp": at(0)}])
def test_what_is_not_ours_or_already_going_is_not_pruned(change: dict[str, Any]) -> None:
    world = World()
    del world.raw["spec"]["starRocksCnSpec"]["autoScalingPolicy"]
    world.get("HorizontalPodAutoscaler", "sample-cn-autoscaler")["metadata"] |= change
    assert world.decide().prune == ()


def test_a_component_taken_out_of_the_spec_is_orphaned_and_kept() -> None:
    world = World()
    del world.raw["spec"]["starRocksBeSpec"]
    decision = world.decide()
    assert decision.prune == ()
    assert [finding.reason for finding in decision.findings] == ["ComponentOrphaned"]
    assert decision.context.replicas["be"] == 3
    assert decision.step is None


def test_an_orphan_without_replicas_is_kept_and_not_mentioned() -> None:
    world = World()
    del world.raw["spec"]["starRocksBeSpec"]
    world.get("StatefulSet", "sample-be")["spec"]["replicas"] = 0
    decision = world.decide()
    assert decision.prune == ()
    assert "ComponentOrphaned" not in {finding.reason for finding in decision.findings}


def test_drift_is_seen_and_put_right() -> None:
    world = World()
    live = world.get("Service", "sample-fe-service")
    live["spec"]["ports"][0]["port"] = 1
    live["metadata"]["resourceVersion"] = "drifted"
    decision = world.decide()
    assert kinds(world) == {"fe": ["Service/sample-fe-service"]}
    assert "Service/sample-fe-service: spec.ports" in decision.changes[0]


def test_an_object_of_another_owner_is_not_written() -> None:
    world = World()
    live = world.get("ConfigMap", "sample-fe-bootstrap")
    live["metadata"]["ownerReferences"][0]["uid"] = "uid-of-the-predecessor"
    live["data"]["owner-uid"] = "uid-of-the-predecessor"
    decision = world.decide()
    assert decision.apply == {}
    assert "fe" in decision.held
    assert "fe" not in decision.context.components
    assert "belongs to another owner" in " ".join(decision.waits)


def test_an_object_on_its_way_out_is_waited_for() -> None:
    world = World()
    world.get("StatefulSet", "sample-be")["metadata"]["deletionTimestamp"] = at(-1)
    decision = world.decide()
    assert decision.apply == {}
    assert "StatefulSet/sample-be is being deleted" in " ".join(decision.waits)


def test_what_an_adopted_stateful_set_must_keep_is_kept() -> None:
    world = World()
    spec = world.get("StatefulSet", "sample-be")["spec"]
    spec |= {"serviceName": "sample-be-domain-search", "podManagementPolicy": "OrderedReady"}
    context = world.decide().context
    assert context.service_names["be"] == "sample-be-domain-search"
    assert context.pod_management["be"] == "OrderedReady"


def test_missing_references_are_said_and_stop_nothing() -> None:
    world = World()
    world.observed_extras = {
        "missing_references": ("Secret root-password", "ConfigMap fe-conf"),
        "configurations": {"fe": Configuration(missing="key fe.conf in ConfigMap other")},
    }
    assert reasons(world) == ["SecretMissing", "ConfigMapMissing", "ConfigMapMissing"]
    assert not world.decide().due


def test_ports_come_from_the_configuration() -> None:
    world = World()
    world.raw["spec"]["starRocksBeSpec"]["configMapInfo"] = {"configMapName": "mine", "resolveKey": "be.conf"}
    file = Configuration(properties={"heartbeat_service_port": "19050"}, digest="1")
    world.observed_extras = {"configurations": {"be": file}}
    del world.objects["StatefulSet", "sample-be"]
    world.settle()
    del world.backends[0]
    world.look()
    step = world.decide().step
    assert step is not None
    assert step.target.endswith(":19050")


def test_an_ignored_or_deleted_cluster_is_left_alone_with_its_status() -> None:
    for metadata in ({"annotations": {"starrocks.com/ignored": "true"}}, {"deletionTimestamp": at(0)}):
        world = World()
        world.raw["metadata"] |= metadata
        world.objects = {}
        decision = world.decide()
        assert not decision.due
        assert (decision.waits, decision.findings) == ((), ())
        assert status_of(world.cluster, world.observed, decision, last_run=None) == world.raw["status"]


def test_a_spec_that_breaks_the_rules_stops_everything() -> None:
    world = World()
    world.raw["spec"]["starRocksCnSpec"]["autoScalingPolicy"] = {"minReplicas": 5, "maxReplicas": 2}
    world.objects = {}
    decision = world.decide()
    assert not decision.due
    assert [finding.reason for finding in decision.findings] == ["InvalidSpec"]
    assert decision.findings[0].blocks == "everything"
    assert status_of(world.cluster, world.observed, decision, last_run=None)["phase"] == "failed"


def test_a_spec_that_no_objects_can_be_made_of_harms_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(cluster: StarRocksCluster, context: Context) -> Any:
        raise KeyError("poison")

    monkeypatch.setattr("starrocks_operator.decide.build", broken)
    world = World.__new__(World)
    world.raw, world.profile, world.objects = manifest(uid="uid-of-the-poisoned"), "safe", {}
    world.now, world.view, world.observed_extras = NOW, None, {}
    assert reasons(world) == ["InvalidSpec"]


def test_the_fingerprint_tells_what_is_to_be_done_and_nothing_else() -> None:
    world = World()
    quiet = world.decide().fingerprint
    world.now = world.now.replace(hour=13)
    assert world.decide().fingerprint == quiet
    del world.backends[0]
    world.look()
    stepping = world.decide().fingerprint
    world.raw["spec"]["starRocksBeSpec"]["image"] = "starrocks/be-ubuntu:3.5.6"
    world.raw["metadata"]["generation"] = 2
    assert len({quiet, stepping, world.decide().fingerprint}) == 3


def test_the_context_survives_the_way_through_the_play_file() -> None:
    context = World().decide().context
    assert Context.parse(context.document()) == context


# Nothing that the API server accepts makes decide or status raise, or take all memory.


def test_more_replicas_than_anybody_has_are_counted_by_nobody() -> None:
    raw = copy.deepcopy(EVERYTHING)
    raw["metadata"] |= {"name": "sample", "namespace": "default", "uid": "uid-odd", "generation": 1}
    for component in ("starRocksFeSpec", "starRocksBeSpec", "starRocksCnSpec"):
        raw["spec"][component]["replicas"] = 2**31
    survives(raw, WORLD)


@pytest.mark.parametrize("sample", CLUSTERS, ids=lambda path: path.name)
def test_every_sample_is_decided_on(sample: Path) -> None:
    for raw in yaml.safe_load_all(sample.read_text()):
        if raw and raw.get("kind") == "StarRocksCluster":
            raw["metadata"] |= {"namespace": "default", "uid": f"uid-{sample.name}", "generation": 1}
            survives(raw, World())


def survives(raw: dict[str, Any], world: World) -> None:
    try:
        cluster = StarRocksCluster.parse(raw)
    except MalformedClusterError:
        return  # the API server refuses such an object
    for observed in (Observed(now=NOW, children=Children()), world.observed):
        decision = decide(cluster, observed)
        status = status_of(cluster, observed, decision, last_run=None)
        assert status["phase"] in ("running", "reconciling", "failed")


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, item in items for found in paths(item, (*path, key)))]


EVERYTHING = next(
    raw
    for path in CLUSTERS
    if path.name == "everything.yaml"
    for raw in yaml.safe_load_all(path.read_text())
    if raw and raw.get("kind") == "StarRocksCluster"
)
WORLD = World()
oddities: st.SearchStrategy[Any] = st.sampled_from(
    [None, {}, [], "", 0, -1, 2**31, "{{ 7*7 }}", "$(reboot)", "0", "1e9", True, [{}], {"a": None}]
)


@given(st.lists(st.tuples(st.sampled_from(paths(EVERYTHING["spec"])[1:]), oddities), max_size=4))
def test_odd_values_anywhere_harm_nobody(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    raw = copy.deepcopy(EVERYTHING)
    raw["metadata"] |= {"name": "sample", "namespace": "default", "uid": "uid-odd", "generation": 1}
    for path, value in changes:
        put(raw["spec"], path, value)
    survives(raw, WORLD)


def put(value: Any, path: tuple[Any, ...], new: Any) -> None:
    for key in path[:-1]:
        if not isinstance(value, dict | list):
            return
        if isinstance(value, list) and not (isinstance(key, int) and key < len(value)):
            return
        value = value.get(key) if isinstance(value, dict) else value[key]
    if isinstance(value, dict) or (isinstance(value, list) and isinstance(path[-1], int) and path[-1] < len(value)):
        value[path[-1]] = copy.deepcopy(new)


def strip(field: str) -> Callable[[dict[str, Any]], None]:
    return lambda raw: raw.pop(field, None)


@pytest.mark.parametrize("field", ["spec", "status"])
def test_children_without_spec_or_status_are_survived(field: str) -> None:
    world = World()
    for raw in world.objects.values():
        strip(field)(raw)
    decision = world.decide()
    status_of(world.cluster, world.observed, decision, last_run=None)


def test_what_was_applied_counts_as_applied() -> None:
    """The fake of an apply in these tests agrees with the comparison that is used on the real thing."""
    world = World()
    world.remove("StatefulSet", "sample-be")
    (item,) = world.decide().apply["be"]
    world.put(applied(item))
    assert not world.decide().due


def test_what_is_accepted_and_not_done_is_said_beside_ready() -> None:
    world = World()
    world.raw["spec"] |= {"disasterRecovery": {"enabled": True}}
    decision = world.decide()
    assert [finding.reason for finding in decision.findings] == ["FieldNotActedUpon"]
    ready = status_of(world.cluster, world.observed, decision, last_run=None)["conditions"][0]
    assert ready["status"] == "True"
    assert ready["message"].endswith("disasterRecovery is accepted and not acted upon yet.")


def test_backends_wait_for_the_whole_rollout_of_frontends_if_asked_to() -> None:
    world = RollWorld().label("fe", "be")
    world.raw["spec"]["waitForFullRollout"] = True
    while len(world.order) < 3:
        decision = world.turn()
        assert {"be", "cn"} <= set(decision.held)
        assert "rolled out (waitForFullRollout)" in decision.waits[0]
        assert "be" not in decision.apply
    assert world.order == ["sample-fe-2", "sample-fe-1", "sample-fe-0"]
    world.turn()
    assert kinds(world) == {"be": ["StatefulSet/sample-be"]}


def test_an_unready_frontend_is_not_rolled_out() -> None:
    world = RollWorld()
    world.raw["spec"]["waitForFullRollout"] = True
    world.label("be")
    world.get("Pod", "sample-fe-0")["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    assert kinds(world) == {}
    world.raw["spec"]["waitForFullRollout"] = False
    assert kinds(world) == {"be": ["StatefulSet/sample-be"]}
