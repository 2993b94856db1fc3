"""The frontend proxy, object by object as the official operator makes it, and what the profile `safe` adds."""

from __future__ import annotations

from typing import Any

from starrocks_operator.model import MountInfo, StarRocksCluster
from starrocks_operator.model.rules import violations
from starrocks_operator.objects.frontend_proxy import CONFIGURATION_HASH
from starrocks_operator.objects.volumes import mount_hash, volume_name
from starrocks_operator.observed import Children
from starrocks_operator.status.frontend_proxy import proxy_of, proxy_status
from tests.unit.object_samples import built, cluster

FE = {"replicas": 3, "image": "starrocks/fe-ubuntu:3.5.5"}
LABELS = {"app.starrocks.ownerreference/name": "kube", "app.kubernetes.io/component": "fe-proxy"}
POD_LABELS = {"app.starrocks.ownerreference/name": "kube-fe-proxy", "app.kubernetes.io/component": "fe-proxy"}
PROBE = {"failureThreshold": 3, "periodSeconds": 5, "httpGet": {"path": "/nginx/health", "port": 8080}}


def with_proxy(**proxy: Any) -> StarRocksCluster:
    return cluster(fe=FE, fe_proxy=proxy)


def test_the_objects_are_the_official_operators() -> None:
    made = built(with_proxy(replicas=2, nodeSelector={"disk": "ssd"}, service={"type": "NodePort"}))
    deployment, service = made["Deployment/kube-fe-proxy"], made["Service/kube-fe-proxy-service"]
    assert deployment["metadata"]["labels"] == service["metadata"]["labels"] == LABELS
    volume = volume_name(MountInfo(name="kube-fe-proxy", mount_path="/etc/nginx"))
    assert volume == f"kube-fe-proxy-{mount_hash(MountInfo(name='kube-fe-proxy', mount_path='/etc/nginx'))[:4]}"
    assert deployment["spec"] == {
        "replicas": 2,
        "selector": {"matchLabels": POD_LABELS},
        "template": {
            "metadata": {"labels": POD_LABELS},
            "spec": {
                "containers": [
                    {
                        "name": "nginx",
                        "image": "nginx:1.24.0",
                        "ports": [{"name": "http-port", "containerPort": 8080, "protocol": "TCP"}],
                        "volumeMounts": [{"name": volume, "mountPath": "/etc/nginx"}],
                        "imagePullPolicy": "IfNotPresent",
                        "livenessProbe": PROBE,
                        "readinessProbe": PROBE,
                        "securityContext": {
                            "runAsUser": 101,
                            "runAsGroup": 101,
                            "runAsNonRoot": True,
                            "allowPrivilegeEscalation": False,
                            "readOnlyRootFilesystem": False,
                        },
                    }
                ],
                "volumes": [{"name": volume, "configMap": {"name": "kube-fe-proxy"}}],
                "nodeSelector": {"disk": "ssd"},
                "automountServiceAccountToken": False,
            },
        },
    }
    assert service["spec"] == {
        "type": "NodePort",
        "selector": POD_LABELS,
        "ports": [{"name": "http-port", "protocol": "TCP", "port": 8080, "targetPort": 8080}],
    }


def test_what_upstream_ignores_is_accepted_and_ignored() -> None:
    plain = built(with_proxy())
    more = with_proxy(
        startupProbeFailureSeconds=5,
        lifecycle={"preStop": {"exec": {"command": ["true"]}}},
        configMapInfo={"configMapName": "x", "resolveKey": "y"},
    )
    assert built(more)["Deployment/kube-fe-proxy"] == plain["Deployment/kube-fe-proxy"]


def test_an_image_without_a_name_is_the_default_one() -> None:
    for image, expected in (("", "nginx:1.24.0"), (":1.25", "nginx:1.24.0"), ("mine:1", "mine:1")):
        template = built(with_proxy(image=image))["Deployment/kube-fe-proxy"]["spec"]["template"]
        assert template["spec"]["containers"][0]["image"] == expected


def test_the_configuration_names_the_frontends_the_resolver_and_the_port() -> None:
    made = built(with_proxy(), properties={"fe": {"http_port": "8130"}}, domain="corp.example")
    text = made["ConfigMap/kube-fe-proxy"]["data"]["nginx.conf"]
    assert "resolver kube-dns.kube-system.svc.corp.example valid=10s;" in text
    assert "set $frontend http://kube-fe-service.db.svc.corp.example:8130;" in text
    assert '$target ~ "kube-fe-search"' in text
    own = built(with_proxy(resolver="10.96.0.10"))["ConfigMap/kube-fe-proxy"]["data"]["nginx.conf"]
    assert "resolver 10.96.0.10 valid=10s;" in own


def test_a_resolver_cannot_say_more_than_a_name_server() -> None:
    broken = violations(with_proxy(resolver="10.0.0.1; } http { include /etc/passwd").to_dict())
    assert [violation.rule for violation in broken] == ["resolver"]
    assert not violations(with_proxy(resolver="10.96.0.10 ipv6=off").to_dict())


def test_safe_replaces_the_pods_when_the_configuration_changes() -> None:
    before, after = (
        built(with_proxy(resolver=resolver), profile="safe")["Deployment/kube-fe-proxy"]["spec"]["template"]
        for resolver in ("10.0.0.1", "10.0.0.2")
    )
    assert before["metadata"]["annotations"][CONFIGURATION_HASH] != after["metadata"]["annotations"][CONFIGURATION_HASH]
    assert after["spec"]["securityContext"] == {"seccompProfile": {"type": "RuntimeDefault"}}
    assert after["spec"]["containers"][0]["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_the_status_tells_what_its_deployment_and_pods_tell() -> None:
    of = with_proxy(replicas=2)
    assert proxy_status(None, of) == {}
    assert proxy_status(proxy_of(of, Children()), of)["reason"] == "it has no Deployment yet"
    status = {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2}
    live = {"kind": "Deployment", "metadata": {"name": "kube-fe-proxy", "generation": 1}, "spec": {"replicas": 2}}
    pods = [_pod(f"kube-fe-proxy-{each}", ready=True) for each in "ab"]
    told = proxy_status(proxy_of(of, Children.of([{**live, "status": status}, *pods])), of)
    assert told["phase"] == "running"
    assert told["runningInstances"] == ["kube-fe-proxy-a", "kube-fe-proxy-b"]
    pods[1] = _pod("kube-fe-proxy-b", ready=False)
    told = proxy_status(proxy_of(of, Children.of([{**live, "status": status}, *pods])), of)
    assert (told["phase"], told["reason"]) == ("reconciling", "1 pods of 2 are ready")


def _pod(name: str, *, ready: bool) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": str(ready)}]
    return {
        "kind": "Pod",
        "metadata": {"name": name, "labels": POD_LABELS},
        "status": {"phase": "Running", "conditions": conditions},
    }
