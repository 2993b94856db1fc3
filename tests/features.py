"""Clusters of one feature each, and the objects that become of them, as the official operator makes them.

Written from the facts (starrocks-operator §2), never from the builder: plain components as the reference describes
them, and for each feature the fields in which its objects differ. What the profile `safe` adds is listed apart.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.official import (
    BE,
    CN,
    FE,
    MEMORY,
    OBJECTS,
    POD_ENV,
    PROPERTIES,
    common,
    container_ports,
    expected,
    external,
    headless,
    port,
    probe,
    probes,
    stop,
    workload,
)

Document = dict[str, Any]
ABSENT = object()
TAG = "3.5.7"
IMAGES = {name: f"starrocks/{name}-ubuntu:{TAG}" for name in ("fe", "be", "cn")}
SPECS = {"fe": "starRocksFeSpec", "be": "starRocksBeSpec", "cn": "starRocksCnSpec", "proxy": "starRocksFeProxySpec"}


@dataclass(frozen=True, kw_only=True)
class Feature:
    """A cluster `kube`, the ConfigMaps that it names, and its objects.

    differences: from the objects of plain components, "Kind/name path" to value. more: objects besides. nginx: lines of
    the proxy's configuration. secrets: those that it names.
    """

    name: str
    spec: Mapping[str, Mapping[str, Any]]
    files: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    differences: Mapping[str, Any] = field(default_factory=dict)
    more: tuple[Document, ...] = ()
    objects: tuple[Document, ...] = ()
    nginx: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    profile: str = "upstream"

    def __str__(self) -> str:
        return f"{self.name}-{self.profile}"

    @property
    def cluster(self) -> Document:
        metadata = {"name": "kube", "annotations": {"starrocks.com/profile": self.profile}}
        spec = {SPECS[name]: dict(part) for name, part in self.spec.items()}
        return {"apiVersion": "starrocks.com/v1", "kind": "StarRocksCluster", "metadata": metadata, "spec": spec}

    def expected(self) -> list[Document]:
        """All Services, workloads, autoscalers and budgets, and no others."""
        plain = [made for name in self.spec for made in PLAIN.get(name, ())]
        made = copy.deepcopy([*(self.objects or plain), *self.more])
        by_name = {f"{one['kind']}/{one['metadata']['name']}": one for one in made}
        for where, value in self.differences.items():
            name, _, path = where.partition(" ")
            put(by_name[name], path, value)
        return made


def put(document: Any, path: str, value: Any) -> None:
    """Set the value at a dotted path, whose numbers count in lists; ABSENT takes it away."""
    *parents, last = (int(step) if step.isdigit() else step for step in path.split("."))
    for step in parents:
        document = document[step] if isinstance(step, int) else document.setdefault(step, {})
    if value is ABSENT:
        del document[last]
    else:
        document[last] = value


# Plain components: nothing but an image, one replica


def container(name: str, *, ports: list[Document], health: int, volumes: Mapping[str, str]) -> Document:
    service = "kube-fe-service.@namespace@" if name == "fe" else "kube-fe-service"
    told = [{"name": "COMPONENT_NAME", "value": name}, {"name": "FE_SERVICE_NAME", "value": service}]
    query = [] if name == "fe" else [{"name": "FE_QUERY_PORT", "value": "9030"}]
    return {
        "name": name,
        "image": IMAGES[name],
        "imagePullPolicy": "IfNotPresent",
        "command": [f"/opt/starrocks/{name}_entrypoint.sh"],
        "args": ["$(FE_SERVICE_NAME)"],
        "ports": ports,
        "env": [*POD_ENV, *told, *query],
        "volumeMounts": [{"name": volume, "mountPath": path} for volume, path in volumes.items()],
        **probes(health),
        "lifecycle": stop(f"/opt/starrocks/{name}/bin/stop_{name}.sh -g"),
        "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": False},
    }


def plain(name: str, main: Document, *, metadata: Document) -> Document:
    pod = {
        "containers": [main],
        "volumes": [{"name": mount["name"], "emptyDir": {}} for mount in main["volumeMounts"]],
        "terminationGracePeriodSeconds": 120,
        "securityContext": {"fsGroupChangePolicy": "OnRootMismatch"},
    }
    return workload(name, replicas=1, template={"metadata": metadata, **pod})


FE_VOLUMES = {"fe-meta": "/opt/starrocks/fe/meta", "fe-log": "/opt/starrocks/fe/log"}
BE_VOLUMES = {"be-data": "/opt/starrocks/be/storage", "be-log": "/opt/starrocks/be/log"}
CN_VOLUMES = {"cn-log": "/opt/starrocks/cn/log"}
FE_PORTS = container_ports(http=8030, rpc=9020, query=9030)
BE_PORTS = container_ports(be=9060, webserver=8040, heartbeat=9050, brpc=8060)
CN_PORTS = container_ports(thrift=9060, webserver=8040, heartbeat=9050, brpc=8060)
PLAIN: dict[str, list[Document]] = {
    "fe": [
        headless("fe", port("query-port", 9030, appProtocol="mysql")),
        external(
            "fe",
            port("http", 8030),
            port("rpc", 9020),
            port("query", 9030, appProtocol="mysql"),
            port("edit-log", 9010),
        ),
        plain("fe", container("fe", ports=FE_PORTS, health=8030, volumes=FE_VOLUMES), metadata={"name": "kube-fe"}),
    ],
    "be": [
        headless("be", port("heartbeat", 9050)),
        external("be", port("be", 9060), port("webserver", 8040), port("heartbeat", 9050), port("brpc", 8060)),
        plain("be", container("be", ports=BE_PORTS, health=8040, volumes=BE_VOLUMES), metadata={"name": "kube-be"}),
    ],
    "cn": [
        headless("cn", port("heartbeat", 9050)),
        external("cn", port("thrift", 9060), port("webserver", 8040), port("heartbeat", 9050), port("brpc", 8060)),
        plain("cn", container("cn", ports=CN_PORTS, health=8040, volumes=CN_VOLUMES), metadata={}),
    ],
}
CONTAINER = "spec.template.spec.containers.0"
POD = "spec.template.spec"


def configured(name: str, *volumes: Document, mounts: list[Document], env: list[Document]) -> dict[str, Any]:
    """A component with a configuration file: where its ConfigMap is mounted, and which variable says so."""
    config_map, set_ = f"kube-{name}-cm", f"StatefulSet/kube-{name}"
    path = f"/etc/starrocks/{name}/conf"
    return {
        f"{set_} {POD}.volumes": [*volumes, {"name": config_map, "configMap": {"name": config_map}}],
        f"{set_} {CONTAINER}.volumeMounts": [*mounts, {"name": config_map, "mountPath": path}],
        f"{set_} {CONTAINER}.env": [*env, {"name": "CONFIGMAP_MOUNT_PATH", "value": path}],
    }


def of_plain(name: str, part: str) -> list[Document]:
    pod = PLAIN[name][2]["spec"]["template"]["spec"]
    found: list[Document] = pod["volumes"] if part == "volumes" else pod["containers"][0][part]
    return found


def plainly_configured(name: str, *, query: str = "9030") -> dict[str, Any]:
    env = [one | ({"value": query} if one["name"] == "FE_QUERY_PORT" else {}) for one in of_plain(name, "env")]
    return configured(name, *of_plain(name, "volumes"), mounts=of_plain(name, "volumeMounts"), env=env)


def claim(name: str, **spec: Any) -> Document:
    size = spec.pop("size")
    resources = {"requests": {"storage": size}}
    return {"metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": resources, **spec}}


def claimed(name: str) -> Document:
    return {"name": name, "persistentVolumeClaim": {"claimName": name}}


def file_of(name: str) -> Document:
    return {"configMapInfo": {"configMapName": f"kube-{name}-cm", "resolveKey": f"{name}.conf"}}


# The features

FRONTENDS, BACKENDS, NODES = ({"image": IMAGES[name]} for name in ("fe", "be", "cn"))
NO_HA = Feature(name="no-ha", spec={"fe": FRONTENDS, "be": BACKENDS})
HA = Feature(
    name="ha",
    spec={"fe": FRONTENDS | {"replicas": 3}, "be": BACKENDS | {"replicas": 3}},
    differences={"StatefulSet/kube-fe spec.replicas": 3, "StatefulSet/kube-be spec.replicas": 3},
)
SHARED_DATA = Feature(
    name="shared-data",
    spec={"fe": FRONTENDS | file_of("fe"), "cn": NODES | {"replicas": 2}},
    files={"kube-fe-cm": {"fe.conf": "run_mode = shared_data\ncloud_native_meta_port = 6090\n"}},
    differences={**plainly_configured("fe"), "StatefulSet/kube-cn spec.replicas": 2},
)
RIGHTS = {"add": ["SYS_PTRACE", "PERFMON"], "drop": ["NET_RAW"]}
CAPABILITIES = Feature(
    name="capabilities",
    spec={
        "fe": FRONTENDS | {"capabilities": {"drop": ["NET_RAW"]}},
        "be": BACKENDS | {"capabilities": RIGHTS},
        "cn": NODES | {"capabilities": {"add": ["SYS_ADMIN"]}},
    },
    differences={
        f"StatefulSet/kube-fe {CONTAINER}.securityContext.capabilities": {"drop": ["NET_RAW"]},
        f"StatefulSet/kube-be {CONTAINER}.securityContext.capabilities": RIGHTS,
        f"StatefulSet/kube-cn {CONTAINER}.securityContext.capabilities": {"add": ["SYS_ADMIN"]},
    },
)
CN_CONF = {"name": "kube-cn-conf-1374", "mountPath": "/opt/starrocks/cn/conf/cn.conf", "subPath": "cn.conf"}
CONFIGURATION = Feature(
    name="custom-configuration",
    spec={
        "fe": FRONTENDS | file_of("fe"),
        "be": BACKENDS | file_of("be"),
        "cn": NODES
        | {"configMaps": [{"name": "kube-cn-conf", "mountPath": CN_CONF["mountPath"], "subPath": "cn.conf"}]},
    },
    files={
        "kube-fe-cm": {
            "fe.conf": "http_port = 8130\nRPC_PORT=9120\nquery_port = 9130\n"
            "edit_log_port: 9110\narrow_flight_port=9408\n"
        },
        "kube-be-cm": {
            "be.conf": "# ports\nbe_port = 9160\nbe_http_port = 8140\nbrpc_port=8160\narrow_flight_port=9419"
        },
        "kube-cn-conf": {"cn.conf": "thrift_port = 9260\nwebserver_port = 8240\nheartbeat_service_port = 9250\n"},
    },
    differences={
        **plainly_configured("fe"),
        **plainly_configured("be", query="9130"),
        "Service/kube-fe-search spec.ports": [port("query-port", 9130, appProtocol="mysql")],
        "Service/kube-fe-service spec.ports": [
            port("http", 8130),
            port("rpc", 9120),
            port("query", 9130, appProtocol="mysql"),
            port("edit-log", 9110),
            port("arrow-flight", 9408),
        ],
        f"StatefulSet/kube-fe {CONTAINER}.ports": container_ports(http=8130, rpc=9120, query=9130),
        f"StatefulSet/kube-fe {CONTAINER}.startupProbe": probe(8130, 60),
        f"StatefulSet/kube-fe {CONTAINER}.livenessProbe": probe(8130, 3),
        f"StatefulSet/kube-fe {CONTAINER}.readinessProbe": probe(8130, 3),
        "Service/kube-be-search spec.ports": [port("heartbeat", 9050), port("arrow-flight", 9419)],
        "Service/kube-be-service spec.ports": [
            port("be", 9160),
            port("webserver", 8140),
            port("heartbeat", 9050),
            port("brpc", 8160),
        ],
        f"StatefulSet/kube-be {CONTAINER}.ports": container_ports(be=9160, webserver=8140, heartbeat=9050, brpc=8160),
        f"StatefulSet/kube-be {CONTAINER}.startupProbe": probe(8140, 60),
        f"StatefulSet/kube-be {CONTAINER}.livenessProbe": probe(8140, 3),
        f"StatefulSet/kube-be {CONTAINER}.readinessProbe": probe(8140, 3),
        "Service/kube-cn-search spec.ports": [port("heartbeat", 9250)],
        "Service/kube-cn-service spec.ports": [
            port("thrift", 9260),
            port("webserver", 8240),
            port("heartbeat", 9250),
            port("brpc", 8060),
        ],
        f"StatefulSet/kube-cn {CONTAINER}.ports": container_ports(
            thrift=9260, webserver=8240, heartbeat=9250, brpc=8060
        ),
        f"StatefulSet/kube-cn {CONTAINER}.startupProbe": probe(8240, 60),
        f"StatefulSet/kube-cn {CONTAINER}.livenessProbe": probe(8240, 3),
        f"StatefulSet/kube-cn {CONTAINER}.readinessProbe": probe(8240, 3),
        f"StatefulSet/kube-cn {POD}.volumes": [
            *of_plain("cn", "volumes"),
            {"name": CN_CONF["name"], "configMap": {"name": "kube-cn-conf"}},
        ],
        f"StatefulSet/kube-cn {CONTAINER}.volumeMounts": [*of_plain("cn", "volumeMounts"), CN_CONF],
        f"StatefulSet/kube-cn {CONTAINER}.env": [
            one | ({"value": "9130"} if one["name"] == "FE_QUERY_PORT" else {}) for one in of_plain("cn", "env")
        ],
    },
)


def stored(name: str, path: str, size: str = "", **more: Any) -> Document:
    return {"name": name, "mountPath": path, **({"storageSize": size} if size else {}), **more}


STORAGE = Feature(
    name="persistent-storage",
    spec={
        "fe": FRONTENDS
        | {
            "replicas": 3,
            "storageVolumes": [
                stored("fe-meta", "/opt/starrocks/fe/meta", "10Gi", storageClassName="standard"),
                stored("fe-log", "/opt/starrocks/fe/log", "5Gi"),
            ],
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Delete"},
        },
        "be": BACKENDS
        | {
            "replicas": 3,
            "storageVolumes": [
                stored("be0-data", "/opt/starrocks/be/storage0", "1Ti"),
                stored("be1-data", "/opt/starrocks/be/storage1", "512Gi", subPath="second"),
                stored("be-log", "/opt/starrocks/be/log", storageClassName="emptyDir"),
                stored("spill", "/opt/starrocks/be/spill", hostPath={"path": "/mnt/spill", "type": "Directory"}),
                stored("later", "/later", "0"),
            ],
        },
        "cn": NODES
        | {
            "replicas": 2,
            "storageVolumes": [stored("cn-data", "/opt/starrocks/cn/storage", "100Gi")],
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Delete"},
        },
    },
    differences={
        "StatefulSet/kube-fe spec.replicas": 3,
        "StatefulSet/kube-fe spec.persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"},
        "StatefulSet/kube-fe spec.volumeClaimTemplates": [
            claim("fe-meta", size="10Gi", storageClassName="standard"),
            claim("fe-log", size="5Gi"),
        ],
        f"StatefulSet/kube-fe {POD}.volumes": [claimed("fe-meta"), claimed("fe-log")],
        "StatefulSet/kube-be spec.replicas": 3,
        "StatefulSet/kube-be spec.volumeClaimTemplates": [
            claim("be0-data", size="1Ti"),
            claim("be1-data", size="512Gi"),
        ],
        f"StatefulSet/kube-be {POD}.volumes": [
            claimed("be0-data"),
            claimed("be1-data"),
            {"name": "be-log", "emptyDir": {}},
            {"name": "spill", "hostPath": {"path": "/mnt/spill", "type": "Directory"}},
        ],
        f"StatefulSet/kube-be {CONTAINER}.volumeMounts": [
            {"name": "be0-data", "mountPath": "/opt/starrocks/be/storage0"},
            {"name": "be1-data", "mountPath": "/opt/starrocks/be/storage1", "subPath": "second"},
            {"name": "be-log", "mountPath": "/opt/starrocks/be/log"},
            {"name": "spill", "mountPath": "/opt/starrocks/be/spill"},
        ],
        "StatefulSet/kube-cn spec.replicas": 2,
        "StatefulSet/kube-cn spec.persistentVolumeClaimRetentionPolicy": {
            "whenDeleted": "Retain",
            "whenScaled": "Delete",
        },
        "StatefulSet/kube-cn spec.volumeClaimTemplates": [claim("cn-data", size="100Gi")],
        f"StatefulSet/kube-cn {POD}.volumes": [claimed("cn-data"), *of_plain("cn", "volumes")],
        f"StatefulSet/kube-cn {CONTAINER}.volumeMounts": [
            {"name": "cn-data", "mountPath": "/opt/starrocks/cn/storage"},
            *of_plain("cn", "volumeMounts"),
        ],
    },
)
PROXY_LABELS = {"app.starrocks.ownerreference/name": "kube-fe-proxy", "app.kubernetes.io/component": "fe-proxy"}
PROXY_PROBE = {"failureThreshold": 3, "periodSeconds": 5, "httpGet": {"path": "/nginx/health", "port": 8080}}
PROXY_OBJECTS: tuple[Document, ...] = (
    expected(
        "apps/v1",
        "Deployment",
        "kube-fe-proxy",
        component="fe-proxy",
        spec={
            "replicas": 2,
            "selector": {"matchLabels": PROXY_LABELS},
            "template": {
                "metadata": {"labels": PROXY_LABELS},
                "spec": {
                    "automountServiceAccountToken": False,
                    "containers": [
                        {
                            "name": "nginx",
                            "image": "nginx:1.24.0",
                            "imagePullPolicy": "IfNotPresent",
                            "ports": container_ports(http=8080),
                            "volumeMounts": [{"name": "kube-fe-proxy-3642", "mountPath": "/etc/nginx"}],
                            "livenessProbe": PROXY_PROBE,
                            "readinessProbe": PROXY_PROBE,
                            "securityContext": {
                                "runAsUser": 101,
                                "runAsGroup": 101,
                                "runAsNonRoot": True,
                                "allowPrivilegeEscalation": False,
                                "readOnlyRootFilesystem": False,
                            },
                        }
                    ],
                    "volumes": [{"name": "kube-fe-proxy-3642", "configMap": {"name": "kube-fe-proxy"}}],
                },
            },
        },
    ),
    expected(
        "v1",
        "Service",
        "kube-fe-proxy-service",
        component="fe-proxy",
        spec={"type": "NodePort", "selector": PROXY_LABELS, "ports": [port("http-port", 8080)]},
    ),
)
PROXY_SPEC = {"replicas": 2, "service": {"type": "NodePort"}, "resolver": "10.96.0.10"}
NGINX = (
    "resolver 10.96.0.10 valid=10s;",
    "http://kube-fe-service.@namespace@.svc.cluster.local:8030",
    "listen 8080;",
    "worker_processes 4;",
    "client_max_body_size 0;",
    "underscores_in_headers on;",
)
PROXY = Feature(
    name="fe-proxy",
    spec={"fe": FRONTENDS, "be": BACKENDS, "proxy": PROXY_SPEC},
    more=PROXY_OBJECTS,
    nginx=NGINX,
)
SPREAD = {
    "maxSkew": 1,
    "topologyKey": "kubernetes.io/hostname",
    "whenUnsatisfiable": "ScheduleAnyway",
    "labelSelector": {"matchLabels": common("be")[1]},
}
NEAR = {"weight": 1, "preference": {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}}
AFFINITY = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [NEAR]}}
FIRST = {"name": "tune", "image": "busybox:1", "command": ["true"]}
BEHAVIOR = {"scaleDown": {"stabilizationWindowSeconds": 600}}
EVERYTHING = Feature(
    name="all-features",
    spec={
        "fe": FE,
        "be": BE
        | {
            "initContainers": [FIRST],
            "topologySpreadConstraints": [SPREAD],
            "affinity": AFFINITY,
            "shareProcessNamespace": True,
            "sysctls": [{"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}],
            "startupProbeFailureSeconds": 601,
            "livenessProbeFailureSeconds": 0,
            "readinessProbeFailureSeconds": 31,
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}},
            "lifecycle": {"postStart": {"exec": {"command": ["true"]}}},
        },
        "cn": CN
        | {
            "podManagementPolicy": "OrderedReady",
            "autoScalingPolicy": {
                "minReplicas": 1,
                "maxReplicas": 9,
                "hpaPolicy": {"metrics": MEMORY, "behavior": BEHAVIOR},
            },
        },
        "proxy": PROXY_SPEC,
    },
    files={
        **{
            f"kube-{name}-cm": {f"{name}.conf": "".join(f"{key} = {value}\n" for key, value in properties.items())}
            for name, properties in PROPERTIES.items()
        },
        "s1": {"note": "mounted"},
    },
    secrets=("root", "s2"),
    objects=tuple(OBJECTS),
    more=PROXY_OBJECTS,
    nginx=NGINX,
    differences={
        f"StatefulSet/kube-be {POD}.initContainers": [FIRST],
        f"StatefulSet/kube-be {POD}.topologySpreadConstraints": [SPREAD],
        f"StatefulSet/kube-be {POD}.affinity": AFFINITY,
        f"StatefulSet/kube-be {POD}.shareProcessNamespace": True,
        f"StatefulSet/kube-be {POD}.securityContext.sysctls": [
            {"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}
        ],
        f"StatefulSet/kube-be {CONTAINER}.startupProbe.failureThreshold": 121,
        f"StatefulSet/kube-be {CONTAINER}.livenessProbe": ABSENT,
        f"StatefulSet/kube-be {CONTAINER}.readinessProbe.failureThreshold": 7,
        f"StatefulSet/kube-be {CONTAINER}.lifecycle.postStart": {"exec": {"command": ["true"]}},
        "StatefulSet/kube-be spec.updateStrategy.rollingUpdate.partition": 1,
        "StatefulSet/kube-cn spec.podManagementPolicy": "OrderedReady",
        "HorizontalPodAutoscaler/kube-cn-autoscaler spec.behavior": BEHAVIOR,
    },
)


# What the profile `safe` adds to the pods of StatefulSets, and the budgets

SCRIPTS = Path(__file__).parents[1] / "starrocks_operator" / "scripts"
EVERYWHERE = ("pod.sh", "pod_probe.sh", "pod_stop.sh")
OF_NODES = ("node_start.sh", "host_sysctls.sh")


def inside(name: str) -> dict[str, Any]:
    """How the scripts get into the pods of a plain component, and what they do there."""
    own = ("fe_start.sh",) if name == "fe" else OF_NODES
    files = {script: (SCRIPTS / script).read_text() for script in (*EVERYWHERE, *own)}
    content = json.dumps(files, sort_keys=True, separators=(",", ":"))
    scripts = f"kube-{name}-scripts-{hashlib.sha256(content.encode()).hexdigest()[:8]}"

    def command(script: str, *arguments: str) -> list[str]:
        return ["/bin/bash", f"/etc/starrocks/operator/{script}", *arguments]

    def probing(question: str) -> Document:
        asked = command("pod_probe.sh", name, question, "8030" if name == "fe" else "8040")
        return {"failureThreshold": 3, "periodSeconds": 5, "timeoutSeconds": 5, "exec": {"command": asked}}

    sources: dict[str, tuple[str, Document]] = {
        "starrocks-operator-scripts": ("operator", {"name": scripts}),
        "starrocks-debug": ("debug", {"name": f"kube-{name}-debug", "optional": True}),
    }
    if name == "fe":
        sources["starrocks-bootstrap"] = ("bootstrap", {"name": "kube-fe-bootstrap", "optional": True})
    pod, container = f"StatefulSet/kube-{name} {POD}", f"StatefulSet/kube-{name} {CONTAINER}"
    return {
        f"{container}.command": command("fe_start.sh") if name == "fe" else command("node_start.sh", name),
        f"{container}.lifecycle.preStop.exec.command": command("pod_stop.sh", name, "graceful", "110"),
        f"{container}.startupProbe": ABSENT,
        f"{container}.livenessProbe": probing("alive"),
        f"{container}.readinessProbe": probing("ready"),
        f"{pod}.volumes": [
            *of_plain(name, "volumes"),
            *({"name": volume, "configMap": source} for volume, (_, source) in sources.items()),
        ],
        f"{container}.volumeMounts": [
            *of_plain(name, "volumeMounts"),
            *(
                {"name": volume, "mountPath": f"/etc/starrocks/{path}", "readOnly": True}
                for volume, (path, _) in sources.items()
            ),
        ],
    }


def safe(feature: Feature) -> Feature:
    """The same feature in the profile `safe`."""
    more, differences = list(feature.more), dict(feature.differences)
    for name, spec in feature.spec.items():
        rights = {"capabilities": spec.get("capabilities", {"drop": ["ALL"]})}
        user = {"runAsUser": 1000, "runAsGroup": 1000, "runAsNonRoot": True}
        apart = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": common(name)[1]}}
        preferred = [{"weight": 100, "podAffinityTerm": apart}]
        differences |= {
            f"StatefulSet/kube-{name} {POD}.affinity": {
                "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}
            },
            f"StatefulSet/kube-{name} {POD}.securityContext": {
                "fsGroupChangePolicy": "OnRootMismatch",
                "fsGroup": 1000,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            f"StatefulSet/kube-{name} {CONTAINER}.securityContext": {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": False,
                **rights,
                **user,
            },
        }
        differences |= inside(name)
        if name != "cn" and spec.get("replicas", 1) > 1:
            budget = {"maxUnavailable": 1, "unhealthyPodEvictionPolicy": "AlwaysAllow"}
            budget |= {"selector": {"matchLabels": common(name)[1]}}
            more.append(expected("policy/v1", "PodDisruptionBudget", f"kube-{name}", component=name, spec=budget))
    return Feature(
        name=feature.name,
        profile="safe",
        spec=feature.spec,
        files=feature.files,
        differences=differences,
        more=tuple(more),
    )


FEATURES: tuple[Feature, ...] = (
    NO_HA,
    HA,
    SHARED_DATA,
    CAPABILITIES,
    CONFIGURATION,
    STORAGE,
    PROXY,
    EVERYTHING,
    safe(NO_HA),
    safe(HA),
    safe(CAPABILITIES),
)
