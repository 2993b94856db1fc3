"""Pods of the profile `safe` pass Pod Security's level `restricted` on the real API server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lab.controlplane.errors import LabError
from lab.controlplane.plane import ControlPlane
from starrocks_operator.decision import COMPONENTS, Context
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects import build

RESTRICTED = "restricted"
IMAGE = {"image": "starrocks/x-ubuntu:3.5.5"}
VOLUME = {"name": "data", "mountPath": "/data", "storageSize": "1Gi"}
CONFIGURED = {
    **IMAGE,
    "storageVolumes": [VOLUME],
    "configMapInfo": {"configMapName": "settings", "resolveKey": "x.conf"},
    "secrets": [{"name": "keytab", "mountPath": "/etc/krb5"}],
}
SPECS: dict[str, dict[str, Any]] = {
    "plain": {"fe": IMAGE, "be": IMAGE, "cn": IMAGE},
    "configured": {"fe": CONFIGURED, "be": CONFIGURED, "cn": CONFIGURED},
    "another-user": {
        name: IMAGE | {"podSecurityContext": {"runAsUser": 2000, "runAsGroup": 2000, "fsGroup": 2000}}
        for name in ("fe", "be", "cn")
    },
}
FIELDS = {"fe": "starRocksFeSpec", "be": "starRocksBeSpec", "cn": "starRocksCnSpec"}


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> ControlPlane:
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": RESTRICTED, "labels": {"pod-security.kubernetes.io/enforce": RESTRICTED}},
    }
    control_plane.kubectl("apply", "-f", "-", input=json.dumps(namespace))
    return control_plane


def pods(specs: dict[str, dict[str, Any]], profile: str) -> list[dict[str, Any]]:
    """A pod of each component, as its controller makes it."""
    spec: dict[str, Any] = {FIELDS[name]: part for name, part in specs.items()}
    spec |= {"starRocksFeObserverSpec": {"replicas": 1}, "starRocksFeProxySpec": {"replicas": 1}}
    cluster = StarRocksCluster.parse({"metadata": {"name": "pss", "namespace": RESTRICTED, "uid": "u"}, "spec": spec})
    replicas = {name: part.replicas for name, part in cluster.spec.components.items()}
    made = build(cluster, Context(profile=profile, components=COMPONENTS, replicas=replicas))
    workloads = [item for part in made.values() for item in part if item["kind"] in ("StatefulSet", "Deployment")]
    assert len(workloads) == 5
    return [pod_of(workload) for workload in workloads]


def pod_of(workload: dict[str, Any]) -> dict[str, Any]:
    template = workload["spec"]["template"]
    claims = {claim["metadata"]["name"]: claim for claim in workload["spec"].get("volumeClaimTemplates", ())}
    volumes = [volume for volume in template["spec"]["volumes"] if volume["name"] not in claims]
    volumes += [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]
    metadata = {"name": f"{workload['metadata']['name']}-0", "namespace": RESTRICTED}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**template["metadata"], **metadata},
        "spec": {**template["spec"], "volumes": volumes},
    }


def admit(plane: ControlPlane, pod: dict[str, Any]) -> str:
    return plane.kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-", input=json.dumps(pod))


@pytest.mark.parametrize("specs", SPECS.values(), ids=SPECS)
def test_safe_pods_pass_the_level_restricted(plane: ControlPlane, specs: dict[str, dict[str, Any]]) -> None:
    for pod in pods(specs, "safe"):
        assert "created" in admit(plane, pod)


def test_upstream_pods_do_not_unless_it_is_asked_for(plane: ControlPlane) -> None:
    with pytest.raises(LabError, match='violates PodSecurity "restricted'):
        admit(plane, pods(SPECS["plain"], "upstream")[0])
    asked = IMAGE | {
        "runAsNonRoot": True,
        "capabilities": {"drop": ["ALL"]},
        "podSecurityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
    }
    for pod in pods({"fe": asked, "be": asked, "cn": asked}, "upstream")[:4]:
        assert "created" in admit(plane, pod)


def test_root_is_refused(plane: ControlPlane) -> None:
    wanted = IMAGE | {"securityContext": {"runAsUser": 0}}
    with pytest.raises(LabError, match='violates PodSecurity "restricted'):
        admit(plane, pods({"fe": wanted, "be": IMAGE, "cn": IMAGE}, "safe")[0])
