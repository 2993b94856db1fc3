"""Which cluster an object belongs to, what of it is kept, and what counts as news."""

from __future__ import annotations

import pytest

from starrocks_operator.model import Key
from starrocks_operator.observed import ObjectKey
from tests.unit.watcher_fakes import KEY, child_raw, cluster_raw, pod_raw
from watcher.index import Index
from watcher.keys import COMPONENT_LABEL, host_name, key_of
from watcher.trim import Raw, trim


@pytest.mark.parametrize(
    ("name", "owner", "component", "expected"),
    [
        ("sample-fe-0", "sample-fe", "fe", "sample"),
        ("sample-fe-fe-0", "sample-fe-fe", "fe", "sample-fe"),  # a cluster whose name begins with another's
        ("sample-fe-be-0", "sample-fe-be", "be", "sample-fe"),
        ("x", "sample-fe", "be", None),
        ("x", "sample", "", None),
        ("x", "-fe", "fe", None),
    ],
)
def test_pods_belong_by_label(name: str, owner: str, component: str, expected: str | None) -> None:
    found = key_of(pod_raw(name, owner, component))
    assert found == (Key("ns", expected) if expected else None)


def test_other_objects_belong_to_their_controller() -> None:
    assert key_of(child_raw("Service", "sample-fe-service", "sample")) == KEY
    orphan = child_raw("Service", "s", "sample")
    orphan["metadata"]["ownerReferences"][0]["apiVersion"] = "other.com/v1"
    assert key_of(orphan) is None
    assert host_name(KEY) == "ns.sample"


ORPHANS = [
    ("StatefulSet", "sample-fe", "fe"),
    ("Service", "sample-be-search", "be"),
    ("ConfigMap", "sample-fe-bootstrap", "fe"),
    ("PodDisruptionBudget", "sample-cn", "cn"),
    ("HorizontalPodAutoscaler", "sample-cn-autoscaler", "autoscaler"),
]


def orphan(kind: str, name: str, component: str, *, version: int = 1) -> Raw:
    """A child after `kubectl delete --cascade=orphan` of its cluster."""
    raw = child_raw(kind, name, "sample", version=version)
    raw["metadata"]["labels"][COMPONENT_LABEL] = component
    del raw["metadata"]["ownerReferences"]
    return raw


@pytest.mark.parametrize(("kind", "name", "component"), ORPHANS)
def test_an_orphan_belongs_by_label(kind: str, name: str, component: str) -> None:
    assert key_of(orphan(kind, name, component)) == KEY


def test_an_owner_that_is_no_controller_leaves_an_orphan_an_orphan() -> None:
    raw = orphan("Service", "s", "fe")
    raw["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "u"}]
    assert key_of(raw) == KEY


@pytest.mark.parametrize("component", ["", "feproxy", "FE"])
def test_a_label_alone_makes_no_child(component: str) -> None:
    assert key_of(orphan("ConfigMap", "c", component)) is None


def test_another_controller_outweighs_the_labels() -> None:
    raw = orphan("Service", "s", "fe")
    raw["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "uid": "u", "controller": True}
    ]
    assert key_of(raw) is None


def test_a_predecessors_child_is_still_known() -> None:
    raw = child_raw("StatefulSet", "sample-fe", "sample")
    raw["metadata"]["ownerReferences"][0]["uid"] = "an older one"
    assert key_of(raw) == KEY


def test_a_child_stays_in_sight_when_it_is_orphaned_and_that_is_news() -> None:
    index = Index()
    index.put(child_raw("StatefulSet", "sample-fe", "sample", version=1))
    assert index.put(orphan("StatefulSet", "sample-fe", "fe", version=2)) == KEY
    assert set(index.children(KEY).objects) == {ObjectKey("StatefulSet", "sample-fe")}
    assert index.drop(orphan("StatefulSet", "sample-fe", "fe", version=3)) == KEY
    assert index.children(KEY).objects == {}


def test_what_nobody_reads_is_dropped() -> None:
    pod = pod_raw("sample-fe-0", "sample-fe", "fe")
    pod["metadata"] |= {
        "managedFields": [{"a": 1}],
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
    }
    pod["status"]["conditions"] = [{"type": "Ready", "status": "True", "lastProbeTime": "now"}]
    kept = trim(pod)
    assert "managedFields" not in kept["metadata"]
    assert kept["metadata"]["annotations"] == {}
    assert kept["spec"]["containers"] == [{"name": "fe", "image": "i"}]
    assert kept["status"]["conditions"] == [{"type": "Ready", "status": "True"}]
    assert kept["status"]["podIP"] == "127.0.0.9"


def test_an_autoscalers_measurements_are_no_news() -> None:
    index = Index()
    scaler = child_raw(
        "HorizontalPodAutoscaler", "a", "sample", spec={}, status={"currentReplicas": 1, "currentMetrics": [1]}
    )
    later = child_raw(
        "HorizontalPodAutoscaler",
        "a",
        "sample",
        version=2,
        spec={},
        status={"currentReplicas": 1, "currentMetrics": [2]},
    )
    assert index.put(trim(scaler)) == KEY
    assert index.put(trim(later)) is None


def test_equal_content_is_no_news_but_its_version_is_kept() -> None:
    index = Index()
    assert index.put(pod_raw("sample-fe-0", "sample-fe", "fe", version=1)) == KEY
    revision = index.revision(KEY)
    assert index.put(pod_raw("sample-fe-0", "sample-fe", "fe", version=5)) is None
    assert index.version("Pod", "ns", "sample-fe-0") == "5"
    assert index.revision(KEY) == revision


def test_late_messages_are_dropped() -> None:
    index = Index()
    index.put(cluster_raw(version=10, phase="new"))
    assert index.put(cluster_raw(version=9, phase="old")) is None
    assert index.cluster(KEY)["status"] == {"phase": "new"}  # type: ignore[index]


def test_the_same_name_made_anew_is_another_object() -> None:
    index = Index()
    index.put(pod_raw("sample-fe-0", "sample-fe", "fe", version=10))
    anew = pod_raw("sample-fe-0", "sample-fe", "fe", version=9)
    anew["metadata"]["uid"] = "another"
    assert index.put(anew) == KEY
    gone = pod_raw("sample-fe-0", "sample-fe", "fe")
    assert index.drop(gone) is None, "the deletion of the old one says nothing about the new one"
    assert index.drop(anew) == KEY
    assert index.children(KEY).objects == {}


def test_children_are_the_same_value_until_one_changes() -> None:
    index = Index()
    index.put(pod_raw("sample-fe-0", "sample-fe", "fe"))
    before = index.children(KEY)
    assert index.children(KEY) is before
    index.put(child_raw("Service", "sample-fe-service", "sample"))
    after = index.children(KEY)
    assert set(after.objects) == {ObjectKey("Pod", "sample-fe-0"), ObjectKey("Service", "sample-fe-service")}
    assert set(before.objects) == {ObjectKey("Pod", "sample-fe-0")}


def test_a_child_that_changes_hands_is_news_for_its_new_owner() -> None:
    index = Index()
    index.put(child_raw("Service", "s", "sample", version=1))
    assert index.put(child_raw("Service", "s", "other", version=2)) == Key("ns", "other")
    assert index.children(KEY).objects == {}


def test_a_sweep_finds_what_the_watch_missed() -> None:
    index = Index()
    index.put(pod_raw("sample-fe-0", "sample-fe", "fe"))
    index.put(pod_raw("sample-fe-1", "sample-fe", "fe"))
    index.begin_sweep()
    index.put(pod_raw("sample-fe-2", "sample-fe", "fe"))  # newer than the listing
    gone, missing = index.sweep("Pod", {("ns", "sample-fe-0"): "uid-sample-fe-0", ("ns", "sample-fe-9"): "uid"})
    assert gone == {KEY}
    assert missing == 1
    names = {key.name for key in index.children(KEY).objects}
    assert names == {"sample-fe-0", "sample-fe-2"}
