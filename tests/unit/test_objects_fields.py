"""Every field of the resource, one row each: what it says, where it ends up, and what is there when it is absent.

The profile is `upstream`: what is absent is what the official operator makes of it. Below, what `safe` makes of rights.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import pytest

from starrocks_operator.components import COMPONENTS, FE_PROXY
from starrocks_operator.decision import Context, Customs
from starrocks_operator.model import (
    AutoScalingPolicy,
    BackendSpec,
    ComputeNodeSpec,
    FrontendProxySpec,
    FrontendSpec,
    StorageVolume,
)
from starrocks_operator.model.service import ServiceSpec
from tests.unit.object_samples import ENV_FIELDS, built, cluster
from watcher.settings import parse

MISSING = "(not there)"
MEMBERS = ("fe", "be", "cn")
WORKLOADS = (*MEMBERS, "fe_proxy")
MODELS = {"fe": FrontendSpec, "be": BackendSpec, "cn": ComputeNodeSpec, "fe_proxy": FrontendProxySpec}
WITHOUT_OBJECTS = {"name", "probe", "fsGroup", "replicaInstances"}  # of v1alpha1
HOOK = {"exec": {"command": ["/bin/true"]}}
SIDECAR = {"name": "tail", "image": "busybox"}
VOLUME = {"name": "v", "mountPath": "/v", "storageSize": "1Gi"}
METRIC = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 60}}}
MOUNTED = {"name": "m", "mountPath": "/m"}
PROBES = {"startup": (300, 60), "liveness": (15, 3), "readiness": (15, 3)}


@dataclass(frozen=True)
class Row:
    """field: below the component's spec. at: below one of the objects in `found`.

    becomes, absent: what is found there with the field and without it.
    """

    field: str
    value: Any = field(hash=False)
    at: str
    becomes: Any = field(hash=False)
    absent: Any = field(default=MISSING, hash=False)
    of: tuple[str, ...] = WORKLOADS
    beside: Any = field(default_factory=dict, hash=False)  # what else is said, in both cases

    def __str__(self) -> str:
        return f"{self.field}-{self.at}"


def same(name: str, value: Any, at: str, absent: Any = MISSING, of: tuple[str, ...] = WORKLOADS) -> Row:
    """The value as it is."""
    return Row(name, value, at, value, absent, of)


def in_service(name: str, value: Any, *, service_type: str = "ClusterIP", absent: Any = MISSING) -> Row:
    beside = {"service": {"type": service_type}}
    return Row(f"service.{name}", value, f"service.spec.{name}", value, absent, beside=beside)


def probe(name: str, seconds: int, threshold: int, of: tuple[str, ...]) -> tuple[Row, ...]:
    at, usual = f"main.{name}Probe", PROBES[name][1]
    return (
        Row(f"{name}ProbeFailureSeconds", seconds, f"{at}.failureThreshold", threshold, usual, of),
        Row(f"{name}ProbeFailureSeconds", 0, f"{at}.failureThreshold", MISSING, usual, of),
    )


ROWS: tuple[Row, ...] = (
    same("replicas", 2, "workload.spec.replicas", 1),
    same("image", "x:1", "main.image", of=MEMBERS),
    same("image", "x:1", "main.image", "nginx:1.24.0", of=("fe_proxy",)),
    Row("image", ":1", "main.image", "nginx:1.24.0", "nginx:1.24.0", of=("fe_proxy",)),
    same("imagePullPolicy", "Always", "main.imagePullPolicy", "IfNotPresent"),
    same("imagePullSecrets", [{"name": "s"}], "pod.imagePullSecrets"),
    same("requests", {"cpu": "1"}, "main.resources.requests"),
    same("limits", {"memory": "1Gi"}, "main.resources.limits"),
    same("claims", [{"name": "gpu"}], "main.resources.claims"),
    same("annotations", {"a": "b"}, "template.metadata.annotations"),
    Row("sharedLabels", {"team": "lake"}, "workload.metadata.labels.team", "lake"),
    Row("sharedLabels", {"team": "lake"}, "template.metadata.labels.team", "lake"),
    Row("sharedLabels", {"team": "lake"}, "service.metadata.labels.team", "lake"),
    Row("podLabels", {"team": "lake"}, "template.metadata.labels.team", "lake"),
    Row("podLabels", {"team": "lake"}, "workload.metadata.labels.team", MISSING),
    same("schedulerName", "s", "pod.schedulerName"),
    same("nodeSelector", {"disk": "fast"}, "pod.nodeSelector"),
    same("affinity", {"nodeAffinity": {}}, "pod.affinity"),
    same("tolerations", [{"operator": "Exists"}], "pod.tolerations"),
    same("topologySpreadConstraints", [{"maxSkew": 1}], "pod.topologySpreadConstraints"),
    same("priorityClassName", "high", "pod.priorityClassName"),
    Row("podSecurityContext", {"runAsUser": 7}, "pod.securityContext.runAsUser", 7),
    Row("securityContext", {"runAsUser": 7}, "main.securityContext.runAsUser", 7, of=MEMBERS),
    Row("securityContext", {"runAsUser": 7}, "main.securityContext.runAsUser", 7, 101, of=("fe_proxy",)),
    Row("securityContext", {"procMount": "Default"}, "main.securityContext.allowPrivilegeEscalation", False, False),
    Row("podSecurityContext", {"runAsUser": 7}, "main.securityContext.runAsUser", MISSING, 101, of=("fe_proxy",)),
    same("serviceAccount", "sa", "pod.serviceAccountName"),
    same("shareProcessNamespace", True, "pod.shareProcessNamespace"),
    Row("shareProcessNamespace", None, "pod.automountServiceAccountToken", False, False),
    Row("lifecycle", {"preStop": HOOK}, "main.lifecycle", MISSING, MISSING, ("fe_proxy",)),
    Row(
        "lifecycle",
        {"preStop": HOOK},
        "main.lifecycle.preStop.exec.command",
        ["/bin/true"],
        ["/bin/bash", "-c", "/opt/starrocks/{c}/bin/stop_{c}.sh -g"],
        MEMBERS,
    ),
    Row("lifecycle", {"postStart": HOOK}, "main.lifecycle.postStart", HOOK, MISSING, MEMBERS),
    *probe("startup", 301, 61, MEMBERS),
    *probe("liveness", 60, 12, WORKLOADS),
    *probe("readiness", 1, 1, WORKLOADS),
    Row("startupProbeFailureSeconds", 5, "main.startupProbe", MISSING, MISSING, ("fe_proxy",)),
    Row("configMapInfo", {"configMapName": "c", "resolveKey": "k"}, "pod.volumes[c].configMap.name", "c", of=MEMBERS),
    Row(
        "configMapInfo",
        {"configMapName": "c", "resolveKey": "k"},
        "main.volumeMounts[c].mountPath",
        "/etc/starrocks/{c}/conf",
        of=MEMBERS,
    ),
    Row(
        "configMapInfo",
        {"configMapName": "c", "resolveKey": "k"},
        "main.env[CONFIGMAP_MOUNT_PATH].value",
        "/etc/starrocks/{c}/conf",
        of=MEMBERS,
    ),
    Row("configMapInfo", {"configMapName": "c"}, "pod.volumes[c]", MISSING),
    Row("configMapInfo", {"configMapName": "c", "resolveKey": "k"}, "pod.volumes[c]", MISSING, of=("fe_proxy",)),
    # the external Service
    same("service.type", "NodePort", "service.spec.type", "ClusterIP"),
    in_service("loadBalancerIP", "192.0.2.1", service_type="LoadBalancer"),
    Row("service.loadBalancerIP", "192.0.2.1", "service.spec.loadBalancerIP", MISSING),
    in_service("loadBalancerSourceRanges", ["192.0.2.0/24"], service_type="LoadBalancer"),
    in_service("externalTrafficPolicy", "Local", service_type="NodePort"),
    in_service("ipFamilies", ["IPv6"]),
    in_service("ipFamilyPolicy", "PreferDualStack"),
    Row("service.ipFamilies", ["IPv6", "IPv4"], "headless.spec.ipFamilies", ["IPv6", "IPv4"], of=MEMBERS),
    Row("service.ipFamilyPolicy", "RequireDualStack", "headless.spec.ipFamilyPolicy", "RequireDualStack", of=MEMBERS),
    in_service("clusterIP", "10.0.0.9"),
    Row("service.clusterIP", "10.0.0.9", "headless.spec.clusterIP", "None", "None", MEMBERS),
    Row("service.annotations", {"a": "b"}, "service.metadata.annotations.a", "b"),
    Row("service.annotations", {"a": "b"}, "headless.metadata.annotations.a", MISSING, of=MEMBERS),
    Row("service.labels", {"team": "lake"}, "service.metadata.labels.team", "lake"),
    Row("service.labels", {"team": "lake"}, "headless.metadata.labels.team", MISSING, of=MEMBERS),
    Row("service.ports", [{"name": "query", "port": 1}], "service.spec.ports[query].port", 1, 9030, ("fe",)),
    Row("service.ports", [{"containerPort": 9030, "port": 1}], "service.spec.ports[query].port", 1, 9030, ("fe",)),
    Row("service.ports", [{"name": "be", "port": 1}], "service.spec.ports[be].targetPort", 9060, 9060, ("be",)),
    Row(
        "service.ports",
        [{"name": "thrift", "nodePort": 30001}],
        "service.spec.ports[thrift].nodePort",
        30001,
        of=("cn",),
    ),
    Row(
        "service.ports",
        [{"name": "http-port", "appProtocol": "http"}],
        "service.spec.ports[http-port].appProtocol",
        "http",
        of=("fe_proxy",),
    ),
    Row(
        "service.ports",
        [{"name": "rpc", "appProtocol": "x"}],
        "service.spec.ports[query].appProtocol",
        "mysql",
        "mysql",
        ("fe",),
    ),
    Row("service.port", 1, "service.spec.ports[query].port", 1, 9030, ("fe",)),
    Row("service.port", 1, "service.spec.ports[webserver].port", 1, 8040, ("be", "cn")),
    Row("service.port", 1, "service.spec.ports[http-port].port", 1, 8080, ("fe_proxy",)),
    Row("service.portName", "http", "service.spec.ports[http].port", 1, 8030, ("fe",), {"service": {"port": 1}}),
    Row(
        "service.port",
        1,
        "service.spec.ports[query].port",
        2,
        2,
        ("fe",),
        {"service": {"ports": [{"name": "query", "port": 2}]}},
    ),
    # volumes
    Row("storageVolumes", [VOLUME], "pod.volumes[v].persistentVolumeClaim.claimName", "v"),
    Row("storageVolumes", [VOLUME], "main.volumeMounts[v].mountPath", "/v"),
    Row("storageVolumes", [VOLUME], "workload.spec.volumeClaimTemplates[0].metadata.name", "v", of=MEMBERS),
    Row(
        "storageVolumes",
        [VOLUME],
        "workload.spec.volumeClaimTemplates[0].spec.resources.requests.storage",
        "1Gi",
        of=MEMBERS,
    ),
    Row(
        "storageVolumes",
        [VOLUME],
        "workload.spec.volumeClaimTemplates[0].spec.accessModes",
        ["ReadWriteOnce"],
        of=MEMBERS,
    ),
    Row(
        "storageVolumes",
        [VOLUME | {"storageClassName": "fast"}],
        "workload.spec.volumeClaimTemplates[0].spec.storageClassName",
        "fast",
        of=MEMBERS,
    ),
    Row("storageVolumes", [VOLUME | {"subPath": "s"}], "main.volumeMounts[v].subPath", "s"),
    Row("storageVolumes", [VOLUME | {"storageClassName": "emptyDir"}], "pod.volumes[v].emptyDir", {}),
    Row(
        "storageVolumes",
        [VOLUME | {"hostPath": {"path": "/d", "type": "Directory"}}],
        "pod.volumes[v].hostPath",
        {"path": "/d", "type": "Directory"},
    ),
    Row("storageVolumes", [VOLUME | {"storageSize": "0"}], "pod.volumes[v]", MISSING),
    Row(
        "storageVolumes",
        None,
        "main.volumeMounts[fe-meta].mountPath",
        "/opt/starrocks/fe/meta",
        "/opt/starrocks/fe/meta",
        ("fe",),
    ),
    Row(
        "storageVolumes",
        None,
        "main.volumeMounts[be-data].mountPath",
        "/opt/starrocks/be/storage",
        "/opt/starrocks/be/storage",
        ("be",),
    ),
    Row(
        "storageVolumes",
        None,
        "main.volumeMounts[cn-log].mountPath",
        "/opt/starrocks/cn/log",
        "/opt/starrocks/cn/log",
        ("cn",),
    ),
    # members only
    Row("runAsNonRoot", True, "main.securityContext.runAsUser", 1000, of=MEMBERS),
    Row("runAsNonRoot", True, "main.securityContext.runAsGroup", 1000, of=MEMBERS),
    Row("runAsNonRoot", True, "main.securityContext.runAsNonRoot", True, of=MEMBERS),
    Row("runAsNonRoot", True, "pod.securityContext.fsGroup", 1000, of=MEMBERS),
    Row("runAsNonRoot", False, "main.securityContext.runAsNonRoot", MISSING, of=MEMBERS),
    same("capabilities", {"add": ["SYS_PTRACE"]}, "main.securityContext.capabilities", of=MEMBERS),
    Row("configMaps", [MOUNTED], "pod.volumes[m-{h}].configMap.name", "m", of=MEMBERS),
    Row("configMaps", [MOUNTED | {"subPath": "f"}], "main.volumeMounts[m-{s}].subPath", "f", of=MEMBERS),
    Row("secrets", [MOUNTED], "pod.volumes[m-{h}].secret.secretName", "m", of=MEMBERS),
    Row("secrets", [MOUNTED], "main.volumeMounts[m-{h}].mountPath", "/m", of=MEMBERS),
    same("hostAliases", [{"ip": "192.0.2.1", "hostnames": ["h"]}], "pod.hostAliases", of=MEMBERS),
    Row(
        "hostAliases",
        [{"ip": "192.0.2.1", "hostnames": ["h"]}, {"ip": "192.0.2.1", "hostnames": ["i"]}],
        "pod.hostAliases",
        [{"ip": "192.0.2.1", "hostnames": ["h", "i"]}],
        of=MEMBERS,
    ),
    Row("imagePullSecrets", [{"name": "s"}, {"name": "s"}], "pod.imagePullSecrets", [{"name": "s"}]),
    same("terminationGracePeriodSeconds", 5, "pod.terminationGracePeriodSeconds", 120, MEMBERS),
    same("terminationGracePeriodSeconds", 0, "pod.terminationGracePeriodSeconds", 120, MEMBERS),
    Row("sidecars", [SIDECAR], "pod.containers[1]", SIDECAR, of=MEMBERS),
    same("initContainers", [SIDECAR], "pod.initContainers", of=MEMBERS),
    same("dnsConfig", {"options": [{"name": "ndots", "value": "2"}]}, "pod.dnsConfig", of=MEMBERS),
    same("dnsPolicy", "Default", "pod.dnsPolicy", of=MEMBERS),
    same("command", ["/c"], "main.command", ["/opt/starrocks/{c}_entrypoint.sh"], MEMBERS),
    same("args", ["a"], "main.args", ["$(FE_SERVICE_NAME)"], MEMBERS),
    same(
        "updateStrategy",
        {"type": "OnDelete"},
        "workload.spec.updateStrategy",
        {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        MEMBERS,
    ),
    same("readOnlyRootFilesystem", True, "main.securityContext.readOnlyRootFilesystem", False, MEMBERS),
    same("sysctls", [{"name": "net.core.somaxconn", "value": "9"}], "pod.securityContext.sysctls", of=MEMBERS),
    Row(
        "persistentVolumeClaimRetentionPolicy",
        {"whenDeleted": "Delete", "whenScaled": "Delete"},
        "workload.spec.persistentVolumeClaimRetentionPolicy",
        {"whenDeleted": "Delete"},
        of=("fe", "be"),
    ),
    same(
        "persistentVolumeClaimRetentionPolicy",
        {"whenDeleted": "Delete", "whenScaled": "Delete"},
        "workload.spec.persistentVolumeClaimRetentionPolicy",
        of=("cn",),
    ),
    same("minReadySeconds", 7, "workload.spec.minReadySeconds", of=MEMBERS),
    same("podManagementPolicy", "OrderedReady", "workload.spec.podManagementPolicy", "Parallel", MEMBERS),
    *(Row(name, [{"name": "A", "value": "b"}], "main.env[A].value", "b", of=(c,)) for c, name in ENV_FIELDS.items()),
    *(Row(name, None, "main.env[COMPONENT_NAME].value", "{c}", "{c}", of=(c,)) for c, name in ENV_FIELDS.items()),
    # the autoscaler
    Row("autoScalingPolicy", {"maxReplicas": 3}, "hpa.spec.maxReplicas", 3, of=("cn",)),
    Row("autoScalingPolicy", {"maxReplicas": 3}, "hpa.spec.minReplicas", MISSING, of=("cn",)),
    Row(
        "autoScalingPolicy.minReplicas",
        2,
        "hpa.spec.minReplicas",
        2,
        of=("cn",),
        beside={"autoScalingPolicy": {"maxReplicas": 3}},
    ),
    Row(
        "autoScalingPolicy.version",
        "v2beta2",
        "hpa.apiVersion",
        "autoscaling/v2",
        "autoscaling/v2",
        ("cn",),
        {"autoScalingPolicy": {"maxReplicas": 3}},
    ),
    Row(
        "autoScalingPolicy.hpaPolicy",
        {"metrics": [METRIC]},
        "hpa.spec.metrics",
        [METRIC],
        of=("cn",),
        beside={"autoScalingPolicy": {"maxReplicas": 3}},
    ),
    Row(
        "autoScalingPolicy.hpaPolicy",
        {"behavior": {"scaleDown": {}}},
        "hpa.spec.behavior",
        {"scaleDown": {}},
        of=("cn",),
        beside={"autoScalingPolicy": {"maxReplicas": 3}},
    ),
)


def with_field(path: str, value: Any, beside: Any) -> dict[str, Any]:
    spec: dict[str, Any] = {key: dict(each) for key, each in beside.items()}
    *parents, last = path.split(".")
    node = spec
    for step in parents:
        node = node.setdefault(step, {})
    if value is not None:
        node[last] = value
    return spec


def found(path: str, component: str, spec: dict[str, Any], **changes: Any) -> Any:
    """What is at the path in the objects made of this spec."""
    objects = built(cluster(**{component: spec}), **changes)
    name = component.replace("_", "-")
    workload = objects[f"{'Deployment' if component == 'fe_proxy' else 'StatefulSet'}/kube-{name}"]
    template = workload["spec"]["template"]
    node: Any = {
        "workload": workload,
        "template": template,
        "pod": template["spec"],
        "main": template["spec"]["containers"][0],
        "service": objects[f"Service/kube-{name}-service"],
        "headless": objects.get(f"Service/kube-{name}-search"),
        "hpa": objects.get("HorizontalPodAutoscaler/kube-cn-autoscaler"),
    }
    for step in re.findall(r"[^.\[\]]+(?![^\[]*\])|\[[^\]]+\]", path):
        node = step_into(node, step)
        if node is MISSING:
            return MISSING
    return node


def step_into(node: Any, step: str) -> Any:
    if not step.startswith("["):
        return node.get(step, MISSING) if node is not None else MISSING
    key = step.strip("[]")
    if key.isdecimal():
        return node[int(key)] if len(node) > int(key) else MISSING
    return next((item for item in node if item.get("name") == key), MISSING)


def worded(value: Any, component: str) -> Any:
    """With the component's name for {c}, and the hashes of the mounts in the table."""
    if isinstance(value, str):
        return value.replace("{c}", component).replace("{h}", "1551").replace("{s}", "2109")
    return [worded(item, component) for item in value] if isinstance(value, list) else value


CASES = [(row, component) for row in ROWS for component in row.of]


@pytest.mark.parametrize(("row", "component"), CASES, ids=str)
def test_each_field_ends_up_where_it_belongs(row: Row, component: str) -> None:
    at = worded(row.at, component)
    said = found(at, component, with_field(row.field, row.value, row.beside))
    assert said == worded(row.becomes, component)


@pytest.mark.parametrize(("row", "component"), CASES, ids=str)
def test_each_field_may_be_absent(row: Row, component: str) -> None:
    silent = found(worded(row.at, component), component, with_field(row.field, None, row.beside))
    assert silent == worded(row.absent, component)


@pytest.mark.parametrize("component", WORKLOADS)
def test_no_field_is_without_a_row(component: str) -> None:
    fields = {info.alias or name for name, info in MODELS[component].model_fields.items()}
    rows = {row.field.partition(".")[0] for row in ROWS if component in row.of}
    elsewhere = {"resolver", "config"}  # tests/unit/test_objects_frontend_proxy.py, test_config_inline.py
    assert fields - rows <= WITHOUT_OBJECTS | elsewhere


@pytest.mark.parametrize(("model", "field"), [(ServiceSpec, "service"), (AutoScalingPolicy, "autoScalingPolicy")])
def test_no_inner_field_is_without_a_row(model: Any, field: str) -> None:
    fields = {info.alias or name for name, info in model.model_fields.items()}
    said = {row.field.partition(".")[2] for row in ROWS if row.field.startswith(f"{field}.")}
    said |= {key for row in ROWS if row.field == field and row.value for key in row.value}
    assert fields <= said


def test_no_field_of_a_volume_is_without_a_row() -> None:
    fields = {info.alias or name for name, info in StorageVolume.model_fields.items()}
    assert fields <= {key for row in ROWS if row.field == "storageVolumes" for item in row.value or () for key in item}


@pytest.mark.parametrize("component", MEMBERS)
@pytest.mark.parametrize(
    ("said", "pod", "main"),
    [
        ({}, {"fsGroup": 1000}, {"runAsUser": 1000, "runAsNonRoot": True, "capabilities": {"drop": ["ALL"]}}),
        ({"runAsNonRoot": False}, {"fsGroup": MISSING}, {"runAsUser": MISSING, "capabilities": MISSING}),
        ({"fsGroup": 7}, {"fsGroup": 7}, {"runAsUser": 1000}),
        ({"podSecurityContext": {"fsGroup": 7}}, {"fsGroup": 7}, {"runAsUser": 1000}),
        (
            {"podSecurityContext": {"runAsUser": 7, "runAsGroup": 8}},
            {"runAsUser": 7, "runAsGroup": 8, "fsGroup": 1000},
            {"runAsUser": MISSING, "runAsGroup": MISSING, "runAsNonRoot": True},
        ),
        ({"podSecurityContext": {"runAsUser": 0}}, {"runAsUser": 0}, {"runAsUser": MISSING, "runAsNonRoot": MISSING}),
        ({"securityContext": {"runAsUser": 0}}, {"fsGroup": MISSING}, {"runAsUser": 0, "runAsNonRoot": MISSING}),
        (
            {"securityContext": {"runAsUser": 7}, "podSecurityContext": {"runAsUser": 0}},
            {"runAsUser": 0, "fsGroup": 1000},
            {"runAsUser": 7, "runAsNonRoot": True},
        ),
        (
            {"podSecurityContext": {"seccompProfile": {"type": "Unconfined"}}},
            {"seccompProfile": {"type": "Unconfined"}},
            {"allowPrivilegeEscalation": False},
        ),
        (
            {"securityContext": {"capabilities": {"add": ["SYS_PTRACE"]}}},
            {"seccompProfile": {"type": "RuntimeDefault"}},
            {"capabilities": {"add": ["SYS_PTRACE"]}},
        ),
    ],
)
def test_rights_in_the_profile_safe(component: str, said: Any, pod: Any, main: Any) -> None:
    for at, wanted in (("pod", pod), ("main", main)):
        made = found(f"{at}.securityContext", component, said, profile="safe")
        assert {key: made.get(key, MISSING) for key in wanted} == wanted


def test_observers_speak_the_protocol_of_the_frontends() -> None:
    service = {"ipFamilies": ["IPv6"], "ipFamilyPolicy": "SingleStack", "type": "NodePort"}
    made = built(cluster(**{"fe": {"service": service}, "fe-observer": {}}))
    for name in ("kube-fe-observer-service", "kube-fe-observer-search"):
        assert made[f"Service/{name}"]["spec"]["ipFamilies"] == ["IPv6"]
    assert made["Service/kube-fe-observer-service"]["spec"]["type"] == "ClusterIP"


def test_one_frontend_has_no_disruption_budget() -> None:
    budgets = [
        [name for name in built(cluster(fe={"replicas": n}), profile="safe") if name.startswith("PodDisruption")]
        for n in (1, 2, 3)
    ]
    assert budgets == [[], ["PodDisruptionBudget/kube-fe"], ["PodDisruptionBudget/kube-fe"]]
    made = built(cluster(fe={"replicas": 3}), profile="safe")["PodDisruptionBudget/kube-fe"]["spec"]
    assert (made["maxUnavailable"], made["unhealthyPodEvictionPolicy"]) == (1, "AlwaysAllow")


@pytest.mark.parametrize("component", MEMBERS)
def test_withheld_variables_are_only_ours(component: str) -> None:
    customs = Customs(withheld_variables=("HOST_IP", "HOST_TYPE"))
    mine = {ENV_FIELDS[component]: [{"name": "HOST_TYPE", "value": "IP"}]}
    assert found("main.env[HOST_IP]", component, {}, customs=customs) is MISSING
    assert found("main.env[POD_IP].name", component, {}, customs=customs) == "POD_IP"
    assert found("main.env[HOST_TYPE].value", component, mine, customs=customs) == "IP"


def test_volume_names_without_a_hash() -> None:
    customs = Customs(plain_volume_names=True)
    for component, spec, name in (("be", {"secrets": [MOUNTED]}, "m"), ("fe_proxy", {}, "kube-fe-proxy")):
        assert found(f"pod.volumes[{name}].name", component, spec, customs=customs) == name
        assert found(f"main.volumeMounts[{name}].name", component, spec, customs=customs) == name


def test_customs_travel_with_the_context() -> None:
    customs = Customs(withheld_variables=("HOST_IP",), plain_volume_names=True)
    context = Context(profile="safe", components=("fe",), replicas={"fe": 3}, customs=customs)
    assert Context.parse(context.document()) == context
    assert Customs.of(context.document()) == customs


def test_the_official_words_for_settings() -> None:
    assert parse([], {}).customs == Customs()
    told = parse(["--volume-name-with-hash=false"], {"KUBE_STARROCKS_UNSUPPORTED_ENVS": "HOST_IP,POD_IP"})
    assert told.customs == Customs(withheld_variables=("HOST_IP", "POD_IP"), plain_volume_names=True)


def test_every_component_says_which_port_clients_use() -> None:
    for component in (*COMPONENTS.values(), FE_PROXY):
        assert component.client_port in {exposed.name for exposed in component.external_ports}
