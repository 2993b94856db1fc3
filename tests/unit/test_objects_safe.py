"""Profile `safe`: what it adds to the official operator's objects, and that it respects what the user said."""

from __future__ import annotations

from typing import Any

import pytest

from starrocks_operator.objects.config_maps import start_script
from tests.unit.object_samples import built, cluster, main_of, pod_of

SAFE = {"profile": "safe"}


def test_frontends_start_by_our_script_and_see_the_marker() -> None:
    of = cluster(fe={})
    main, pod = main_of(of, "fe", **SAFE), pod_of(of, "fe", **SAFE)
    assert main["command"] == ["/bin/bash", "/etc/starrocks/operator/fe_start.sh"]
    assert main["args"] == ["$(FE_SERVICE_NAME)"]
    assert pod["volumes"][-2:] == [
        {"name": "starrocks-operator-scripts", "configMap": {"name": "kube-fe-scripts"}},
        {"name": "starrocks-bootstrap", "configMap": {"name": "kube-fe-bootstrap", "optional": True}},
    ]
    assert {mount["mountPath"] for mount in main["volumeMounts"]} >= {
        "/etc/starrocks/operator",
        "/etc/starrocks/bootstrap",
    }
    assert built(of, **SAFE)["ConfigMap/kube-fe-scripts"]["data"] == {"fe_start.sh": start_script()}


def test_the_command_of_the_user_stays() -> None:
    assert main_of(cluster(fe={"command": ["/my.sh"]}), "fe", **SAFE)["command"] == ["/my.sh"]


@pytest.mark.parametrize("component", ["be", "cn"])
def test_others_start_as_the_image_does(component: str) -> None:
    of = cluster(**{component: {}})
    assert main_of(of, component, **SAFE)["command"] == [f"/opt/starrocks/{component}_entrypoint.sh"]
    assert not [name for name in built(of, **SAFE) if name.startswith("ConfigMap")]


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
