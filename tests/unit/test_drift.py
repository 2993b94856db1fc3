"""Drift: a live object has everything wanted of it, whatever the API server added or rewrote."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starrocks_operator.objects.drift import missing
from tests.unit.object_samples import built, cluster

FULL = cluster(
    fe={
        "replicas": 3,
        "requests": {"cpu": 4},
        "storageVolumes": [{"name": "m", "mountPath": "/m", "storageSize": "1Gi"}],
    },
    be={"replicas": 3, "tolerations": [{"key": "a"}, {"key": "b"}]},
    cn={"autoScalingPolicy": {"maxReplicas": 3, "hpaPolicy": {"metrics": [{"type": "Resource"}]}}},
)
OBJECTS = list(built(FULL, profile="safe").values())


def container(**content: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "fe", **content}]}}


@pytest.mark.parametrize(
    ("live", "wanted", "words"),
    [
        ({}, {}, None),
        ({"a": 1, "more": 2}, {"a": 1}, None),
        ({"a": 1}, {"a": 2}, "a is 1 instead of 2"),
        ({"a": True}, {"a": 1}, "a is True instead of 1"),
        ({"a": "1"}, {"a": 1}, "a is '1' instead of 1"),
        ({}, {"a": None, "b": "", "c": [], "d": {}, "e": False, "f": 0}, None),
        ({"a": []}, {"a": {}}, None),
        ({}, {"v": {"emptyDir": {}}}, "v is missing"),
        ({"v": {}}, {"v": {"emptyDir": {}}}, "v.emptyDir is missing"),
        ({}, {"v": {"a": "", "b": {"c": []}}}, None),
        ({"v": {"emptyDir": {}}}, {"v": {"emptyDir": {}}}, None),
        ({"spec": {"x": {"y": 1}}}, {"spec": {"x": {"y": 1, "z": "s"}}}, "spec.x.z is missing"),
        ({"data": {"cluster-id": "7"}}, {"data": {"cluster-id": ""}}, "data.cluster-id differs"),
        (container(image="a"), container(image="b"), "spec.containers[fe].image is 'a' instead of 'b'"),
        ({"spec": {"containers": []}}, container(image="b"), "spec.containers[fe] is missing"),
        ({"rollingUpdate": {}}, {"rollingUpdate": {"maxUnavailable": 1}}, None),
        (
            {"rollingUpdate": {"maxUnavailable": 2}},
            {"rollingUpdate": {"maxUnavailable": 1}},
            "rollingUpdate.maxUnavailable is 2 instead of 1",
        ),
        ({"command": ["a", "b"]}, {"command": ["a"]}, "command has 2 items instead of 1"),
        ({"command": ["a"]}, {"command": ["b"]}, "command[0] differs"),
        ({"limits": {"cpu": "1"}}, {"limits": {"cpu": "1000m"}}, None),
        ({"limits": {"cpu": "1"}}, {"limits": {"cpu": 1}}, None),
        ({"limits": {"memory": "1Gi"}}, {"limits": {"memory": "1024Mi"}}, None),
        ({"limits": {"memory": "1Gi"}}, {"limits": {"memory": "1G"}}, "limits.memory differs"),
        ({"requests": {"storage": "1e3"}}, {"requests": {"storage": "1k"}}, None),
        ({"averageValue": "500m"}, {"averageValue": "0.5"}, None),
        ({"labels": {"a": "1"}}, {"labels": {"a": "1000m"}}, "labels.a differs"),
    ],
)
def test_differences(live: dict[str, Any], wanted: dict[str, Any], words: str | None) -> None:
    assert missing(live, wanted) == words


def test_lists_of_named_things_are_matched_by_name() -> None:
    wanted = {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}
    live = {"env": [{"name": "X"}, {"name": "B", "value": "2"}, {"name": "A", "value": "1"}]}
    assert missing(live, wanted) is None
    mounts = {"volumeMounts": [{"name": "v", "mountPath": "/a"}, {"name": "v", "mountPath": "/b"}]}
    assert missing({"volumeMounts": mounts["volumeMounts"][:1]}, mounts) == "volumeMounts[/b] is missing"


def test_no_secret_is_told() -> None:
    wanted = container(env=[{"name": "MYSQL_PWD", "value": "hunter2"}], command=["x", "hunter2"])
    live = container(env=[{"name": "MYSQL_PWD", "value": "hunter1"}], command=["x", "hunter2"])
    assert missing(live, wanted) == "spec.containers[fe].env[MYSQL_PWD].value differs"


@pytest.mark.parametrize("wanted", OBJECTS, ids=lambda made: f"{made['kind']}/{made['metadata']['name']}")
def test_an_object_misses_nothing_of_itself(wanted: dict[str, Any]) -> None:
    assert missing(wanted, wanted) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=15,
)


@given(st.dictionaries(st.text(max_size=5), JSON))
def test_nothing_misses_anything_of_itself(anything: dict[str, Any]) -> None:
    assert missing(anything, anything) is None


def places(value: Any) -> list[dict[str, Any]]:
    """Every map in a document."""
    if isinstance(value, dict):
        return [value, *(found for inner in value.values() for found in places(inner))]
    return [found for inner in value for found in places(inner)] if isinstance(value, list) else []


@given(st.sampled_from(OBJECTS), st.data())
def test_defaults_of_the_server_are_no_drift(wanted: dict[str, Any], data: st.DataObject) -> None:
    live = copy.deepcopy(wanted)
    for place in data.draw(st.lists(st.sampled_from(places(live)), max_size=5)):
        place["addedByTheServer"] = data.draw(JSON)
    assert missing(live, wanted) is None


def hollow(value: Any) -> bool:
    """Whether there is nothing in it that the API server would have to keep."""
    return all(hollow(inner) for inner in value.values()) if isinstance(value, dict) else not value


@given(st.sampled_from(OBJECTS), st.data())
def test_a_removed_field_is_drift(wanted: dict[str, Any], data: st.DataObject) -> None:
    live = copy.deepcopy(wanted)
    place = data.draw(st.sampled_from([place for place in places(live) if not hollow(place)]))
    del place[data.draw(st.sampled_from([key for key, value in place.items() if not hollow(value)]))]
    assert missing(live, wanted) is not None
