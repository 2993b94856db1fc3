"""Warehouses: they join their cluster's frontends, scale by themselves, and FE forgets them when they are deleted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from kubernetes.dynamic.exceptions import UnprocessibleEntityError

from lab.space import Document, Space
from starrocks_operator.model.warehouse import PROTECTION
from tests.cluster.adopt_check import adopt_check
from tests.cluster.clusters import cluster
from tests.cluster.leaving import births
from tests.unit.object_samples import UID
from tests.unit.test_warehouse_model import OBJECTS, TEMPLATE

ENTERPRISE = "3.5.5-ee"  # what the simulator takes for an edition that has warehouses
KIND = "StarRocksWarehouse"


def test_a_warehouse_lives_scales_and_is_forgotten(space: Space) -> None:
    enterprise(space, cluster("one", cn=1))
    space.wait_ready("one")
    space.apply(warehouse("big-reports", replicas=3))
    ready(space, "big-reports")
    names = {f"big-reports-warehouse-cn-{ordinal}" for ordinal in range(3)}
    assert {member["name"] for member in status(space, "big-reports")["members"]} == names
    assert status(space, "big-reports")["replicas"] == 3
    assert nodes(space) == {"big_reports": names, "default_warehouse": {"one-cn-0"}}

    scale = ("scale", f"{KIND}/big-reports", "--replicas=1", f"--namespace={space.namespace}")
    space.stack.plane.kubectl(*scale)
    ready(space, "big-reports")
    assert nodes(space) == {"big_reports": {"big-reports-warehouse-cn-0"}, "default_warehouse": {"one-cn-0"}}

    space.delete(KIND, "big-reports")
    space.wait(lambda: "DROP WAREHOUSE IF EXISTS big_reports" in told(space), "one", "to forget the warehouse")
    space.wait_ready("one")
    assert nodes(space) == {"default_warehouse": {"one-cn-0"}}


def test_an_edition_without_warehouses_is_said_and_harms_nobody(space: Space) -> None:
    space.apply(cluster("one", cn=1))
    space.wait_ready("one")
    space.apply(warehouse("reports"))
    space.wait(lambda: "WarehouseUnsupported" in reasons(space, "reports"), "one", "to tell the warehouse")
    assert space.find("StatefulSet", "reports-warehouse-cn") is None
    assert space.ready("one")
    space.delete(KIND, "reports")


def test_a_warehouse_waits_for_its_cluster(space: Space) -> None:
    space.apply(warehouse("reports"))
    space.wait(lambda: "ClusterMissing" in reasons(space, "reports"), "one", "to be missed")
    enterprise(space, cluster("one"))
    ready(space, "reports")


def test_its_pods_are_replaced_one_by_one(space: Space) -> None:
    enterprise(space, cluster("one"))
    space.apply(warehouse("reports", replicas=2))
    ready(space, "reports")
    before = births(space, "reports-warehouse-cn-")
    space.patch(KIND, "reports", {"spec": {"template": {"podLabels": {"round": "2"}}}})
    ready(space, "reports")
    after = births(space, "reports-warehouse-cn-")
    assert set(after) == set(before)
    assert not set(after.values()) & set(before.values())


def test_a_warehouse_that_fe_does_not_let_go_is_said_and_given_up(space: Space) -> None:
    enterprise(space, cluster("one"))
    space.wait_ready("one")
    space.apply(warehouse("reports"))
    ready(space, "reports")
    pod = {"pod": "one-fe-0", "namespace": space.namespace}
    theirs = 'ALTER SYSTEM ADD COMPUTE NODE "far.example.com:9050" INTO WAREHOUSE reports'
    space.simulator("POST", "/sql", {**pod, "sql": theirs})
    space.delete(KIND, "reports")
    space.wait(lambda: "WarehouseNotDropped" in space.events("one"), "one", "to give the warehouse up")
    space.wait_ready("one")
    assert told(space).count("DROP WAREHOUSE IF EXISTS reports") == 3


def warehouse(name: str, *, replicas: int = 1) -> Document:
    template = {"image": f"starrocks/cn-ubuntu:{ENTERPRISE}", "replicas": replicas}
    return {
        "apiVersion": "starrocks.com/v1",
        "kind": KIND,
        "metadata": {"name": name},
        "spec": {"starRocksCluster": "one", "template": template},
    }


def enterprise(space: Space, document: Document, conf: dict[str, str] | None = None) -> None:
    """Apply the cluster with frontends that can have warehouses, which need shared storage."""
    space.apply(config_map("fe-conf", conf or {"fe.conf": "run_mode = shared_data\n"}))
    for spec in document["spec"].values():
        spec["image"] = spec["image"].replace("3.3.9", ENTERPRISE)
    document["spec"]["starRocksFeSpec"] |= {"configMapInfo": {"configMapName": "fe-conf", "resolveKey": "fe.conf"}}
    space.apply(document)


def status(space: Space, name: str) -> Document:
    found: Document = space.get(KIND, name).get("status", {})
    return found


def reasons(space: Space, name: str) -> set[str]:
    return {condition["reason"] for condition in status(space, name).get("conditions", [])}


def ready(space: Space, name: str) -> None:
    """Wait until it is Ready at its present generation."""

    def is_ready() -> bool:
        resource = space.get(KIND, name)
        conditions: list[dict[str, Any]] = resource.get("status", {}).get("conditions", [])
        return any(
            (one["type"], one["status"], one["observedGeneration"])
            == ("Ready", "True", resource["metadata"]["generation"])
            for one in conditions
        )

    try:
        space.wait(is_ready, "one", f"to have warehouse {name} Ready")
    except Exception as problem:
        problem.add_note(str(status(space, name)))
        raise


def nodes(space: Space) -> dict[str, set[str]]:
    """The compute nodes that FE has, by warehouse."""
    found: dict[str, set[str]] = {}
    question = {"pod": "one-fe-0", "namespace": space.namespace, "sql": "SHOW COMPUTE NODES"}
    for row in space.simulator("POST", "/sql", question)["rows"]:
        found.setdefault(row.get("WarehouseName", "default_warehouse"), set()).add(row["IP"].split(".")[0])
    return found


def told(space: Space) -> list[str]:
    """What the operator told FE."""
    lines = space.stack.witness.statements()
    return [line["statement"] for line in lines if (line["namespace"], line["source"]) == (space.namespace, "client")]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "its cluster's name": ({"metadata": {"name": "one"}}, "must not have the name of its StarRocksCluster"),
    "too long a name": ({"metadata": {"name": "a" * 40}}, "use at most 39 lower-case letters"),
    "no cluster": ({"spec": {"starRocksCluster": ""}}, "name the StarRocksCluster"),
    "no image": ({"spec": {"template": {"image": ""}}}, "image is missing"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_breaks_a_rule_is_refused(space: Space, case: str) -> None:
    change, message = REFUSED[case]
    document = warehouse("reports")
    document["metadata"] |= change.get("metadata", {})
    spec = change.get("spec", {})
    document["spec"] = {
        "starRocksCluster": spec.get("starRocksCluster", "one"),
        "template": document["spec"]["template"] | spec.get("template", {}),
    }
    with pytest.raises(UnprocessibleEntityError, match=message):
        space.apply(document)


def test_a_warehouse_stays_with_its_cluster(space: Space) -> None:
    space.apply(warehouse("reports"))
    with pytest.raises(UnprocessibleEntityError, match="a warehouse stays with its cluster"):
        space.patch(KIND, "reports", {"spec": {"starRocksCluster": "two"}})


def test_the_official_operators_warehouse_is_adopted_without_a_restart(space: Space) -> None:
    conf = {"fe.conf": "run_mode = shared_data\nquery_port = 9130\n"}
    space.apply(config_map("reports-cm", {"cn.conf": "thrift_port = 19060\n"}))
    space.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "root"}, "stringData": {"password": ""}})
    enterprise(space, cluster("kube"), conf)
    space.wait_ready("kube")
    resource = warehouse("big-reports")
    resource["metadata"]["annotations"] = {"starrocks.com/ignored": "true"}
    resource["spec"] = {"starRocksCluster": "kube", "template": TEMPLATE}
    uid = space.apply(resource)["metadata"]["uid"]
    for made in json.loads(json.dumps(OBJECTS).replace('"db"', f'"{space.namespace}"').replace(UID, uid)):
        if made["kind"] == "StatefulSet":
            made["metadata"]["finalizers"] = [PROTECTION]
        made["metadata"]["annotations"] = {"app.starrocks.components/hash": "1732884"}
        space.write_as("sroperator", made)
    space.wait(lambda: len(lives(space)["pods"]) == 2, "kube", "to have the warehouse's pods")
    before = lives(space)
    code, told_before = adopt_check(space)
    assert (code, f"StarRocksWarehouse {space.namespace}/big-reports" in told_before) == (0, True), told_before
    assert "StatefulSet big-reports-warehouse-cn: no pod restarts" in told_before
    assert f"metadata.finalizers: ['{PROTECTION}'] → absent" in told_before, told_before
    space.patch(KIND, "big-reports", {"metadata": {"annotations": {"starrocks.com/ignored": None}}})
    ready(space, "big-reports")
    assert lives(space) == before
    adopted = space.get("StatefulSet", "big-reports-warehouse-cn")["metadata"]
    assert "finalizers" not in adopted
    assert "app.starrocks.components/hash" not in adopted["annotations"]
    assert status(space, "big-reports")["profile"] == "upstream"
    space.delete(KIND, "big-reports")
    space.wait(lambda: space.find("StatefulSet", "big-reports-warehouse-cn") is None, "kube", "to be free of it")


def lives(space: Space) -> dict[str, Any]:
    """Everything of the warehouse that a restart, a roll or a lost volume would change."""
    found = {}
    for kind, word in (("Pod", "pods"), ("ControllerRevision", "revisions"), ("PersistentVolumeClaim", "claims")):
        metas = (each["metadata"] for each in space.all(kind))
        found[word] = {meta["name"]: meta["uid"] for meta in metas if "big-reports-warehouse" in meta["name"]}
    return found


def config_map(name: str, data: dict[str, str]) -> Document:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
