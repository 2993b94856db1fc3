"""StarRocksWarehouse: its CRD, its rules, and the objects made of it, as the official operator makes them."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from starrocks_operator.model import MalformedClusterError, StarRocksCluster, Warehouse, parse
from starrocks_operator.model.crd import LARGEST, WAREHOUSE_TARGET, as_yaml, size, warehouse_crd
from starrocks_operator.model.warehouse import rules, violations
from tests.official import MEMORY, MYSQL_PWD, POD_ENV, container_ports, port, probes, stop
from tests.unit.object_samples import UID, built
from tests.unit.test_crd_document import COMPONENT, LOAD, STATUS, node, nodes, words
from tests.unit.test_objects_upstream import without_hash

TEMPLATE: dict[str, Any] = {
    "replicas": 2,
    "image": "starrocks/cn-ubuntu:3.5.5",
    "configMapInfo": {"configMapName": "reports-cm", "resolveKey": "cn.conf"},
    "envVars": [MYSQL_PWD],
    "storageVolumes": [{"name": "cn-data", "mountPath": "/opt/starrocks/cn/storage", "storageSize": "1Ti"}],
    "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Delete"},
    "autoScalingPolicy": {"minReplicas": 1, "maxReplicas": 9, "hpaPolicy": {"metrics": MEMORY}},
}


def raw(name: str = "big-reports", **template: Any) -> dict[str, Any]:
    return {
        "apiVersion": "starrocks.com/v1",
        "kind": "StarRocksWarehouse",
        "metadata": {"name": name, "namespace": "db", "uid": UID, "generation": 1},
        "spec": {"starRocksCluster": "kube", "template": {**TEMPLATE, **template}},
    }


LABELS = {"app.starrocks.ownerreference/name": "big-reports-warehouse", "app.kubernetes.io/component": "cn"}
POD_LABELS = {"app.starrocks.ownerreference/name": "big-reports-warehouse-cn", "app.kubernetes.io/component": "cn"}
OWNER = {
    "apiVersion": "starrocks.com/v1",
    "kind": "StarRocksWarehouse",
    "name": "big-reports",
    "uid": UID,
    "controller": True,
    "blockOwnerDeletion": True,
}


def metadata(name: str, labels: dict[str, str] | None = None) -> dict[str, Any]:
    return {"name": name, "namespace": "db", "labels": labels or LABELS, "ownerReferences": [OWNER]}


def service(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(name),
        "spec": {"selector": POD_LABELS, **spec},
    }


CONTAINER = {
    "name": "cn",
    "image": "starrocks/cn-ubuntu:3.5.5",
    "imagePullPolicy": "IfNotPresent",
    "command": ["/opt/starrocks/cn_entrypoint.sh"],
    "args": ["$(FE_SERVICE_NAME)"],
    "ports": container_ports(thrift=19060, webserver=8040, heartbeat=9050, brpc=8060),
    "env": [
        MYSQL_PWD,
        *POD_ENV,
        {"name": "COMPONENT_NAME", "value": "cn"},
        {"name": "FE_SERVICE_NAME", "value": "kube-fe-service"},
        {"name": "FE_QUERY_PORT", "value": "9130"},
        {"name": "KUBE_STARROCKS_MULTI_WAREHOUSE", "value": "big_reports"},
        {"name": "CONFIGMAP_MOUNT_PATH", "value": "/etc/starrocks/cn/conf"},
    ],
    "volumeMounts": [
        {"name": "cn-data", "mountPath": "/opt/starrocks/cn/storage"},
        {"name": "cn-log", "mountPath": "/opt/starrocks/cn/log"},
        {"name": "reports-cm", "mountPath": "/etc/starrocks/cn/conf"},
    ],
    **probes(8040),
    "lifecycle": stop("/opt/starrocks/cn/bin/stop_cn.sh -g"),
    "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": False},
}
OBJECTS: list[dict[str, Any]] = [
    service(
        "big-reports-warehouse-cn-search",
        clusterIP="None",
        publishNotReadyAddresses=True,
        ports=[port("heartbeat", 9050)],
    ),
    service(
        "big-reports-warehouse-cn-service",
        type="ClusterIP",
        ports=[port("thrift", 19060), port("webserver", 8040), port("heartbeat", 9050), port("brpc", 8060)],
    ),
    {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": metadata("big-reports-warehouse-cn"),
        "spec": {
            "replicas": 2,
            "serviceName": "big-reports-warehouse-cn-search",
            "podManagementPolicy": "Parallel",
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Delete"},
            "selector": {"matchLabels": POD_LABELS},
            "volumeClaimTemplates": [
                {
                    "metadata": {"name": "cn-data"},
                    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Ti"}}},
                }
            ],
            "template": {
                "metadata": {"labels": POD_LABELS, "namespace": "db"},
                "spec": {
                    "automountServiceAccountToken": False,
                    "containers": [CONTAINER],
                    "volumes": [
                        {"name": "cn-data", "persistentVolumeClaim": {"claimName": "cn-data"}},
                        {"name": "cn-log", "emptyDir": {}},
                        {"name": "reports-cm", "configMap": {"name": "reports-cm"}},
                    ],
                    "terminationGracePeriodSeconds": 120,
                    "securityContext": {"fsGroupChangePolicy": "OnRootMismatch"},
                },
            },
        },
    },
    {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": metadata(
            "big-reports-warehouse-cn-autoscaler",
            {
                "app.starrocks.ownerreference/name": "big-reports-warehouse",
                "app.kubernetes.io/component": "autoscaler",
            },
        ),
        "spec": {
            "scaleTargetRef": {"apiVersion": "starrocks.com/v1", "kind": "StarRocksWarehouse", "name": "big-reports"},
            "minReplicas": 1,
            "maxReplicas": 9,
            "metrics": MEMORY,
        },
    },
]


def without_notes(made: dict[str, Any]) -> dict[str, Any]:
    """Without the annotations that are ours and no pod has."""
    bare = without_hash(made)
    return {**bare, "metadata": {key: value for key, value in bare["metadata"].items() if key != "annotations"}}


def test_every_object_is_as_the_official_operator_makes_it() -> None:
    made = built(parse(raw()), properties={"fe": {"query_port": "9130"}, "cn": {"thrift_port": "19060"}})
    assert [without_notes(one) for one in made.values()] == OBJECTS


def test_without_a_policy_there_is_no_autoscaler() -> None:
    made = built(parse(raw(autoScalingPolicy=None)))
    assert not [key for key in made if key.startswith("HorizontalPodAutoscaler")]


def test_it_is_told_apart_by_its_kind() -> None:
    warehouse = parse(raw())
    assert isinstance(warehouse, Warehouse)
    assert (warehouse.frontends_of, warehouse.warehouse, warehouse.name) == (
        "kube",
        "big_reports",
        "big-reports-warehouse",
    )
    cluster = parse({"kind": "StarRocksCluster", "metadata": {"name": "kube"}})
    assert type(cluster) is StarRocksCluster
    assert (cluster.frontends_of, cluster.warehouse, cluster.resource_name) == ("kube", "", "kube")


def test_what_cannot_be_read_is_named() -> None:
    with pytest.raises(MalformedClusterError, match="StarRocksWarehouse db/big-reports"):
        parse(raw(replicas="many"))


def test_its_status_is_flat_and_comes_back_as_it_was() -> None:
    whole = {
        "phase": "running",
        "observedGeneration": 3,
        "conditions": [{"type": "Ready", "status": "True"}, {"type": "QuorumSafe", "status": "True"}],
        "members": [
            {"kind": "frontend", "name": "kube-fe-0"},
            {"kind": "computeNode", "name": "big-reports-warehouse-cn-0"},
            {"kind": "computeNode", "host": "elsewhere"},
        ],
        "starRocksCnStatus": {"phase": "reconciling", "replicas": 2, "selector": "a=b"},
        "bootstrap": {"clusterId": "1"},
    }
    flat = parse(raw()).written_status(whole)
    assert flat == {
        "phase": "running",
        "replicas": 2,
        "selector": "a=b",
        "observedGeneration": 3,
        "conditions": [{"type": "Ready", "status": "True"}],
        "members": [{"kind": "computeNode", "name": "big-reports-warehouse-cn-0"}],
    }
    again = parse({**raw(), "status": flat})
    assert again.status is not None
    assert again.written_status(again.status.to_dict()) == flat


# what is wrong, and where it is said
REFUSED = {
    "its cluster's name": (raw("kube"), ""),
    "too long a name": (raw("a" * 40), ""),
    "no cluster": ({**raw(), "spec": {"starRocksCluster": "", "template": TEMPLATE}}, "spec.starRocksCluster"),
    "no image": (raw(image=""), "spec.template"),
    "maximum below minimum": (
        raw(autoScalingPolicy={"minReplicas": 3, "maxReplicas": 2}),
        "spec.template.autoScalingPolicy",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_breaks_a_rule_is_named(case: str) -> None:
    document, path = REFUSED[case]
    assert [violation.path for violation in violations(document)] == [path]
    assert [violation.path for violation in parse(document).broken_rules()] == [path]


def test_a_good_one_breaks_no_rule() -> None:
    assert list(violations(raw())) == list(parse(raw()).broken_rules()) == []


def test_the_crd_is_fresh_and_small_enough() -> None:
    assert WAREHOUSE_TARGET.read_text() == as_yaml(warehouse_crd()), "run `python -m starrocks_operator.model.crd`"
    assert size(yaml.safe_load(WAREHOUSE_TARGET.read_text())) < LARGEST


def test_the_crd_has_every_official_field_and_name() -> None:
    (version,) = warehouse_crd()["spec"]["versions"]
    schema = version["schema"]["openAPIV3Schema"]
    assert set(node(schema, "spec")["required"]) == {"starRocksCluster", "template"}
    deprecated = {"name", "probe", "fsGroup"}  # of v1alpha1, which never had warehouses
    official = {*LOAD, *COMPONENT, "envVars", "autoScalingPolicy"} - deprecated
    assert official <= set(node(schema, "spec.template")["properties"])
    assert {*STATUS, *words("hpaName horizontalScaler replicas selector")} <= set(node(schema, "status")["properties"])
    assert version["subresources"]["scale"] == {
        "specReplicasPath": ".spec.template.replicas",
        "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".status.selector",
    }
    columns = [column["name"] for column in version["additionalPrinterColumns"]]
    assert columns[:2] == ["status", "reason"]


def test_the_crd_carries_every_rule_of_compute_nodes() -> None:
    (version,) = warehouse_crd()["spec"]["versions"]
    schema = version["schema"]["openAPIV3Schema"]
    carried = [entry for _, part in nodes(schema) for entry in part.get("x-kubernetes-validations", [])]
    assert len(carried) == len(list(rules()))
