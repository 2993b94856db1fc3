"""Pods that are debugged, and parameters of the nodes' kernels: annotations that reach the inside of pods."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from starrocks_operator.decision import Decision
from starrocks_operator.membership.pods import Pod
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.debugging import DEBUG, debugged_pods, not_understood
from starrocks_operator.objects.host_sysctls import ANNOTATION, HostSysctlError, host_sysctls_of, wishes
from starrocks_operator.objects.metadata import TEMPLATE_HASH, TEMPLATE_SOURCE
from starrocks_operator.objects.names import debug_name
from starrocks_operator.observed import ObjectKey
from tests.unit.membership_world import World
from tests.unit.object_samples import built, cluster, main_of, pod_of
from tests.unit.roll_world import RollWorld
from watcher.trim import trim

SAFE = {"profile": "safe"}
SYSCTLS = "at-least:vm.max_map_count=2000000 exactly:vm.swappiness=0"


def annotated(of: StarRocksCluster, **annotations: str) -> StarRocksCluster:
    names = {"debug": DEBUG, "sysctls": ANNOTATION}
    told = {names[name]: value for name, value in annotations.items()}
    return of.model_copy(update={"metadata": of.metadata.model_copy(update={"annotations": told})})


def reasons(decision: Decision) -> dict[str, str]:
    return {finding.reason: finding.message for finding in decision.findings}


# -- which pods ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "pods", "strange"),
    [
        ("", {}, ()),
        ("fe-1,be-0", {"fe": "kube-fe-1", "be": "kube-be-0"}, ()),
        (" be-0 ,, kube-be-12,be-0", {"be": "kube-be-0 kube-be-12"}, ()),
        ("fe-observer-2", {"fe-observer": "kube-fe-observer-2"}, ()),
        ("cn-0,be-01,be,be-x,other-be-0", {}, ("cn-0", "be-01", "be", "be-x", "other-be-0")),
    ],
)
def test_pods_are_named_by_component_and_ordinal(text: str, pods: dict[str, str], strange: tuple[str, ...]) -> None:
    of = annotated(cluster(fe={}, be={}, **{"fe-observer": {}}), debug=text)
    assert debugged_pods(of) == dict(sorted(pods.items()))
    assert not_understood(of) == strange


def test_a_cluster_that_is_called_like_a_component_can_be_debugged_too() -> None:
    of = annotated(cluster("fe", fe={}), debug="fe-1,fe-fe-0")
    assert debugged_pods(of) == {"fe": "fe-fe-1 fe-fe-0"}


# -- objects ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("component", ["fe", "be", "cn"])
def test_the_list_is_made_for_its_component_and_no_template_changes_for_it(component: str) -> None:
    of = cluster(fe={}, be={}, cn={})
    name = debug_name(of, component)
    plain = built(of, **SAFE)
    debugged = built(of, **SAFE, debugged={component: f"kube-{component}-1"})
    assert {key for key in debugged if key not in plain} == {f"ConfigMap/{name}"}
    assert debugged[f"ConfigMap/{name}"]["data"] == {"pods": f"kube-{component}-1"}
    for key, made in plain.items():
        assert made == debugged[key]
    mounts = {mount["mountPath"]: mount["name"] for mount in main_of(of, component, **SAFE)["volumeMounts"]}
    volumes = {volume["name"]: volume.get("configMap") for volume in pod_of(of, component, **SAFE)["volumes"]}
    assert volumes[mounts["/etc/starrocks/debug"]] == {"name": name, "optional": True}


def test_profile_upstream_has_no_such_list_but_for_observers() -> None:
    of = cluster(fe={}, be={}, **{"fe-observer": {}})
    made = built(of, debugged={"be": "kube-be-0", "fe-observer": "kube-fe-observer-0"})
    assert [key for key in made if key.endswith("-debug")] == ["ConfigMap/kube-fe-observer-debug"]


def test_the_list_goes_with_the_annotation() -> None:
    world = World()
    world.raw["metadata"]["annotations"] = {DEBUG: "be-1"}
    wanted = next(item for item in world.decide().apply["be"] if item["metadata"]["name"] == "sample-be-debug")
    assert wanted["data"] == {"pods": "sample-be-1"}
    world.put(wanted)
    assert ObjectKey("ConfigMap", "sample-be-debug") not in world.decide().prune
    del world.raw["metadata"]["annotations"][DEBUG]
    assert ObjectKey("ConfigMap", "sample-be-debug") in world.decide().prune


def test_it_is_said_who_is_debugged_and_who_cannot_be() -> None:
    world = World()
    world.raw["metadata"]["annotations"] = {DEBUG: "be-1,fe-0,xe-2"}
    volumes = [{"name": "starrocks-debug", "configMap": {"name": "sample-be-debug", "optional": True}}]
    pod = world.get("Pod", "sample-be-1")
    world.put({**pod, "spec": {**pod.get("spec", {}), "volumes": volumes}})
    said = reasons(world.decide())
    assert "sample-be-1." in said["PodsDebugged"]
    assert said["DebugUnavailable"].startswith("sample-fe-0 cannot be debugged")
    assert "'xe-2'" in said["DebugUnknown"]


# -- rolls -----------------------------------------------------------------------------------------------------


def roll_until_it_waits(world: RollWorld) -> Decision:
    for _ in range(80):
        decision = world.turn()
    return decision


def test_a_roll_leaves_out_who_is_debugged_until_he_is_not() -> None:
    world = RollWorld().label("fe", "be").annotate(debug="be-1")
    decision = roll_until_it_waits(world)
    assert world.order == ["sample-be-2", "sample-be-0", "sample-fe-2", "sample-fe-1", "sample-fe-0"]
    assert decision.rollout["gate"] == "NotDebugged"
    assert any("sample-be-1 is to be replaced, but not yet: its owner debugs it" in wait for wait in decision.waits)
    del world.raw["metadata"]["annotations"][DEBUG]
    world.remove("ConfigMap", "sample-be-debug")  # this world prunes nothing by itself
    assert world.roll()[-1] == "sample-be-1"


def test_between_releases_nobody_overtakes_the_component_of_one_that_is_debugged() -> None:
    world = RollWorld().change(fe="3.5.6", be="3.5.6").annotate(debug="be-1")
    assert roll_until_it_waits(world).rollout["gate"] == "NotDebugged"
    assert world.order == ["sample-be-2", "sample-be-0"]


def test_a_broken_one_is_not_replaced_either_and_the_gate_has_its_switch() -> None:
    world = RollWorld().label("be").annotate(debug="be-2")
    world.backends[2] = replace(world.backends[2], alive=False)
    roll_until_it_waits(world)
    assert "sample-be-2" not in world.order
    generation = world.raw["metadata"]["generation"]
    world.annotate(skip_rollout_gates=f"NotDebugged,BackendsAlive,NewGenerationAlive@{generation}")
    assert roll_until_it_waits(world)
    assert "sample-be-2" in world.order


# -- who registers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of", "changes", "registers"),
    [
        (cluster(be={}), SAFE, False),
        (cluster(be={}), {}, True),
        (cluster(be={"command": ["/my.sh"]}), SAFE, True),
        (cluster(be={"sidecars": [{"name": "first", "image": "i"}]}), SAFE, False),
        (cluster(be={"beEnvVars": [{"name": "STARROCKS_SELF_REGISTRATION", "value": "true"}]}), SAFE, True),
        (cluster(be={"beEnvVars": [{"name": "STARROCKS_SELF_REGISTRATION", "value": "no"}]}), SAFE, False),
    ],
)
def test_a_pod_tells_whether_it_registers_itself(of: StarRocksCluster, changes: Any, registers: bool) -> None:
    pod = {"kind": "Pod", "metadata": {"name": "kube-be-0"}, "spec": pod_of(of, "be", **changes)}
    assert Pod.of(pod).registers_itself is registers
    assert Pod.of(trim(pod)).registers_itself is registers


# -- the nodes' kernels ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ""),
        (" , ", ""),
        ("vm.swappiness=0, vm.max_map_count = 2000000", SYSCTLS),
        ("vm.max_map_count=02000000", "at-least:vm.max_map_count=2000000"),
    ],
)
def test_what_the_init_container_is_told(text: str, told: str) -> None:
    assert wishes(text) == told


@pytest.mark.parametrize(
    "text",
    [
        "kernel.core_pattern=|/bin/sh",
        "vm.max_map_count",
        "vm.max_map_count=1",
        "vm.max_map_count=2000000; reboot",
        "vm.max_map_count=$(reboot)",
        "vm.max_map_count=٢٠٠٠٠٠٠",
        "vm.max_map_count=99999999999",
        "vm.swappiness=101",
        "vm.swappiness=1,vm.swappiness=2",
        "../../etc=1",
        "net.core.somaxconn=1024",
    ],
)
def test_nothing_else_is_taken(text: str) -> None:
    with pytest.raises(HostSysctlError):
        wishes(text)


def test_one_privileged_container_sets_them_before_all_others() -> None:
    of = cluster(be={"initContainers": [{"name": "mine"}]})
    first, second = pod_of(of, "be", **SAFE, host_sysctls={"be": SYSCTLS})["initContainers"]
    assert second == {"name": "mine"}
    assert first["command"] == ["/bin/bash", "/etc/starrocks/operator/host_sysctls.sh"]
    assert first["args"] == SYSCTLS.split()
    assert first["securityContext"]["privileged"] is True
    assert "initContainers" not in pod_of(cluster(be={}), "be", **SAFE)
    assert "initContainers" not in pod_of(cluster(be={}), "be", host_sysctls={"be": SYSCTLS})


def test_they_are_the_owners_word_and_so_change_the_template_source() -> None:
    def marks(**changes: Any) -> dict[str, str]:
        made = built(cluster(be={}, cn={}), **SAFE, **changes)["StatefulSet/kube-be"]
        return {key: made["metadata"]["annotations"][key] for key in (TEMPLATE_SOURCE, TEMPLATE_HASH)}

    plain, asked = marks(), marks(host_sysctls={"be": SYSCTLS})
    assert all(plain[key] != asked[key] for key in plain)
    assert marks(host_sysctls={"cn": SYSCTLS}) == plain


def test_while_it_is_not_understood_the_stateful_sets_keep_what_they_have() -> None:
    of = cluster(fe={}, be={}, cn={})
    live = built(of, **SAFE, host_sysctls={"be": SYSCTLS})["StatefulSet/kube-be"]
    assert host_sysctls_of(annotated(of, sysctls="vm.swappiness=x"), {"be": live}) == {"be": SYSCTLS}
    assert host_sysctls_of(annotated(of, sysctls="vm.swappiness=1"), {"be": live}) == dict.fromkeys(
        ("be", "cn"), "exactly:vm.swappiness=1"
    )
    assert host_sysctls_of(of, {"be": live}) == {}


@pytest.mark.parametrize(("text", "refused"), [("vm.swappiness=1", False), ("vm.swappiness=x", True)])
def test_what_is_not_understood_is_said(text: str, refused: bool) -> None:
    world = World()
    world.raw["metadata"]["annotations"] = {ANNOTATION: text}
    assert ("HostSysctlsRefused" in reasons(world.decide())) is refused
