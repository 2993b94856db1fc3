"""Frontends in trouble: no leader, a lost volume, a second cluster. Nothing is lost and the status says what is."""

from __future__ import annotations

import time

from lab.space import Space
from lab.stack import wait_for
from tests.cluster.clusters import cluster

CLOCK_MARGIN_MS = 6000  # a volume counts as lost only if it is younger than its member by more than clocks differ


def lose_volume(space: Space, pod: str) -> None:
    """Delete a frontend's metadata volume and its pod, once the volume is clearly younger than the member."""
    old = space.get("Pod", pod)["metadata"]["uid"]
    members = space.status(pod.rpartition("-fe-")[0])["members"]
    added = max(int(member["id"].rpartition("_")[2]) for member in members if member["kind"] == "frontend")
    wait_for(
        lambda: time.time() * 1000 > added + CLOCK_MARGIN_MS, what="the members to be older than the clocks' margin"
    )
    space.delete("PersistentVolumeClaim", f"fe-meta-{pod}", wait=False)
    space.delete("Pod", pod, wait=False)

    def replaced() -> bool:
        found = space.find("Pod", pod)
        return found is not None and found["metadata"]["uid"] != old

    wait_for(replaced, what=f"another pod {pod}")


def leader(space: Space, name: str) -> str:
    """The pod that leads; empty while nobody does."""
    members = space.status(name).get("members", [])
    return next((member["name"] for member in members if member.get("role") == "LEADER" and member["alive"]), "")


def test_when_the_leader_dies_another_leads_and_the_status_follows(space: Space) -> None:
    space.apply(cluster("one", fe=3, volumes=True))
    space.wait_ready("one")
    old = leader(space, "one")
    space.fault(old, "kill")
    space.wait(lambda: leader(space, "one") not in ("", old), "one", "to have another leader")
    space.fault(old, "resume")
    space.wait_ready("one")


def test_without_a_majority_nothing_is_done_and_it_is_said(space: Space) -> None:
    space.apply(cluster("one", fe=3, be=1, volumes=True))
    space.apply(cluster("two"))
    space.wait_ready("one")
    for pod in ("one-fe-1", "one-fe-2", "one-fe-0"):
        space.fault(pod, "hang")
    space.wait(lambda: "LeaderMissing" in space.reasons("one"), "one", "to report LeaderMissing")
    assert space.condition("one", "QuorumSafe")["status"] == "False"
    mark = space.stack.witness.mark()
    space.wait_ready("two")
    changed = [write for write in space.stack.witness.writes(since=mark) if write.name.startswith("one-")]
    assert changed == []
    for pod in ("one-fe-1", "one-fe-2", "one-fe-0"):
        space.fault(pod, "resume")
    space.wait_ready("one")


def test_a_frontend_that_lost_its_volume_is_dropped_and_joins_again(space: Space) -> None:
    space.apply(cluster("one", fe=3, volumes=True))
    space.wait_ready("one")
    lost = next(f"one-fe-{number}" for number in range(3) if f"one-fe-{number}" != leader(space, "one"))
    before = {row["IP"].split(".")[0]: row["Name"] for row in space.show("one", "SHOW FRONTENDS")}
    lose_volume(space, lost)
    space.wait(lambda: "DropFollower" in statements(space), "one", "to drop the member that lost its volume")
    space.wait_ready("one")
    after = {row["IP"].split(".")[0]: row["Name"] for row in space.show("one", "SHOW FRONTENDS")}
    assert after[lost] != before[lost]
    assert len({row["ClusterId"] for row in space.show("one", "SHOW FRONTENDS")}) == 1


def statements(space: Space) -> str:
    """The steps that were announced in this namespace, as one text."""
    notes = [event.get("note", "") for event in space.all("Event")]
    return " ".join(notes)


def test_frontend_zero_with_an_empty_volume_never_founds_a_second_cluster(space: Space) -> None:
    space.apply(cluster("one", fe=3, volumes=True))
    space.wait_ready("one")
    founded = space.status("one")["bootstrap"]["clusterId"]
    for number in range(3):
        space.fault(f"one-fe-{number}", "kill")
    lose_volume(space, "one-fe-0")
    for number in (1, 2):
        space.fault(f"one-fe-{number}", "resume")
    space.wait_ready("one")
    assert space.status("one")["bootstrap"]["clusterId"] == founded
    assert {row["ClusterId"] for row in space.show("one", "SHOW FRONTENDS")} == {founded}
    assert foundings(space) == 1


def foundings(space: Space) -> int:
    """How many clusters were founded in this namespace, as the simulator counts them."""
    databases = space.simulator("GET", "/state")["databases"]
    return sum(database["cluster"].startswith(f"{space.namespace}/") for database in databases)


def test_in_profile_upstream_a_second_cluster_is_seen_and_freezes_membership(space: Space) -> None:
    document = cluster("one", fe=3, be=1)
    document["metadata"]["annotations"] = {"starrocks.com/profile": "upstream"}
    document["spec"]["starRocksFeSpec"]["storageVolumes"] = [
        {"name": "fe-meta", "mountPath": "/opt/starrocks/fe/meta", "storageSize": "1Gi"}
    ]
    space.apply(document)
    space.wait_ready("one")
    space.stack.foretold.add((space.namespace, "second-cluster"))
    for number in (1, 2):
        space.fault(f"one-fe-{number}", "kill")
    lose_volume(space, "one-fe-0")
    space.wait(lambda: "SplitBrain" in space.reasons("one"), "one", "to report SplitBrain", patience=120)
    for number in (1, 2):
        space.fault(f"one-fe-{number}", "resume")
    space.wait(lambda: "SplitBrain" in space.reasons("one"), "one", "to go on reporting SplitBrain")
    assert not space.ready("one")


def test_a_lone_frontend_that_lost_its_metadata_is_not_touched(space: Space) -> None:
    space.apply(cluster("one", be=1, volumes=True))
    space.wait_ready("one")
    space.stack.foretold.add((space.namespace, "meta-lost"))
    lose_volume(space, "one-fe-0")
    space.wait(lambda: space.condition("one", "Degraded").get("status") == "True", "one", "to be Degraded")
    assert foundings(space) == 1
