"""A changed configuration in a whole decision: what new pods get, what is kept, held, remarked and collected."""

from __future__ import annotations

from typing import Any

import pytest

from starrocks_operator.decision import Decision
from starrocks_operator.observed import Configuration
from tests.unit.membership_world import World, applied, at

FE, BE = "starRocksFeSpec", "starRocksBeSpec"
HASH = "starrocks.com/configuration-hash"


def world_with(**config: dict[str, str]) -> World:
    """A cluster that was made with these inline configurations."""
    world = World()
    for component, entries in config.items():
        world.raw["spec"][{"fe": FE, "be": BE}[component]]["config"] = entries
        del world.objects["StatefulSet", f"sample-{component}"]
    world.settle()
    assert not world.decide().due
    return world


def with_file(component: str = "be", text: str = "one", **properties: str) -> World:
    """A cluster that was made with a file of the user's."""
    world = World()
    world.raw["spec"][{"fe": FE, "be": BE}[component]]["configMapInfo"] = {"configMapName": "mine", "resolveKey": "x"}
    del world.objects["StatefulSet", f"sample-{component}"]
    file(world, component, text, **properties)
    world.settle()
    assert not world.decide().due
    return world


def file(world: World, component: str, text: str, **properties: str) -> None:
    found = Configuration(properties=properties, digest=text, changed=at(-60))
    world.observed_extras["configurations"] = {component: found}


def findings(decision: Decision) -> dict[str, str]:
    return {finding.reason: finding.message for finding in decision.findings}


def wanted(decision: Decision, component: str) -> dict[str, Any]:
    """The StatefulSet that is to be applied."""
    return next(dict(item) for item in decision.apply[component] if item["kind"] == "StatefulSet")


def mounts(stateful_set: dict[str, Any]) -> str:
    volumes = stateful_set["spec"]["template"]["spec"]["volumes"]
    return next((item["configMap"]["name"] for item in volumes if item["name"] == "starrocks-configuration"), "")


def test_another_content_is_another_map_and_another_template() -> None:
    world = world_with(be={"a": "1"})
    before = mounts(world.get("StatefulSet", "sample-be"))
    world.raw["spec"][BE]["config"] = {"a": "2"}
    decision = world.decide()
    after = mounts(wanted(decision, "be"))
    assert before != after
    assert [item["metadata"]["name"] for item in decision.apply["be"] if item["kind"] == "ConfigMap"] == [after]
    world.raw["spec"][BE]["config"] = {"a": "1"}
    assert not world.decide().due


@pytest.mark.parametrize(
    ("component", "bad", "words"),
    [
        ("fe", {"query_port": "19030"}, "query_port must stay '9030'"),
        ("fe", {"run_mode": "shared_data"}, "run_mode must stay 'shared_nothing'"),
        ("fe", {"a\n": "x"}, "is no name of a parameter"),
        ("be", {"heartbeat_service_port": "1"}, "FE knows its members by it"),
    ],
)
def test_a_refused_one_leaves_what_is_in_force(component: str, bad: dict[str, str], words: str) -> None:
    world = world_with(**{component: {"a": "1"}})
    world.raw["spec"][{"fe": FE, "be": BE}[component]]["config"] = {"a": "2", **bad}
    decision = world.decide()
    assert words in findings(decision)["ConfigurationRefused"]
    assert not decision.due
    assert component not in decision.held
    world.raw["spec"][{"fe": FE, "be": BE}[component]]["replicas"] = 5
    assert wanted(world.decide(), component)["spec"]["replicas"] == 5  # all else goes on


def test_both_ways_to_say_it_leave_what_is_in_force() -> None:
    world = world_with(be={"a": "1"})
    world.raw["spec"][BE]["configMapInfo"] = {"configMapName": "mine", "resolveKey": "be.conf"}
    file(world, "be", "one", webserver_port="18040")
    decision = world.decide()
    assert "keep one of them" in findings(decision)["ConfigurationRefused"]
    assert wanted(decision, "be")["spec"] == world.get("StatefulSet", "sample-be")["spec"], "no pod is replaced"
    world = with_file()
    world.raw["spec"][BE]["config"] = {"a": "1"}
    decision = world.decide()
    assert "keep one of them" in findings(decision)["ConfigurationRefused"]
    assert not decision.due


def test_without_a_file_before_the_defaults_are_what_must_stay() -> None:
    world = World()
    world.raw["spec"][FE]["config"] = {"meta_dir": "/elsewhere"}
    decision = world.decide()
    assert "meta_dir must stay '${STARROCKS_HOME}/meta'" in findings(decision)["ConfigurationRefused"]
    assert "fe" in decision.held
    assert "fe" not in decision.apply
    world.raw["spec"][FE]["config"] = {"sys_log_level": "INFO"}
    assert world.decide().context.configurations["fe"]


def test_a_new_cluster_with_a_malformed_configuration_waits_for_a_better_one() -> None:
    world = World()
    del world.objects["StatefulSet", "sample-be"]
    world.raw["spec"][BE]["config"] = {"a b": "1"}
    decision = world.decide()
    assert "be" in decision.held
    assert "be" not in decision.apply


def test_ports_come_from_it() -> None:
    world = world_with(be={"webserver_port": "18040"})
    assert world.decide().context.properties["be"]["webserver_port"] == "18040"


def test_the_user_s_file_goes_into_the_template_only_when_it_changes() -> None:
    world = with_file()
    assert HASH not in (world.get("StatefulSet", "sample-be")["spec"]["template"]["metadata"].get("annotations") or {})
    file(world, "be", "two")
    assert wanted(world.decide(), "be")["spec"]["template"]["metadata"]["annotations"][HASH] == "two"
    file(world, "be", "one")
    assert not world.decide().due


def test_a_cluster_is_taken_over_without_a_new_template() -> None:
    world = with_file()
    live = world.get("StatefulSet", "sample-be")
    template = live["spec"]["template"]
    for mark in ("accepted-configuration", "configuration-base"):
        del live["metadata"]["annotations"][f"starrocks.com/{mark}"]
    live["metadata"]["annotations"]["starrocks.com/applied-hash"] = "of another release"
    file(world, "be", "of that day", heartbeat_service_port="19050")
    made = wanted(world.decide(), "be")
    assert made["spec"]["template"]["metadata"] == template["metadata"]
    assert made["metadata"]["annotations"]["starrocks.com/configuration-base"] == "of that day"


@pytest.mark.parametrize(
    ("policy", "profile", "annotations", "restarts"),
    [
        (None, "safe", {}, True),
        ("restart", "safe", {}, True),
        ("manual", "safe", {}, False),
        ("nonsense", "safe", {}, True),
        (None, "upstream", {}, False),
        ("restart", "upstream", {}, True),
        (None, "safe", {"app.starrocks.io/be-config-hash": "x"}, False),
    ],
)
def test_the_policy(policy: str | None, profile: str, annotations: dict[str, str], restarts: bool) -> None:
    world = with_file()
    world.raw["metadata"]["annotations"] = {"starrocks.com/profile": profile}
    if policy:
        world.raw["metadata"]["annotations"]["starrocks.com/config-change"] = policy
    world.raw["spec"][BE]["annotations"] = annotations
    for name in ("fe", "be", "cn"):
        world.put(
            applied(wanted(world.decide(), name))
            if name in world.decide().apply
            else world.get("StatefulSet", f"sample-{name}")
        )
    world.settle()
    file(world, "be", "two")
    decision = world.decide()
    found = "be" in decision.apply and HASH in (
        wanted(decision, "be")["spec"]["template"]["metadata"].get("annotations") or {}
    )
    assert found is restarts
    assert ("RestartPending" in findings(decision)) is not restarts
    assert ("UnknownConfigChange" in findings(decision)) is (policy == "nonsense")


def test_pods_that_started_after_the_change_are_not_pending() -> None:
    world = with_file()
    world.raw["metadata"]["annotations"] = {"starrocks.com/config-change": "manual"}
    file(world, "be", "two")
    assert "sample-be-0, sample-be-1, sample-be-2 may still run" in findings(world.decide())["RestartPending"]
    for ordinal in range(3):
        raw = world.get("Pod", f"sample-be-{ordinal}")
        raw["status"]["containerStatuses"][0]["state"]["running"]["startedAt"] = at(-30)
    assert "RestartPending" not in findings(world.decide())


def test_a_refused_file_is_not_rolled_out_and_ports_stay() -> None:
    world = with_file("fe", "one", query_port="9030")
    file(world, "fe", "two", query_port="19030", rpc_port="19020")
    decision = world.decide()
    assert "query_port must stay '9030'" in findings(decision)["ConfigurationRefused"]
    assert decision.context.properties["fe"]["query_port"] == "9030"
    assert HASH not in str(decision.apply.get("fe", ""))


def test_only_what_nothing_refers_to_is_collected() -> None:
    world = world_with(be={"a": "1"})
    first = mounts(world.get("StatefulSet", "sample-be"))
    world.raw["spec"][BE]["config"] = {"a": "2"}
    for item in world.decide().apply["be"]:
        world.put(applied(item))
    for name in ("sample-be-0", "sample-be-1"):
        world.get("Pod", name)["spec"]["volumes"] = [{"name": "starrocks-configuration", "configMap": {"name": first}}]
    world.observed_extras["mentioned"] = frozenset()
    assert not pruned(world)
    for name in ("sample-be-0", "sample-be-1"):
        world.get("Pod", name)["spec"]["volumes"] = []
    assert pruned(world) == [first]
    world.observed_extras["mentioned"] = None
    assert not pruned(world)
    world.observed_extras["mentioned"] = frozenset({first})
    assert not pruned(world)
    world.observed_extras["mentioned"] = frozenset()
    world.get("ConfigMap", first)["metadata"]["ownerReferences"] = []
    assert not pruned(world)


def pruned(world: World) -> list[str]:
    return [key.name for key in world.decide().prune if key.kind == "ConfigMap"]
