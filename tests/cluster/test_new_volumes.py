"""Pods get volumes that they did not have, one by one, and whatever dies meanwhile comes back as it was."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from lab.interference import interference
from lab.space import Document, Space
from lab.stack import wait_for
from tests.cluster.clusters import cluster, volume
from tests.cluster.operators import Operators

BE, FE = "starRocksBeSpec", "starRocksFeSpec"
SPILL = volume("spill", "/spill")


def spilling(document: Document, *fields: str) -> Document:
    """The cluster with another volume."""
    for field in fields or (BE,):
        document["spec"][field]["storageVolumes"].append(SPILL)
    return document


def uids(space: Space) -> dict[str, str]:
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in space.all("Pod")}


def mounted(space: Space) -> dict[str, set[str]]:
    """The claims of each pod."""
    return {
        pod["metadata"]["name"]: {
            item["persistentVolumeClaim"]["claimName"]
            for item in pod["spec"]["volumes"]
            if "persistentVolumeClaim" in item
        }
        for pod in space.all("Pod")
    }


def templates(space: Space, name: str) -> list[str]:
    found = space.get("StatefulSet", name)["spec"]["volumeClaimTemplates"]
    return [item["metadata"]["name"] for item in found]


def test_every_pod_gets_the_new_volume_and_keeps_its_old_one(space: Space) -> None:
    space.apply(cluster("one", fe=3, be=3, volumes=True))
    space.wait_ready("one", patience=90)
    before, claims = uids(space), {item["metadata"]["uid"] for item in space.all("PersistentVolumeClaim")}
    space.apply(spilling(cluster("one", fe=3, be=3, volumes=True), FE, BE))
    space.wait_ready("one", patience=240)
    for name, data in (("fe", "fe-meta"), ("be", "be-data")):
        pods = [f"one-{name}-{ordinal}" for ordinal in range(3)]
        assert {pod: mounted(space)[pod] for pod in pods} == {pod: {f"{data}-{pod}", f"spill-{pod}"} for pod in pods}
        assert templates(space, f"one-{name}") == [data, "spill"]
        assert space.get("StatefulSet", f"one-{name}")["spec"]["updateStrategy"]["type"] == "RollingUpdate"
        assert space.find("ConfigMap", f"one-{name}-former") is None
    assert not set(before.values()) & set(uids(space).values())
    assert claims <= {item["metadata"]["uid"] for item in space.all("PersistentVolumeClaim")}
    assert len(space.show("one", "SHOW BACKENDS")) == 3


def test_taken_back_in_the_middle_the_claims_stay_and_are_named(space: Space) -> None:
    space.apply(cluster("one", be=3, volumes=True))
    space.wait_ready("one", patience=90)
    space.apply(spilling(cluster("one", be=3, volumes=True)))
    has = lambda: "spill-one-be-0" in mounted(space).get("one-be-0", set())  # noqa: E731
    space.wait(has, "one", "to give the first one its volume", patience=90)
    space.apply(cluster("one", be=3, volumes=True))
    space.wait_ready("one", patience=120)
    assert all(claims == {f"be-data-{pod}"} for pod, claims in mounted(space).items() if "-be-" in pod)
    assert templates(space, "one-be") == ["be-data"]
    assert space.find("PersistentVolumeClaim", "spill-one-be-0") is not None
    assert "spill-one-be-0" in space.condition("one", "Ready")["message"]


def test_the_operator_dies_in_the_middle_and_pods_come_back_as_they_were(operators: Operators, tmp_path: Path) -> None:
    """Killed when the StatefulSet is at its former claims again, the first pod with its volume, the others without."""
    space = operators.space
    with interference(operators.stack.operator_kubeconfig) as proxy:
        operators.start("first", kubeconfig=proxy.write_kubeconfig(tmp_path / "proxied"))
        space.apply(cluster("one", be=3, volumes=True))
        space.wait_ready("one", patience=90)
        before = uids(space)

        def kill() -> bool:
            operators.kill("first")
            return False

        ambush = proxy.ambush(r"DELETE .*/statefulsets/one-be$", number=3, afterwards=False, act=kill)
        space.apply(spilling(cluster("one", be=3, volumes=True)))
        wait_for(ambush.met.is_set, what="the operator to be killed", patience=120)
    assert templates(space, "one-be") == ["be-data"]
    for pod in ("one-be-0", "one-be-2"):
        uid = uids(space)[pod]
        space.delete("Pod", pod, wait=False)
        wait_for(partial(space.is_back, pod, uid), what=f"{pod} to be back", patience=30)
        assert mounted(space)[pod] == {f"be-data-{pod}"}
    assert uids(space)["one-be-1"] == before["one-be-1"]
    operators.start("second")
    space.wait_ready("one", patience=240)
    assert templates(space, "one-be") == ["be-data", "spill"]
    assert all(f"spill-{pod}" in claims for pod, claims in mounted(space).items() if "-be-" in pod)
