"""A full-featured cluster as the official operator leaves it: its resource, and every object, written from the facts.

The reference is starrocks-operator §2. Nothing here is taken from the builder: the unit tests compare the builder with
it, and on the lab these objects are what is adopted.
"""

from __future__ import annotations

import json
from typing import Any

MEMORY = [
    {"type": "Resource", "resource": {"name": "memory", "target": {"type": "Utilization", "averageUtilization": 60}}}
]
SIDECAR = {"name": "exporter", "image": "exporter:1"}
MYSQL_PWD = {"name": "MYSQL_PWD", "valueFrom": {"secretKeyRef": {"name": "root", "key": "password"}}}
TOLERATION = {"key": "dedicated", "operator": "Exists"}

FE = {
    "replicas": 3,
    "image": "starrocks/fe-ubuntu:3.5.5",
    "imagePullSecrets": [{"name": "registry"}],
    "requests": {"cpu": 4, "memory": "16Gi"},
    "limits": {"cpu": "8"},
    "annotations": {"app.starrocks.io/fe-config-hash": "2c5e"},
    "podLabels": {"team": "lake"},
    "serviceAccount": "frontends",
    "runAsNonRoot": True,
    "tolerations": [TOLERATION],
    "service": {
        "type": "LoadBalancer",
        "loadBalancerIP": "192.0.2.7",
        "loadBalancerSourceRanges": ["192.0.2.0/24"],
        "annotations": {"example.com/internal": "true"},
        "labels": {"exposed": "yes"},
        "ports": [{"name": "query", "port": 3306, "nodePort": 30030}, {"containerPort": 8030, "port": 80}],
    },
    "storageVolumes": [
        {
            "name": "fe-meta",
            "mountPath": "/opt/starrocks/fe/meta",
            "storageClassName": "standard",
            "storageSize": "10Gi",
        }
    ],
    "configMapInfo": {"configMapName": "kube-fe-cm", "resolveKey": "fe.conf"},
    "configMaps": [{"name": "s1", "mountPath": "/pkg/mounts/volumes1"}],
    "secrets": [{"name": "s2", "mountPath": "/pkg/mounts/volumes2"}],
    "sidecars": [SIDECAR],
    "hostAliases": [{"ip": "192.0.2.9", "hostnames": ["hive"]}],
    "terminationGracePeriodSeconds": 60,
    "minReadySeconds": 10,
    "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Delete"},
    "feEnvVars": [
        {"name": "TZ", "value": "UTC"},
        MYSQL_PWD,
    ],
}
BE = {
    "replicas": 3,
    "image": "starrocks/be-ubuntu:3.5.5",
    "storageVolumes": [{"name": "be-data", "mountPath": "/opt/starrocks/be/storage", "storageSize": "1Ti"}],
    "configMapInfo": {"configMapName": "kube-be-cm", "resolveKey": "be.conf"},
    "beEnvVars": [MYSQL_PWD],
}
CN = {
    "replicas": 2,
    "image": "starrocks/cn-ubuntu:3.5.5",
    "configMapInfo": {"configMapName": "kube-cn-cm", "resolveKey": "cn.conf"},
    "cnEnvVars": [MYSQL_PWD],
    "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Delete"},
    "autoScalingPolicy": {"minReplicas": 1, "maxReplicas": 9, "hpaPolicy": {"metrics": MEMORY}},
}
PROPERTIES: dict[str, dict[str, str]] = {
    "fe": {"query_port": "9130"},
    "be": {"be_http_port": "18040"},
    "cn": {"thrift_port": "19060"},
}

POD_ENV = [
    {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
    for name, path in (
        ("POD_NAME", "metadata.name"),
        ("POD_IP", "status.podIP"),
        ("HOST_IP", "status.hostIP"),
        ("POD_NAMESPACE", "metadata.namespace"),
    )
] + [{"name": "HOST_TYPE", "value": "FQDN"}]


def port(name: str, number: int, **more: Any) -> dict[str, Any]:
    return {"name": name, "protocol": "TCP", "port": number, "targetPort": number, **more}


def container_ports(**ports: int) -> list[dict[str, Any]]:
    return [{"name": f"{n}-port", "containerPort": number, "protocol": "TCP"} for n, number in ports.items()]


def probe(number: int, threshold: int) -> dict[str, Any]:
    get = {"path": "/api/health", "port": number}
    return {"failureThreshold": threshold, "periodSeconds": 5, "httpGet": get}


def probes(number: int) -> dict[str, Any]:
    return {
        "startupProbe": probe(number, 60),
        "livenessProbe": probe(number, 3),
        "readinessProbe": probe(number, 3),
    }


def stop(command: str) -> dict[str, Any]:
    return {"preStop": {"exec": {"command": ["/bin/bash", "-c", command]}}}


def common(component: str) -> tuple[dict[str, str], dict[str, str]]:
    """Labels of objects, and labels of pods."""
    kind = {"app.kubernetes.io/component": component}
    name = "app.starrocks.ownerreference/name"
    return {name: "kube", **kind}, {name: f"kube-{component}", **kind}


def expected(api_version: str, kind: str, name: str, *, component: str, **content: Any) -> dict[str, Any]:
    metadata = {"name": name, "labels": common(component)[0]}
    metadata |= content.pop("metadata", {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **content}


def workload(component: str, *, template: dict[str, Any], **spec: Any) -> dict[str, Any]:
    selector = common(component)[1]
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
    metadata = {"labels": selector} | template.pop("metadata", {})
    pods = {"metadata": metadata, "spec": {"automountServiceAccountToken": False, **template}}
    return expected(
        "apps/v1",
        "StatefulSet",
        f"kube-{component}",
        component=component,
        spec={
            "serviceName": f"kube-{component}-search",
            "podManagementPolicy": "Parallel",
            "updateStrategy": rolling,
            "selector": {"matchLabels": selector},
            "template": pods,
            **spec,
        },
    )


def headless(component: str, *ports: dict[str, Any]) -> dict[str, Any]:
    return expected(
        "v1",
        "Service",
        f"kube-{component}-search",
        component=component,
        spec={
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": common(component)[1],
            "ports": list(ports),
        },
    )


def external(
    component: str, *ports: dict[str, Any], metadata: dict[str, Any] | None = None, **spec: Any
) -> dict[str, Any]:
    return expected(
        "v1",
        "Service",
        f"kube-{component}-service",
        component=component,
        metadata=metadata or {},
        spec={"type": "ClusterIP", "selector": common(component)[1], "ports": list(ports), **spec},
    )


FE_CONTAINER = {
    "name": "fe",
    "image": "starrocks/fe-ubuntu:3.5.5",
    "imagePullPolicy": "IfNotPresent",
    "command": ["/opt/starrocks/fe_entrypoint.sh"],
    "args": ["$(FE_SERVICE_NAME)"],
    "ports": container_ports(http=8030, rpc=9020, query=9130),
    "env": [
        {"name": "TZ", "value": "UTC"},
        MYSQL_PWD,
        *POD_ENV,
        {"name": "COMPONENT_NAME", "value": "fe"},
        {"name": "FE_SERVICE_NAME", "value": "kube-fe-service.@namespace@"},
        {"name": "CONFIGMAP_MOUNT_PATH", "value": "/etc/starrocks/fe/conf"},
    ],
    "resources": {"requests": {"cpu": "4", "memory": "16Gi"}, "limits": {"cpu": "8"}},
    "volumeMounts": [
        {"name": "fe-meta", "mountPath": "/opt/starrocks/fe/meta"},
        {"name": "fe-log", "mountPath": "/opt/starrocks/fe/log"},
        {"name": "kube-fe-cm", "mountPath": "/etc/starrocks/fe/conf"},
        {"name": "s1-1614", "mountPath": "/pkg/mounts/volumes1"},
        {"name": "s2-1229", "mountPath": "/pkg/mounts/volumes2"},
    ],
    **probes(8030),
    "lifecycle": stop("/opt/starrocks/fe/bin/stop_fe.sh -g"),
    "securityContext": {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": False,
        "runAsUser": 1000,
        "runAsGroup": 1000,
        "runAsNonRoot": True,
    },
}


def compute_container(name: str, *, first: dict[str, int], webserver: int, volumes: dict[str, str]) -> dict[str, Any]:
    return {
        "name": name,
        "image": f"starrocks/{name}-ubuntu:3.5.5",
        "imagePullPolicy": "IfNotPresent",
        "command": [f"/opt/starrocks/{name}_entrypoint.sh"],
        "args": ["$(FE_SERVICE_NAME)"],
        "ports": container_ports(**first, webserver=webserver, heartbeat=9050, brpc=8060),
        "env": [
            MYSQL_PWD,
            *POD_ENV,
            {"name": "COMPONENT_NAME", "value": name},
            {"name": "FE_SERVICE_NAME", "value": "kube-fe-service"},
            {"name": "FE_QUERY_PORT", "value": "9130"},
            {"name": "CONFIGMAP_MOUNT_PATH", "value": f"/etc/starrocks/{name}/conf"},
        ],
        "volumeMounts": [
            *({"name": volume, "mountPath": path} for volume, path in volumes.items()),
            {"name": f"kube-{name}-cm", "mountPath": f"/etc/starrocks/{name}/conf"},
        ],
        **probes(webserver),
        "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": False},
    }


BE_CONTAINER = compute_container(
    "be",
    first={"be": 9060},
    webserver=18040,
    volumes={"be-data": "/opt/starrocks/be/storage", "be-log": "/opt/starrocks/be/log"},
) | {"lifecycle": stop("/opt/starrocks/be/bin/stop_be.sh")}  # 3.5.5 does not know -g yet
CN_CONTAINER = compute_container(
    "cn", first={"thrift": 19060}, webserver=8040, volumes={"cn-log": "/opt/starrocks/cn/log"}
) | {"lifecycle": stop("/opt/starrocks/cn/bin/stop_cn.sh -g")}

OBJECTS = [
    headless("fe", port("query-port", 9130, appProtocol="mysql")),
    external(
        "fe",
        port("http", 8030) | {"port": 80},
        port("rpc", 9020),
        port("query", 9130, appProtocol="mysql", nodePort=30030) | {"port": 3306},
        port("edit-log", 9010),
        metadata={
            "labels": {**common("fe")[0], "exposed": "yes"},
            "annotations": {"example.com/internal": "true"},
        },
        type="LoadBalancer",
        loadBalancerIP="192.0.2.7",
        loadBalancerSourceRanges=["192.0.2.0/24"],
    ),
    workload(
        "fe",
        replicas=3,
        minReadySeconds=10,
        persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete"},
        volumeClaimTemplates=[
            {
                "metadata": {"name": "fe-meta"},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": "standard",
                    "resources": {"requests": {"storage": "10Gi"}},
                },
            }
        ],
        template={
            "metadata": {
                "name": "kube-fe",
                "labels": {"team": "lake", **common("fe")[1]},
                "annotations": {"app.starrocks.io/fe-config-hash": "2c5e"},
            },
            "containers": [FE_CONTAINER, SIDECAR],
            "volumes": [
                {"name": "fe-meta", "persistentVolumeClaim": {"claimName": "fe-meta"}},
                {"name": "fe-log", "emptyDir": {}},
                {"name": "kube-fe-cm", "configMap": {"name": "kube-fe-cm"}},
                {"name": "s1-1614", "configMap": {"name": "s1"}},
                {"name": "s2-1229", "secret": {"secretName": "s2"}},
            ],
            "serviceAccountName": "frontends",
            "terminationGracePeriodSeconds": 60,
            "tolerations": [TOLERATION],
            "imagePullSecrets": [{"name": "registry"}],
            "hostAliases": [{"ip": "192.0.2.9", "hostnames": ["hive"]}],
            "securityContext": {"fsGroupChangePolicy": "OnRootMismatch", "fsGroup": 1000},
        },
    ),
    headless("be", port("heartbeat", 9050)),
    external("be", port("be", 9060), port("webserver", 18040), port("heartbeat", 9050), port("brpc", 8060)),
    workload(
        "be",
        replicas=3,
        volumeClaimTemplates=[
            {
                "metadata": {"name": "be-data"},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Ti"}}},
            }
        ],
        template={
            "metadata": {"name": "kube-be"},
            "containers": [BE_CONTAINER],
            "volumes": [
                {"name": "be-data", "persistentVolumeClaim": {"claimName": "be-data"}},
                {"name": "be-log", "emptyDir": {}},
                {"name": "kube-be-cm", "configMap": {"name": "kube-be-cm"}},
            ],
            "terminationGracePeriodSeconds": 120,
            "securityContext": {"fsGroupChangePolicy": "OnRootMismatch"},
        },
    ),
    headless("cn", port("heartbeat", 9050)),
    external("cn", port("thrift", 19060), port("webserver", 8040), port("heartbeat", 9050), port("brpc", 8060)),
    workload(
        "cn",
        replicas=2,
        persistentVolumeClaimRetentionPolicy={"whenDeleted": "Retain", "whenScaled": "Delete"},
        template={
            "containers": [CN_CONTAINER],
            "volumes": [
                {"name": "cn-log", "emptyDir": {}},
                {"name": "kube-cn-cm", "configMap": {"name": "kube-cn-cm"}},
            ],
            "terminationGracePeriodSeconds": 120,
            "securityContext": {"fsGroupChangePolicy": "OnRootMismatch"},
        },
    ),
    expected(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "kube-cn-autoscaler",
        component="autoscaler",
        spec={
            "scaleTargetRef": {"apiVersion": "starrocks.com/v1", "kind": "StarRocksCluster", "name": "kube"},
            "minReplicas": 1,
            "maxReplicas": 9,
            "metrics": MEMORY,
        },
    ),
]


def official_objects(namespace: str, uid: str) -> list[dict[str, Any]]:
    """The objects of the cluster `kube` of this namespace and uid, in the order in which they are made."""
    owner = {
        "apiVersion": "starrocks.com/v1",
        "kind": "StarRocksCluster",
        "name": "kube",
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    made = json.loads(json.dumps(OBJECTS).replace("@namespace@", namespace))
    for one in made:
        one["metadata"] |= {"namespace": namespace, "ownerReferences": [owner]}
        if one["kind"] == "StatefulSet":
            one["spec"]["template"]["metadata"]["namespace"] = namespace
    return list(made)
