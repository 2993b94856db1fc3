"""Observers' objects: the frontends' in all that must agree, their own in name, place and count."""

from __future__ import annotations

from typing import Any

import pytest

from starrocks_operator.objects.pod_scripts import scripts_in
from starrocks_operator.objects.references import references
from starrocks_operator.objects.safe import FRONTENDS_VARIABLE, OBSERVER_VARIABLE
from tests.unit.object_samples import built, cluster, main_of, pod_of

SAFE = {"profile": "safe"}
FE: dict[str, Any] = {
    "replicas": 3,
    "image": "starrocks/fe-ubuntu:3.5.5",
    "feEnvVars": [{"name": "MYSQL_PWD", "valueFrom": {"secretKeyRef": {"name": "root", "key": "password"}}}],
    "configMapInfo": {"configMapName": "fe-conf", "resolveKey": "fe.conf"},
    "storageVolumes": [{"name": "fe-meta", "mountPath": "/opt/starrocks/fe/meta", "storageSize": "10Gi"}],
    "service": {"type": "NodePort", "ports": [{"name": "query", "nodePort": 30930}]},
    "requests": {"cpu": "4"},
    "command": ["/my.sh"],
    "args": ["x"],
}


def variables(main: dict[str, Any]) -> dict[str, Any]:
    return {entry["name"]: entry.get("value") for entry in main["env"]}


def test_what_is_not_said_is_as_the_frontends_have_it() -> None:
    of = cluster(fe=FE, **{"fe-observer": {"replicas": 2}})
    main, frontends = main_of(of, "fe-observer", **SAFE), main_of(of, "fe", **SAFE)
    for field in ("name", "image", "ports", "volumeMounts", "resources", "lifecycle", "readinessProbe"):
        assert main[field] == frontends[field], field
    workload = built(of, **SAFE)["StatefulSet/kube-fe-observer"]
    assert workload["spec"]["replicas"] == 2
    assert workload["spec"]["serviceName"] == "kube-fe-observer-search"
    (template,) = workload["spec"]["volumeClaimTemplates"]
    assert template["metadata"]["name"] == "fe-meta"
    assert references(of).configurations["fe-observer"] == references(of).configurations["fe"]


def test_what_is_said_goes_before_it() -> None:
    own = {
        "requests": {"cpu": "8"},
        "nodeSelector": {"pool": "reads"},
        "feEnvVars": [{"name": "TZ", "value": "UTC"}],
        "service": {"type": "LoadBalancer", "annotations": {"a": "b"}},
    }
    of = cluster(fe=FE, **{"fe-observer": own})
    main = main_of(of, "fe-observer", **SAFE)
    assert main["resources"] == {"requests": {"cpu": "8"}}
    assert pod_of(of, "fe-observer", **SAFE)["nodeSelector"] == {"pool": "reads"}
    assert {"TZ", "MYSQL_PWD"} <= set(variables(main))
    service = built(of, **SAFE)["Service/kube-fe-observer-service"]
    assert service["spec"]["type"] == "LoadBalancer"
    assert service["metadata"]["annotations"]["a"] == "b"
    assert all("nodePort" not in port for port in service["spec"]["ports"])


def test_the_frontends_service_is_not_taken_over() -> None:
    service = built(cluster(fe=FE, **{"fe-observer": {}}), **SAFE)["Service/kube-fe-observer-service"]
    assert service["spec"]["type"] == "ClusterIP"
    assert all("nodePort" not in port for port in service["spec"]["ports"])


@pytest.mark.parametrize("profile", ["safe", "upstream"])
def test_they_start_by_our_script_whatever_the_profile_and_the_frontends_command(profile: str) -> None:
    of = cluster(fe=FE, **{"fe-observer": {}})
    main = main_of(of, "fe-observer", profile=profile)
    assert main["command"] == ["/bin/bash", "/etc/starrocks/operator/fe_start.sh"]
    assert main["args"] == ["$(FE_SERVICE_NAME)"]
    said = variables(main)
    assert said[OBSERVER_VARIABLE] == "true"
    assert said[FRONTENDS_VARIABLE] == "kube-fe.kube-fe-search"
    made = built(of, profile=profile)
    workload = made["StatefulSet/kube-fe-observer"]
    assert "fe_start.sh" in made[f"ConfigMap/{scripts_in(workload['spec']['template'])}"]["data"]
    assert workload["metadata"]["annotations"]["starrocks.com/profile"] == "safe"


def test_nobody_can_talk_them_out_of_being_observers() -> None:
    own = {"feEnvVars": [{"name": OBSERVER_VARIABLE, "value": "false"}]}
    said = main_of(cluster(fe=FE, **{"fe-observer": own}), "fe-observer")["env"]
    assert [entry["value"] for entry in said if entry["name"] == OBSERVER_VARIABLE] == ["true"]
    assert OBSERVER_VARIABLE not in variables(main_of(cluster(fe=FE, **{"fe-observer": own}), "fe"))


def test_they_ask_the_service_that_adopted_frontends_have() -> None:
    of = cluster(fe=FE, **{"fe-observer": {}})
    main = main_of(of, "fe-observer", service_names={"fe": "kube-old-search"})
    assert variables(main)[FRONTENDS_VARIABLE] == "kube-fe.kube-old-search"


def test_no_service_of_the_frontends_leads_to_them() -> None:
    made = built(cluster(fe=FE, **{"fe-observer": {}}), **SAFE)
    labels = made["StatefulSet/kube-fe-observer"]["spec"]["template"]["metadata"]["labels"]
    for name in ("Service/kube-fe-service", "Service/kube-fe-search", "StatefulSet/kube-fe"):
        selector = made[name]["spec"]["selector"]
        assert not selector.get("matchLabels", selector).items() <= labels.items()
    assert made["Service/kube-fe-observer-search"]["spec"]["selector"].items() <= labels.items()


def test_their_budget_is_their_own() -> None:
    made = built(cluster(fe=FE, **{"fe-observer": {"replicas": 2}}), **SAFE)
    selector = made["PodDisruptionBudget/kube-fe-observer"]["spec"]["selector"]
    assert selector == made["StatefulSet/kube-fe-observer"]["spec"]["selector"]


def test_the_marker_names_those_that_leave() -> None:
    of = cluster(fe=FE, **{"fe-observer": {"replicas": 1}})
    made = built(of, live={"fe": 3, "fe-observer": 3}, wished={"fe": 3, "fe-observer": 1}, **SAFE)
    assert made["ConfigMap/kube-fe-bootstrap"]["data"]["leaving"] == "kube-fe-observer-1 kube-fe-observer-2"


def test_none_are_made_without_their_spec() -> None:
    assert not [name for name in built(cluster(fe=FE), **SAFE) if "observer" in name]
