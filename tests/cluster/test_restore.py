"""A new cluster that asks for its data back is not founded empty, until its owner says so."""

from __future__ import annotations

from lab.space import Space
from tests.cluster.clusters import cluster


def test_a_restore_that_is_asked_for_is_not_answered_with_an_empty_cluster(space: Space) -> None:
    data = {"fe.conf": "run_mode = shared_data\n"}
    space.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "fe-conf"}, "data": data})
    wanted = cluster("one", disasterRecovery={"enabled": True, "generation": 1})
    wanted["spec"]["starRocksFeSpec"] |= {"configMapInfo": {"configMapName": "fe-conf", "resolveKey": "fe.conf"}}
    space.apply(wanted)
    space.wait(lambda: "RestoreNotSupported" in space.reasons("one"), "one", "to say that nothing is restored")
    assert space.status("one")["phase"] == "failed"
    assert space.all("StatefulSet") == []
    space.patch("StarRocksCluster", "one", {"spec": {"disasterRecovery": {"enabled": False}}})
    space.wait_ready("one")
