"""A pod that crashes again and again is debugged: it stays up, is left out of a roll, and is mended after."""

from __future__ import annotations

from lab.space import Document, Space
from tests.cluster.clusters import cluster

DEBUG = "starrocks.com/debug"


def annotated(value: str | None) -> Document:
    return {"metadata": {"annotations": {DEBUG: value}}}


def configured(crash: str | None) -> Document:
    return {"spec": {"starRocksBeSpec": {"config": {"crash_on_start": crash}}}}


def waiting(space: Space, pod: str) -> str:
    """Why the pod's main container waits."""
    statuses = ((space.find("Pod", pod) or {}).get("status") or {}).get("containerStatuses") or [{}]
    return str(((statuses[0].get("state") or {}).get("waiting") or {}).get("reason", ""))


def uid(space: Space, pod: str) -> str:
    return str(space.get("Pod", pod)["metadata"]["uid"])


def activity(space: Space, pod: str) -> str:
    """What the simulator says its container does."""
    pods = space.simulator("GET", "/state")["pods"]
    return str(next(item["activity"] for item in pods if item["name"] == pod and item["namespace"] == space.namespace))


def test_a_crashing_pod_stays_up_is_left_out_of_the_roll_and_is_mended_after(space: Space) -> None:
    space.apply(cluster("one", be=3, volumes=True))
    space.wait_ready("one")
    scripts = {item["metadata"]["name"] for item in space.all("ConfigMap") if "-scripts-" in item["metadata"]["name"]}
    assert {name.rpartition("-")[0] for name in scripts} == {"one-fe-scripts", "one-be-scripts"}

    space.patch("StarRocksCluster", "one", configured("true"))
    space.wait(lambda: waiting(space, "one-be-2") == "CrashLoopBackOff", "one", "to have a pod that crashes")
    broken = uid(space, "one-be-2")
    space.patch("StarRocksCluster", "one", annotated("be-2"))
    space.wait(lambda: "debugging" in activity(space, "one-be-2"), "one", "to have it held for debugging")
    space.wait(lambda: waiting(space, "one-be-2") == "", "one", "to have it up")
    space.wait(lambda: "Debugged" in space.condition("one", "Ready")["message"], "one", "to say so")

    space.patch("StarRocksCluster", "one", configured(None))
    space.wait(lambda: space.status("one")["rollout"]["gate"] == "NotDebugged", "one", "to leave it alone")
    assert uid(space, "one-be-2") == broken

    space.patch("StarRocksCluster", "one", annotated(None))
    space.wait_ready("one")
    assert uid(space, "one-be-2") != broken
    assert space.find("ConfigMap", "one-be-debug") is None
