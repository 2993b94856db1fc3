"""Clusters that break one rule each: for the Python half of the rules in unit tests, for the API server on the lab."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

VOLUME = {"name": "fe-meta", "mountPath": "/opt/starrocks/fe/meta", "storageSize": "10Gi"}


def document() -> dict[str, Any]:
    """A cluster that breaks no rule."""
    return {
        "apiVersion": "starrocks.com/v1",
        "kind": "StarRocksCluster",
        "metadata": {"name": "sound", "namespace": "default"},
        "spec": {
            "starRocksFeSpec": {"replicas": 3, "image": "starrocks/fe-ubuntu:3.5.5", "storageVolumes": [dict(VOLUME)]},
            "starRocksBeSpec": {"replicas": 3, "image": "starrocks/be-ubuntu:3.5.5"},
            "starRocksCnSpec": {"image": "starrocks/cn-ubuntu:3.5.5"},
        },
    }


def changed(path: str, value: Any, base: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A document with one value set, or removed when it is None."""
    result = copy.deepcopy(dict(base)) if base is not None else document()
    *parents, last = path.split(".")
    node = result
    for step in parents:
        node = node.setdefault(step, {})
    if value is None:
        node.pop(last, None)
    else:
        node[last] = value
    return result


@dataclass(frozen=True)
class Case:
    """A change to the sound document, and what is to be said of it."""

    rule: str
    at: str
    value: Any = field(hash=False)
    path: str = ""
    says: str = ""
    beside: str = ""  # a component that the document has besides

    def __str__(self) -> str:
        return f"{self.rule}-{self.at.rsplit('.', 1)[-1]}-{self.value}"[:60]

    @property
    def document(self) -> dict[str, Any]:
        base = changed(self.beside, {}) if self.beside else document()
        return changed(self.at, self.value, base)


def _volume(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in (VOLUME | fields).items() if value is not None}


OBSERVERS = "spec.starRocksFeObserverSpec"
FE, BE, CN = "spec.starRocksFeSpec", "spec.starRocksBeSpec", "spec.starRocksCnSpec"
PROXY = "spec.starRocksFeProxySpec"
VOLUMES, PORTS, POLICY = f"{FE}.storageVolumes", f"{FE}.service.ports", f"{CN}.autoScalingPolicy"

BROKEN: tuple[Case, ...] = (
    Case("cluster-name", "metadata.name", "n" * 47, "", "at most 46"),
    Case("cluster-name", "metadata.name", "1st", "", "begin with a letter"),
    Case("cluster-name", "metadata.name", "a.b", "", "lower-case letters"),
    Case("frontends", FE, None, "", "needs at least one frontend"),
    Case("frontends", "spec", None, "", "needs at least one frontend"),
    Case("zero-frontends", f"{FE}.replicas", 0, f"{FE}.replicas", "without frontends cannot work"),
    Case("observers", "metadata.name", "n" * 41, "", "at most 40", beside=OBSERVERS),
    Case("service-type", f"{OBSERVERS}.service.type", "None", f"{OBSERVERS}.service.type", "NodePort, LoadBalancer"),
    Case("resource-name", f"{OBSERVERS}.limits", {"mem": "1Gi"}, f"{OBSERVERS}.limits", "'mem' is no resource name"),
    Case("service-account", "spec.serviceAccount", "starrocksAccount", "spec.serviceAccount", "lower-case"),
    Case("service-account", f"{CN}.serviceAccount", "a_b", f"{CN}.serviceAccount", "lower-case"),
    *(
        Case("misspelt-key", f"spec.{wrong}", {"replicas": 3}, f"spec.{wrong}", f"write {right}")
        for wrong, right in (
            ("StarRocksFeSpec", "starRocksFeSpec"),
            ("StarRocksBeSpec", "starRocksBeSpec"),
            ("StarRocksCnSpec", "starRocksCnSpec"),
            ("feSpec", "starRocksFeSpec"),
            ("beSpec", "starRocksBeSpec"),
            ("cnSpec", "starRocksCnSpec"),
        )
    ),
    Case("image", f"{BE}.image", None, BE, "image is missing"),
    Case("image", f"{CN}.image", "", CN, "image is missing"),
    Case("resource-name", f"{BE}.requests", {"cpu": 4, "mem": "16Gi"}, f"{BE}.requests", "'mem' is no resource name"),
    Case("resource-name", f"{PROXY}.limits", {"CPU": 1}, f"{PROXY}.limits", "'CPU' is no resource name"),
    Case("resolver", f"{PROXY}.resolver", "10.0.0.1; include /x", f"{PROXY}.resolver", "no name server"),
    Case("image-pull-policy", f"{FE}.imagePullPolicy", "always", f"{FE}.imagePullPolicy", "Always, IfNotPresent"),
    Case("pod-management-policy", f"{BE}.podManagementPolicy", "x", f"{BE}.podManagementPolicy", "OrderedReady"),
    Case(
        "max-unavailable",
        f"{BE}.updateStrategy.rollingUpdate.maxUnavailable",
        "0%",
        f"{BE}.updateStrategy.rollingUpdate.maxUnavailable",
        "never moves",
    ),
    Case(
        "max-unavailable",
        f"{BE}.updateStrategy.rollingUpdate.maxUnavailable",
        0,
        f"{BE}.updateStrategy.rollingUpdate.maxUnavailable",
        "never moves",
    ),
    Case("volume-name", VOLUMES, [_volume(name="fe_meta")], f"{VOLUMES}[0].name", "no name for a volume"),
    Case("volume-name", VOLUMES, [_volume(name="n" * 64)], f"{VOLUMES}[0].name", "at most 63"),
    Case("duplicate-volume-name", VOLUMES, [_volume(), _volume(mountPath="/b")], VOLUMES, "named fe-meta"),
    Case("mount-path", VOLUMES, [_volume(mountPath="meta")], f"{VOLUMES}[0].mountPath", "begin with '/'"),
    Case("mount-path", VOLUMES, [_volume(mountPath="/a:b")], f"{VOLUMES}[0].mountPath", "no ':'"),
    Case("duplicate-mount-path", VOLUMES, [_volume(), _volume(name="b")], VOLUMES, "mounted at /opt/starrocks/fe/meta"),
    Case(
        "duplicate-mount-path",
        f"{CN}.secrets",
        [{"name": "a", "mountPath": "/a"}, {"name": "b", "mountPath": "/a"}],
        f"{CN}.secrets",
        "mounted at /a",
    ),
    Case(
        "shared-mount-path",
        f"{FE}.configMaps",
        [{"name": "a", "mountPath": "/opt/starrocks/fe/meta"}],
        FE,
        "mounted at the same path",
    ),
    Case("storage-class", VOLUMES, [_volume(storageClassName="a_b")], f"{VOLUMES}[0].storageClassName", "emptyDir"),
    Case("storage-class", VOLUMES, [_volume(storageClassName="Fast")], f"{VOLUMES}[0].storageClassName", "lower-case"),
    Case("storage-size", VOLUMES, [_volume(storageSize="10GB")], f"{VOLUMES}[0].storageSize", "is no size"),
    Case("storage-size", VOLUMES, [_volume(storageSize="-1Gi")], f"{VOLUMES}[0].storageSize", "is no size"),
    Case("claim-size", VOLUMES, [_volume(storageSize=None)], f"{VOLUMES}[0]", "storageSize is missing"),
    Case("host-path", VOLUMES, [_volume(storageClassName="hostPath")], f"{VOLUMES}[0]", "needs hostPath.path"),
    Case("host-path-path", VOLUMES, [_volume(hostPath={"path": ""})], f"{VOLUMES}[0].hostPath.path", "needs a path"),
    Case(
        "mount-path",
        f"{BE}.configMaps",
        [{"name": "a", "mountPath": "a"}],
        f"{BE}.configMaps[0].mountPath",
        "begin with '/'",
    ),
    Case("mounted-object", f"{BE}.configMaps", [{"name": "a"}], f"{BE}.configMaps[0]", "name and a mountPath"),
    Case(
        "mounted-object-name",
        f"{BE}.secrets",
        [{"name": "a.b", "mountPath": "/a"}],
        f"{BE}.secrets[0].name",
        "no dots",
    ),
    Case("config-map-info", f"{FE}.configMapInfo", {"resolveKey": "fe.conf"}, f"{FE}.configMapInfo", "needs both"),
    Case(
        "config-map-name",
        f"{FE}.configMapInfo",
        {"configMapName": "Conf", "resolveKey": "fe.conf"},
        f"{FE}.configMapInfo.configMapName",
        "no dots",
    ),
    Case("port", PORTS, [{"name": "query", "port": 0}], f"{PORTS}[0].port", "from 1 to 65535"),
    Case("port", PORTS, [{"name": "query", "containerPort": 65536}], f"{PORTS}[0].containerPort", "from 1 to 65535"),
    Case("port", f"{PROXY}.service.ports", [{"nodePort": -1}], f"{PROXY}.service.ports[0].nodePort", "from 1"),
    Case("duplicate-name", PORTS, [{"name": "http"}, {"name": "http"}], PORTS, "the same name"),
    Case("duplicate-port", PORTS, [{"name": "a", "port": 1}, {"name": "b", "port": 1}], PORTS, "the same port"),
    Case("duplicate-containerPort", PORTS, [{"containerPort": 1}, {"containerPort": 1}], PORTS, "same containerPort"),
    Case("duplicate-nodePort", PORTS, [{"name": "a", "nodePort": 1}, {"name": "b", "nodePort": 1}], PORTS, "nodePort"),
    Case("service-type", f"{FE}.service.type", "ExternalName", f"{FE}.service.type", "ClusterIP, NodePort"),
    Case(
        "traffic-policy",
        f"{FE}.service",
        {"type": "NodePort", "externalTrafficPolicy": "local"},
        f"{FE}.service.externalTrafficPolicy",
        "Cluster, Local",
    ),
    Case("traffic-policy-type", f"{FE}.service", {"externalTrafficPolicy": "Local"}, f"{FE}.service", "only for types"),
    Case("max-below-min", POLICY, {"minReplicas": 3, "maxReplicas": 2}, POLICY, "less than minReplicas"),
    Case("min-replicas", POLICY, {"minReplicas": 0, "maxReplicas": 2}, f"{POLICY}.minReplicas", "below 1"),
    Case("max-replicas", POLICY, {"maxReplicas": 0}, f"{POLICY}.maxReplicas", "at least one compute node"),
    Case("autoscaling-version", POLICY, {"maxReplicas": 2, "version": "v3"}, f"{POLICY}.version", "v2beta2"),
)

SOUND: tuple[Case, ...] = (
    Case("observers", "metadata.name", "n" * 40, beside=OBSERVERS),
    Case("observers", f"{OBSERVERS}.replicas", 0),
    Case("cluster-name", "metadata.name", "n" * 46),
    Case("frontends", BE, None),
    Case("zero-frontends", f"{FE}.replicas", 2),
    Case("zero-backends", f"{BE}.replicas", 0),
    Case("resource-name", f"{BE}.requests", {"cpu": 4, "nvidia.com/gpu": 1, "hugepages-2Mi": "4Mi"}),
    Case("resource-name", f"{BE}.limits", {"memory": 17179869184, "ephemeral-storage": "1.5Gi"}),
    Case("max-unavailable", f"{BE}.updateStrategy.rollingUpdate.maxUnavailable", "10%"),
    Case("max-unavailable", f"{BE}.updateStrategy.rollingUpdate.maxUnavailable", 1),
    Case("duplicates", VOLUMES, [_volume(), _volume(name="b", mountPath="/b")]),
    Case("storage-class", VOLUMES, [_volume(storageClassName="EMPTYDIR", storageSize=None)]),
    Case("storage-class", VOLUMES, [_volume(storageClassName="fast.ssd-2")]),
    Case("storage-class", VOLUMES, [_volume(storageClassName="")]),
    Case("storage-size", VOLUMES, [_volume(storageSize="0")]),
    Case("storage-size", VOLUMES, [_volume(storageSize="1.5Ti")]),
    Case("host-path", VOLUMES, [_volume(storageSize=None, hostPath={"path": "/data"})]),
    Case("mounts", f"{FE}.secrets", [{"name": "a", "mountPath": "/a"}, {"name": "a", "mountPath": "/b"}]),
    Case("ports", PORTS, [{"name": "query", "port": 9030, "nodePort": 30930}, {"name": "http", "port": 80}]),
    Case("ports", PORTS, [{"containerPort": 9030, "port": 1}, {"containerPort": 8030, "port": 65535}]),
    Case("autoscaling", POLICY, {"minReplicas": 2, "maxReplicas": 2, "version": "v2beta2"}),
    Case("empty", f"{FE}.configMapInfo", {"configMapName": "", "resolveKey": ""}),
    Case("empty", f"{FE}.service", {"type": "", "loadBalancerIP": "", "externalTrafficPolicy": "", "ports": []}),
    Case("empty", f"{FE}.serviceAccount", ""),
    Case("empty", f"{FE}.imagePullPolicy", ""),
    Case("empty", f"{FE}.affinity", {}),
    Case("deprecated", f"{BE}.probe", {"type": "tcp", "periodSeconds": 5}),
    Case("deprecated", f"{BE}.replicaInstances", 3),
    Case("deprecated", f"{FE}.fsGroup", 1000),
)
