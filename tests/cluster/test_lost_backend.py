"""A backend whose volume is gone: it comes back empty when FE counts nothing on it, or when its owner names it."""

from __future__ import annotations

import pytest

from lab.space import Space
from tests.cluster.clusters import cluster
from tests.cluster.leaving import backends, fill, finding, tablets

REPLACE = "starrocks.com/replace-backend"
POD, CLAIM = "one-be-1", "be-data-one-be-1"


def kubectl(space: Space, *arguments: str) -> str:
    return space.stack.plane.kubectl(f"--namespace={space.namespace}", *arguments)


def claim_uid(space: Space) -> str:
    found = space.find("PersistentVolumeClaim", CLAIM)
    return str(found["metadata"]["uid"]) if found else ""


def lose(space: Space) -> str:
    """The disk behind the claim is gone, and so is the process. Returns the claim's uid."""
    claim = space.get("PersistentVolumeClaim", CLAIM)
    volume = claim["spec"]["volumeName"]
    space.fault(POD, "kill")
    kubectl(space, "delete", "pv", volume, "--wait=false")
    kubectl(space, "patch", "pv", volume, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    lost = lambda: space.get("PersistentVolumeClaim", CLAIM)["status"]["phase"] == "Lost"  # noqa: E731
    space.wait(lost, "one", "to have lost a volume", patience=30)
    return str(claim["metadata"]["uid"])


@pytest.mark.parametrize("spare", [True, False])
def test_a_lost_backend_comes_back_empty(space: Space, spare: bool) -> None:
    """With a spare backend FE copies everything elsewhere, and it comes back by itself; without one, by name."""
    space.apply(cluster("one", be=4 if spare else 3, volumes=True))
    space.wait_ready("one", patience=90)
    fill(space, "one", moving=12, replication=3)
    lost = lose(space)
    if not spare:
        space.wait(lambda: finding(space, "one", "BackendLost"), "one", "to tell of it", patience=90)
        said = finding(space, "one", "BackendLost")
        assert f"{REPLACE}={POD}@{lost}" in said
        assert claim_uid(space) == lost
        space.patch("StarRocksCluster", "one", {"metadata": {"annotations": {REPLACE: f"{POD}@{lost}"}}})
    space.wait(lambda: claim_uid(space) not in ("", lost), "one", "to have a new volume", patience=90)
    space.wait(lambda: backends(space, "one")[POD]["Alive"] == "true", "one", "to see it alive", patience=90)
    if not spare:
        space.wait(lambda: tablets(space, "one")[POD] == 12, "one", "to have its copies again", patience=90)
    space.wait_ready("one", patience=90)
    assert space.simulator("GET", "/state")["consented"] == []
