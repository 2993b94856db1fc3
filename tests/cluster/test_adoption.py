"""The official operator's cluster is taken over as it stands: no pod restarts, and from then on it is ours alone.

The objects are those of `tests/official.py`, written by a field manager of that operator's name with plain updates,
with the annotations that it leaves. The cluster lives on them before this operator sees it.
"""

from __future__ import annotations

from typing import Any

import pytest

from lab.space import Document, Space
from lab.stack import wait_for
from starrocks_operator.decide import IGNORED
from tests.cluster.adopt_check import adopt_check
from tests.official_operator import HASH, LAST_APPLIED, MANAGER, again, make


def official_cluster(space: Space) -> list[Document]:
    """The cluster lives before this operator may touch it."""
    objects = make(space)
    wait_for(lambda: _running(space, 8), what="the official operator's cluster to live", patience=120)
    return objects


def _running(space: Space, count: int) -> bool:
    pods = [pod for pod in space.all("Pod") if _is_ready(pod)]
    return len(pods) == count


def _is_ready(pod: Document) -> bool:
    conditions = pod.get("status", {}).get("conditions", [])
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def _lives(space: Space) -> dict[str, Any]:
    """Everything that a restart, a roll or a lost volume would change."""
    return {
        "pods": {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in space.all("Pod")},
        "restarts": [pod["status"]["containerStatuses"][0]["restartCount"] for pod in space.all("Pod")],
        "revisions": sorted(each["metadata"]["uid"] for each in space.all("ControllerRevision")),
        "claims": {each["metadata"]["name"]: each["metadata"]["uid"] for each in space.all("PersistentVolumeClaim")},
        "templates": {each["metadata"]["name"]: each["spec"]["template"] for each in space.all("StatefulSet")},
        "addresses": {each["metadata"]["name"]: each["spec"]["clusterIP"] for each in space.all("Service")},
    }


@pytest.fixture
def adopted(space: Space) -> tuple[Space, list[Document], dict[str, Any]]:
    """The cluster after this operator has taken it over; the objects and what lived before."""
    objects = official_cluster(space)
    before = _lives(space)
    code, told = adopt_check(space)
    assert (code, "no pod would restart" in told) == (0, True), told
    assert f"metadata.annotations.{HASH}: 1732884 → absent" in told
    code, told = adopt_check(space, "--profile", "safe")
    assert (code, "StatefulSet kube-fe: its pods would be replaced" in told) == (3, True), told
    assert _lives(space) == before
    space.patch("StarRocksCluster", "kube", {"metadata": {"annotations": {IGNORED: None}}})
    space.wait_ready("kube")
    return space, objects, before


def test_nothing_restarts_and_every_field_is_ours(adopted: tuple[Space, list[Document], dict[str, Any]]) -> None:
    space, objects, before = adopted
    assert _lives(space) == before
    assert space.status("kube")["starRocksFeStatus"]["profile"] == "upstream"
    for made in objects:
        live = space.get(made["kind"], made["metadata"]["name"])
        annotations = live["metadata"].get("annotations", {})
        assert HASH not in annotations
        assert LAST_APPLIED not in annotations
        managers = {(entry["manager"], entry["operation"]) for entry in live["metadata"]["managedFields"]}
        assert (MANAGER, "Update") not in managers, made["metadata"]["name"]
        assert ("starrocks-operator", "Apply") in managers

    # What the user removes disappears, although it was the official operator that wrote it.
    space.patch("StarRocksCluster", "kube", {"spec": {"starRocksFeSpec": {"service": {"annotations": None}}}})

    def gone() -> bool:
        service = space.get("Service", "kube-fe-service")
        return "example.com/internal" not in service["metadata"].get("annotations", {})

    space.wait(gone, "kube", "to lose an annotation of its Service")
    space.wait_ready("kube")
    assert _lives(space)["pods"] == before["pods"]

    # The way back: this operator leaves it alone, and the official one writes its objects over ours, as it does.
    space.patch("StarRocksCluster", "kube", {"metadata": {"annotations": {IGNORED: "true"}}})
    again(space)
    after = _lives(space)
    assert (after["pods"], after["revisions"], after["templates"]) == (
        before["pods"],
        before["revisions"],
        before["templates"],
    )
