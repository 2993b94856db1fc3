"""Volumes grow: claim by claim, and then the StatefulSet is made anew around its pods, none of which is touched."""

from __future__ import annotations

from typing import Any

from lab.space import Document, Space
from tests.cluster.clusters import cluster

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
