"""deletionProtection on a real API server: who is refused and told how, who is not, and that the flag frees."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from lab.controlplane.errors import LabError
from lab.space import Space
from lab.stack import wait_for
from starrocks_operator.protection import LABEL, POLICIES
from tests.cluster.clusters import cluster

OPERATOR = "system:serviceaccount:starrocks:starrocks-operator"
COLLECTOR = "system:serviceaccount:kube-system:generic-garbage-collector"
FREES = "first set"


@pytest.fixture
def protected(space: Space) -> Iterator[Space]:
    """A cluster `one` that is protected, in a namespace that is; and `two`, that is not."""
    kubectl(space, "label", "namespace", space.namespace, f"{LABEL}=true")
    observers = {"starRocksFeObserverSpec": {"replicas": 1}}
    space.apply(cluster("one", be=1, volumes=True, deletionProtection=True, **observers))
    space.apply(cluster("two", be=1, volumes=True))
    space.wait_ready("one")
    space.wait_ready("two")
    yield space
    space.patch("StarRocksCluster", "one", {"spec": {"deletionProtection": False}})


def kubectl(space: Space, *arguments: str) -> str:
    return space.stack.plane.kubectl(f"--namespace={space.namespace}", *arguments)


def refusal(space: Space, *what: str, who: str = "") -> str:
    """What the API server says to deleting this; empty if it would do it."""
    try:
        kubectl(space, "delete", *what, "--dry-run=server", *([f"--as={who}"] if who else []))
    except LabError as error:
        return str(error)
    return ""


def test_neither_the_cluster_nor_its_data_nor_its_namespace_can_be_deleted(protected: Space) -> None:
    assert protected.status("one")["protection"] == {"policies": "present", "namespace": "labelled"}
    assert "protection" not in protected.status("two")
    for what in ("src one", "statefulset one-fe", "pvc fe-meta-one-fe-0", "pvc be-data-one-be-0"):
        assert f"{FREES} " in refusal(protected, *what.split()), what
        assert not refusal(protected, *what.replace("one", "two").split()), what
    for what in ("statefulset one-fe-observer", "pvc fe-meta-one-fe-observer-0"):
        assert f"{FREES} " in refusal(protected, *what.split()), what
    for everything in ("src", "statefulset", "pvc"):
        assert FREES in refusal(protected, everything, "--all")
    said = refusal(protected, "namespace", protected.namespace)
    assert f"take the label {LABEL} off" in said
    assert not refusal(protected, "pod", "one-fe-0")


def test_the_operator_may_renew_metadata_volumes_and_no_others(protected: Space) -> None:
    assert not refusal(protected, "pvc", "fe-meta-one-fe-0", who=OPERATOR)
    assert not refusal(protected, "pvc", "fe-meta-one-fe-observer-0", who=OPERATOR)
    assert FREES in refusal(protected, "pvc", "be-data-one-be-0", who=OPERATOR)


def test_the_garbage_collector_takes_claims_that_have_an_owner(protected: Space) -> None:
    assert FREES in refusal(protected, "pvc", "be-data-one-be-0", who=COLLECTOR)
    owner = protected.get("StatefulSet", "one-be")["metadata"]["uid"]
    reference = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "one-be", "uid": owner}
    change = {"metadata": {"ownerReferences": [reference]}}
    protected.patch("PersistentVolumeClaim", "be-data-one-be-0", change)
    assert not refusal(protected, "pvc", "be-data-one-be-0", who=COLLECTOR)
    protected.patch("PersistentVolumeClaim", "be-data-one-be-0", {"metadata": {"ownerReferences": None}})


def test_without_the_flag_it_goes_with_all_its_objects(protected: Space) -> None:
    protected.patch("StarRocksCluster", "one", {"spec": {"deletionProtection": False}})
    protected.wait(lambda: "protection" not in protected.status("one"), "one", "to be free")
    protected.delete("StarRocksCluster", "one")
    wait_for(lambda: not protected.find("StatefulSet", "one-fe"), what="the StatefulSets to be collected")
    assert protected.find("PersistentVolumeClaim", "be-data-one-be-0"), "volumes stay"
    protected.delete("PersistentVolumeClaim", "be-data-one-be-0")
    protected.apply(cluster("one"))  # for the fixture


def test_a_namespace_that_is_not_labelled_keeps_the_data_when_it_is_deleted(space: Space) -> None:
    space.apply(cluster("one", volumes=True, deletionProtection=True))
    space.wait_ready("one")
    assert "is not labelled" in space.condition("one", "Ready")["message"]
    kubectl(space, "delete", "namespace", space.namespace, "--wait=false")

    def refused() -> str:
        found = json.loads(kubectl(space, "get", "namespace", space.namespace, "--output=json"))
        conditions = found["status"].get("conditions") or ()
        return " ".join(str(condition.get("message")) for condition in conditions)

    wait_for(lambda: FREES in refused(), what="the namespace to say why it stays")
    for kind, name in (("StatefulSet", "one-fe"), ("PersistentVolumeClaim", "fe-meta-one-fe-0")):
        assert not space.get(kind, name)["metadata"].get("deletionTimestamp"), name
    claim = "fe-meta-one-fe-0"
    space.patch("PersistentVolumeClaim", claim, {"metadata": {"finalizers": ["lab.starrocks.com/held"]}})
    space.patch("StarRocksCluster", "one", {"spec": {"deletionProtection": False}})
    wait_for(lambda: not space.find("StarRocksCluster", "one"), what="the cluster to go")
    space.patch("PersistentVolumeClaim", claim, {"metadata": {"finalizers": None}})  # not before: nothing is lost then
    wait_for(
        lambda: not kubectl(space, "get", "namespace", space.namespace, "--ignore-not-found"),
        what="the namespace to be gone",
    )


def test_absent_policies_are_said(protected: Space) -> None:
    name = POLICIES[0]
    kept = {
        kind: json.loads(kubectl(protected, "get", kind, name, "--output=json"))
        for kind in ("validatingadmissionpolicy", "validatingadmissionpolicybinding")
    }
    protected.stack.end("operator")
    kubectl(protected, "delete", "validatingadmissionpolicybinding", name)
    try:
        protected.stack.operate(arguments=("--settled-interval", "10"))
        protected.wait(
            lambda: protected.status("one")["protection"]["policies"] == "absent", "one", "to miss the policy"
        )
        assert protected.condition("one", "Degraded")["reason"] == "ProtectionAbsent"
        assert protected.condition("one", "Ready")["status"] == "True"
    finally:
        binding = kept["validatingadmissionpolicybinding"]
        binding["metadata"] = {"name": name}
        protected.stack.plane.kubectl(
            "apply", "--server-side", "--force-conflicts", "-f", "-", input=json.dumps(binding)
        )
    protected.wait(lambda: protected.status("one")["protection"]["policies"] == "present", "one", "to be protected")
    protected.wait(lambda: FREES in refusal(protected, "src", "one"), "one", "to be protected again")


def test_a_metadata_volume_is_renewed_under_protection(protected: Space) -> None:
    protected.scale("one", "starRocksFeSpec", 4)
    protected.wait_ready("one")
    before = protected.get("PersistentVolumeClaim", "fe-meta-one-fe-3")["metadata"]["uid"]
    protected.scale("one", "starRocksFeSpec", 3)
    protected.wait_ready("one")
    protected.scale("one", "starRocksFeSpec", 4)
    protected.wait_ready("one")
    assert protected.get("PersistentVolumeClaim", "fe-meta-one-fe-3")["metadata"]["uid"] != before
