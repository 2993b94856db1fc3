"""Profile `safe`: what it adds to the official operator's objects, and that it respects what the user said."""

from __future__ import annotations

from typing import Any

import pytest

from starrocks_operator.objects.pod_scripts import scripts_in, shipped
from tests.unit.object_samples import built, cluster, main_of, pod_of

SAFE = {"profile": "safe"}
SPECS = ("fe", "be", "cn")


def test_frontends_start_by_our_script_and_see_the_marker() -> None:
    of = cluster(fe={})
    main, pod = main_of(of, "fe", **SAFE), pod_of(of, "fe", **SAFE)
    assert main["command"] == ["/bin/bash", "/etc/starrocks/operator/fe_start.sh"]
    assert main["args"] == ["$(FE_SERVICE_NAME)"]
    scripts = scripts_in({"spec": pod})
    assert pod["volumes"][-3:] == [
        {"name": "starrocks-operator-scripts", "configMap": {"name": scripts}},
        {"name": "starrocks-debug", "configMap": {"name": "kube-fe-debug", "optional": True}},
        {"name": "starrocks-bootstrap", "configMap": {"name": "kube-fe-bootstrap", "optional": True}},
    ]
    assert {mount["mountPath"] for mount in main["volumeMounts"]} >= {
        "/etc/starrocks/operator",
        "/etc/starrocks/bootstrap",
        "/etc/starrocks/debug",
    }
    made = built(of, **SAFE)[f"ConfigMap/{scripts}"]
    assert made["immutable"]
    assert made["data"]["fe_start.sh"] == shipped("fe_start.sh")


def test_the_command_of_the_user_stays() -> None:
    assert main_of(cluster(fe={"command": ["/my.sh"]}), "fe", **SAFE)["command"] == ["/my.sh"]


@pytest.mark.parametrize("component", ["be", "cn"])
def test_others_start_by_our_script_and_read_no_marker(component: str) -> None:
    of = cluster(**{component: {}})
    main = main_of(of, component, **SAFE)
    assert main["command"] == ["/bin/bash", "/etc/starrocks/operator/node_start.sh", component]
    assert "/etc/starrocks/bootstrap" not in {mount["mountPath"] for mount in main["volumeMounts"]}
    scripts = scripts_in({"spec": pod_of(of, component, **SAFE)})
    assert [name for name in built(of, **SAFE) if name.startswith("ConfigMap")] == [f"ConfigMap/{scripts}"]


@pytest.mark.parametrize("component", ["fe", "be", "cn"])
def test_profile_upstream_knows_nothing_of_our_scripts(component: str) -> None:
    of = cluster(**{component: {}})
    assert "/etc/starrocks/" not in str(built(of)[f"StatefulSet/kube-{component}"])


def test_every_script_of_ours_has_a_name_by_its_content() -> None:
    names = {
        component: scripts_in({"spec": pod_of(cluster(**{component: {}}), component, **SAFE)}) for component in SPECS
    }
    assert {name.rpartition("-")[0] for name in names.values()} == {f"kube-{component}-scripts" for component in SPECS}


def test_probes_ask_inside_and_the_start_is_not_limited_unless_the_user_does() -> None:
    main = main_of(cluster(be={"livenessProbeFailureSeconds": 60, "readinessProbeFailureSeconds": 0}), "be", **SAFE)
    probe = ["/bin/bash", "/etc/starrocks/operator/pod_probe.sh", "be"]
    patience = {"failureThreshold": 12, "periodSeconds": 5, "timeoutSeconds": 5}
    assert main["livenessProbe"] == {**patience, "exec": {"command": [*probe, "alive", "8040"]}}
    assert "startupProbe" not in main
    assert "readinessProbe" not in main
    limited = main_of(cluster(fe={"startupProbeFailureSeconds": 600}), "fe", **SAFE)["startupProbe"]
    assert (limited["failureThreshold"], limited["exec"]["command"][-2:]) == (120, ["started", "8030"])


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"image": "starrocks/be-ubuntu:3.3.9"}, ["plain", "110"]),
        ({"image": "starrocks/be-ubuntu:3.5.9"}, ["graceful", "110"]),
        ({"image": "starrocks/be-ubuntu:3.5.9", "terminationGracePeriodSeconds": 600}, ["graceful", "590"]),
        ({"image": "starrocks/be-ubuntu:3.5.9", "terminationGracePeriodSeconds": 5}, ["graceful", "1"]),
    ],
)
def test_the_stop_leaves_a_part_of_the_grace_period(spec: Any, told: list[str]) -> None:
    command = main_of(cluster(be=spec), "be", **SAFE)["lifecycle"]["preStop"]["exec"]["command"]
    assert command == ["/bin/bash", "/etc/starrocks/operator/pod_stop.sh", "be", *told]


def test_a_hook_of_the_user_stays() -> None:
    hooks = {"preStop": {"exec": {"command": ["/bye"]}}, "postStart": {"exec": {"command": ["/hello"]}}}
    assert main_of(cluster(be={"lifecycle": hooks}), "be", **SAFE)["lifecycle"] == hooks


@pytest.mark.parametrize(
    ("component", "replicas", "wanted"),
    [("fe", 1, False), ("fe", 2, True), ("fe", 3, True), ("be", 1, False), ("be", 3, True), ("cn", 3, False)],
)
def test_disruption_budgets(component: str, replicas: int, wanted: bool) -> None:
    made = built(cluster(**{component: {"replicas": replicas}}), **SAFE)
    budget = made.get(f"PodDisruptionBudget/kube-{component}")
    assert (budget is not None) is wanted
    if budget:
        assert budget["spec"] == {
            "maxUnavailable": 1,
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
            "selector": made[f"StatefulSet/kube-{component}"]["spec"]["selector"],
        }


def test_pods_prefer_nodes_of_their_own_unless_the_user_has_an_affinity() -> None:
    spread = pod_of(cluster(be={}), "be", **SAFE)["affinity"]["podAntiAffinity"]
    term = spread["preferredDuringSchedulingIgnoredDuringExecution"][0]["podAffinityTerm"]
    assert term["topologyKey"] == "kubernetes.io/hostname"
    assert term["labelSelector"]["matchLabels"]["app.starrocks.ownerreference/name"] == "kube-be"
    own = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}}
    assert pod_of(cluster(be={"affinity": own}), "be", **SAFE)["affinity"] == own
    assert "affinity" not in pod_of(cluster(be={"affinity": {}}), "be", **SAFE)


USER = {"runAsUser": 1000, "runAsGroup": 1000, "runAsNonRoot": True}


@pytest.mark.parametrize(
    ("spec", "container", "pod"),
    [
        ({}, USER | {"capabilities": {"drop": ["ALL"]}}, {"fsGroup": 1000}),
        ({"runAsNonRoot": True}, USER | {"capabilities": {"drop": ["ALL"]}}, {"fsGroup": 1000}),
        ({"runAsNonRoot": False}, {}, {}),
        (
            {"capabilities": {"add": ["SYS_PTRACE"]}},
            USER | {"capabilities": {"add": ["SYS_PTRACE"]}},
            {"fsGroup": 1000},
        ),
        (
            {"readOnlyRootFilesystem": True},
            USER | {"capabilities": {"drop": ["ALL"]}, "readOnlyRootFilesystem": True},
            {"fsGroup": 1000},
        ),
    ],
)
def test_processes_have_the_rights_they_need(spec: Any, container: Any, pod: Any) -> None:
    made = pod_of(cluster(be=spec), "be", **SAFE)
    fixed = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": False}
    assert made["containers"][0]["securityContext"] == fixed | container
    seccomp = {"fsGroupChangePolicy": "OnRootMismatch", "seccompProfile": {"type": "RuntimeDefault"}}
    assert made["securityContext"] == seccomp | pod


def test_the_profile_is_written_on_the_stateful_set() -> None:
    for profile in ("safe", "upstream"):
        made = built(cluster(fe={}), profile=profile)["StatefulSet/kube-fe"]
        assert made["metadata"]["annotations"]["starrocks.com/profile"] == profile


def test_the_marker_is_there_in_both_profiles() -> None:
    for profile in ("safe", "upstream"):
        data = built(cluster(fe={}), profile=profile, cluster_id="77")["ConfigMap/kube-fe-bootstrap"]["data"]
        assert data["cluster-id"] == "77"
        assert data["owner-uid"]
