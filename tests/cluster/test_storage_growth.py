"""Volumes grow: claim by claim, and then the StatefulSet is made anew around its pods, none of which is touched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes.dynamic.exceptions import UnprocessibleEntityError

from lab.interference import interference
from lab.space import Document, Space
from lab.stack import wait_for
from tests.cluster.clusters import cluster
from tests.cluster.operators import Operators

BE, FE = "starRocksBeSpec", "starRocksFeSpec"


def sized(document: Document, **sizes: str) -> Document:
    """The cluster with volumes of these sizes."""
    for field in (FE, BE):
        for volume in document["spec"].get(field, {}).get("storageVolumes", ()):
            volume["storageSize"] = sizes.get(volume["name"].replace("-", "_"), volume["storageSize"])
    return document


def pods(space: Space) -> dict[str, tuple[str, str]]:
    """Uid and revision of each pod."""
    found = (pod["metadata"] for pod in space.all("Pod"))
    return {meta["name"]: (meta["uid"], meta["labels"]["controller-revision-hash"]) for meta in found}


def sizes(space: Space, prefix: str) -> set[tuple[str, str]]:
    """What the claims ask for, and have."""
    return {
        (claim["spec"]["resources"]["requests"]["storage"], claim["status"]["capacity"]["storage"])
        for claim in space.all("PersistentVolumeClaim")
        if claim["metadata"]["name"].startswith(prefix)
    }


def template_sizes(stateful_set: Document) -> list[str]:
    return [item["spec"]["resources"]["requests"]["storage"] for item in stateful_set["spec"]["volumeClaimTemplates"]]


def kept(stateful_set: Document) -> tuple[Any, ...]:
    """What must be the same after it was made anew."""
    spec, annotations = stateful_set["spec"], stateful_set["metadata"]["annotations"]
    marks = tuple(annotations[f"starrocks.com/{name}"] for name in ("profile", "template-hash"))
    return marks + tuple(
        spec[field] for field in ("template", "serviceName", "podManagementPolicy", "replicas", "updateStrategy")
    )


def test_volumes_grow_and_no_pod_is_touched(space: Space) -> None:
    space.apply(cluster("one", fe=3, be=3, volumes=True))
    space.wait_ready("one", patience=90)
    before, sets = pods(space), {name: space.get("StatefulSet", f"one-{name}") for name in ("fe", "be")}
    space.apply(sized(cluster("one", fe=3, be=3, volumes=True), fe_meta="3Gi", be_data="5Gi"))
    space.wait_ready("one", patience=90)
    assert pods(space) == before
    assert sizes(space, "fe-meta-") == {("3Gi", "3Gi")}
    assert sizes(space, "be-data-") == {("5Gi", "5Gi")}
    for name, size in (("fe", "3Gi"), ("be", "5Gi")):
        anew = space.get("StatefulSet", f"one-{name}")
        assert template_sizes(anew) == [size]
        assert anew["metadata"]["uid"] != sets[name]["metadata"]["uid"]
        assert kept(anew) == kept(sets[name])
        assert space.find("ConfigMap", f"one-{name}-former") is None


def test_a_class_that_does_not_let_volumes_grow_is_refused_with_a_sentence(space: Space) -> None:
    document = cluster("one", be=1, volumes=True)
    document["spec"][BE]["storageVolumes"][0]["storageClassName"] = "fixed"
    space.apply(document)
    space.wait_ready("one")
    document = sized(document, be_data="5Gi")
    document["spec"][BE]["minReadySeconds"] = 1
    space.apply(document)
    space.wait(lambda: "VolumeGrowthRefused" in space.reasons("one"), "one", "to refuse", patience=60)
    said = space.condition("one", "Ready")["message"]
    assert "be-data-one-be-0 are of StorageClass fixed, which does not let volumes grow" in said
    applied = lambda: space.get("StatefulSet", "one-be")["spec"].get("minReadySeconds") == 1  # noqa: E731
    space.wait(applied, "one", "to apply all else", patience=30)
    assert sizes(space, "be-data-") == {("1Gi", "1Gi")}


@pytest.fixture
def protected(space: Space) -> Iterator[Space]:
    yield space
    space.patch("StarRocksCluster", "one", {"spec": {"deletionProtection": False}})


def test_a_protected_cluster_grows_and_a_smaller_size_is_refused(protected: Space) -> None:
    space, document = protected, cluster("one", be=1, volumes=True, deletionProtection=True)
    space.apply(document)
    space.wait_ready("one", patience=90)
    before = pods(space)
    space.apply(sized(document, be_data="2Gi"))
    space.wait_ready("one", patience=90)
    assert template_sizes(space.get("StatefulSet", "one-be")) == ["2Gi"]
    assert pods(space) == before
    with pytest.raises(UnprocessibleEntityError, match="would become smaller"):
        space.apply(sized(document, be_data="1Gi"))


@pytest.mark.parametrize("afterwards", [False, True])
def test_an_operator_killed_between_delete_and_create_is_made_good(
    operators: Operators, tmp_path: Path, afterwards: bool
) -> None:
    """Killed right after the delete was answered, or right before the create (the first PATCH changes nothing)."""
    space = operators.space
    with interference(operators.stack.operator_kubeconfig) as proxy:
        operators.start("first", kubeconfig=proxy.write_kubeconfig(tmp_path / "proxied"))
        space.apply(cluster("one", fe=1, be=3, volumes=True))
        space.wait_ready("one", patience=90)
        before, was = pods(space), space.get("StatefulSet", "one-be")
        pattern = r"DELETE .*/statefulsets/one-be$" if afterwards else r"PATCH .*/statefulsets/one-be$"

        def kill() -> bool:
            operators.kill("first")
            return False

        ambush = proxy.ambush(pattern, number=1 if afterwards else 2, afterwards=afterwards, act=kill)
        space.apply(sized(cluster("one", fe=1, be=3, volumes=True), be_data="2Gi"))
        wait_for(ambush.met.is_set, what="the operator to be killed", patience=90)
    wait_for(lambda: space.find("StatefulSet", "one-be") is None, what="the StatefulSet to be gone", patience=30)
    assert pods(space) == before
    space.patch("StarRocksCluster", "one", {"spec": {BE: {"image": "starrocks/be-ubuntu:3.3.10", "replicas": 2}}})
    space.delete("Pod", "one-be-2")
    operators.start("second")
    wait_for(lambda: space.find("StatefulSet", "one-be"), what="the StatefulSet to be there again", patience=60)
    anew = space.get("StatefulSet", "one-be")
    assert anew["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"] == "2Gi"
    assert anew["metadata"]["uid"] != was["metadata"]["uid"]
    space.wait_ready("one", patience=200)
    assert len(space.show("one", "SHOW BACKENDS")) == 2
