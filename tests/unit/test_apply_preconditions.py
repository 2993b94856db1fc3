"""What the `apply` action looks at before it writes: the Lease, whose the object is, and how many members it has."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible.plugins.loader import init_plugin_loader

from tests.unit.apply_stage import (
    BACKENDS,
    CLAIM,
    CLUSTER_PATH,
    COMPUTE_NODES,
    FRONTENDS,
    LEASE_PATH,
    OPERATOR,
    OURS,
    SERVICE,
    Api,
    Raw,
    Stage,
    held,
    live,
    serving,
)

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def action(tmp_path_factory: pytest.TempPathFactory) -> type:
    """The action as Ansible finds it: in a collection."""
    name = "ansible_collections.starrocks.operator.plugins.action.apply"
    if "ansible_collections" not in sys.modules:
        directory = tmp_path_factory.mktemp("collections")
        (directory / "ansible_collections" / "starrocks").mkdir(parents=True)
        (directory / "ansible_collections" / "starrocks" / "operator").symlink_to(ROOT)
        init_plugin_loader([str(directory)])
    __import__(name)
    found: type = sys.modules[name].ActionModule
    return found


@pytest.fixture
def stage(action: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    api = Api()
    with serving(api, tmp_path) as kubeconfig:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        yield Stage(api, action, tmp_path)


def mark(**content: Any) -> Raw:
    metadata = {"name": "fe-meta-sample-fe-0", "annotations": {"starrocks.com/cluster-id": "7"}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, **content}


# The Lease


def test_the_holder_of_the_lease_writes_and_asks_for_it_once(stage: Stage) -> None:
    stage.api.store(LEASE_PATH, held())
    result = stage.apply(component="fe", known={}, operator=OPERATOR)
    assert not result.get("failed")
    assert FRONTENDS in stage.api.objects
    assert stage.api.asked("GET").count(LEASE_PATH) == 1


@pytest.mark.parametrize(
    ("lease", "words"),
    [
        (held("them"), "another operator holds the Lease (them)"),
        (held(seconds_ago=60), "the operator's Lease was not renewed in time"),
        (None, "the operator's Lease does not exist"),
    ],
)
@pytest.mark.parametrize("task", [{"component": "fe"}, {"prune": True}, {"objects": [mark()]}])
def test_who_lost_the_lease_writes_nothing(stage: Stage, lease: Raw | None, words: str, task: Raw) -> None:
    if lease:
        stage.api.store(LEASE_PATH, lease)
    stage.api.store(SERVICE, live("Service", "sample-fe-service", owner=OURS))
    stage.api.store(CLAIM, live("PersistentVolumeClaim", "fe-meta-sample-fe-0"))
    result = stage.apply(operator=OPERATOR, **task)
    assert result["failed"]
    assert result["msg"] == f"Nothing was written for ns/sample: {words}."
    assert stage.api.asked("PATCH") == stage.api.asked("DELETE") == []


@pytest.mark.parametrize("given", [{}, {"operator": {}}, {"operator": {"identity": "us", "lease": None}}])
def test_by_hand_there_is_no_lease_to_hold(stage: Stage, given: Raw) -> None:
    assert not stage.apply(component="fe", known={}, **given).get("failed")
    assert LEASE_PATH not in stage.api.asked("GET")


# How many members


@pytest.mark.parametrize(("component", "path"), [("fe", FRONTENDS), ("be", BACKENDS)])
@pytest.mark.parametrize("check", [False, True])
def test_fewer_members_are_never_applied(stage: Stage, component: str, path: str, check: bool) -> None:
    """Even if the caller believes to know the object."""
    name = f"sample-{component}"
    stage.api.store(path, live("StatefulSet", name, owner=OURS, spec={"replicas": 5}))
    result = stage.apply(component=component, known={f"StatefulSet/{name}": "1"}, check=check)
    assert result["failed"]
    assert (
        f"StatefulSet {name} was not applied: it has 5 replicas and 3 were to be applied: "
        "fewer frontends or backends are never applied." in result["msg"]
    )
    assert path not in stage.api.asked("PATCH")
    assert stage.api.asked("PATCH"), "the other objects of the component are applied"


def test_more_members_and_as_many_are_applied(stage: Stage) -> None:
    for path, replicas in ((FRONTENDS, 3), (BACKENDS, 1)):
        name = path.rpartition("/")[2]
        stage.api.store(path, live("StatefulSet", name, owner=OURS, spec={"replicas": replicas}))
        assert not stage.apply(component=name[-2:]).get("failed")
        assert stage.api.objects[path]["spec"]["replicas"] == 3


def test_fewer_compute_nodes_are_applied(stage: Stage) -> None:
    stage.api.store(COMPUTE_NODES, live("StatefulSet", "sample-cn", owner=OURS, spec={"replicas": 5}))
    assert not stage.apply(component="cn").get("failed")
    assert "resourceVersion" not in stage.api.sent(COMPUTE_NODES)["metadata"]


def test_only_the_version_that_was_looked_at_is_written_over(stage: Stage) -> None:
    stage.api.store(FRONTENDS, live("StatefulSet", "sample-fe", owner=OURS, spec={"replicas": 3}))
    version = stage.api.objects[FRONTENDS]["metadata"]["resourceVersion"]
    stage.apply(component="fe", known={})
    assert stage.api.sent(FRONTENDS)["metadata"]["resourceVersion"] == version


def test_who_scales_up_meanwhile_wins_as_it_is_looked_at_again(stage: Stage) -> None:
    stage.api.store(FRONTENDS, live("StatefulSet", "sample-fe", owner=OURS, spec={"replicas": 3}))
    more = live("StatefulSet", "sample-fe", owner=OURS, spec={"replicas": 5})
    stage.api.meanwhile = lambda path: stage.api.store(path, more) if path == FRONTENDS else None
    result = stage.apply(component="fe", known={})
    assert result["failed"]
    assert "StatefulSet sample-fe was not applied: it has 5 replicas and 3 were to be applied" in result["msg"]
    assert stage.api.asked("PATCH").count(FRONTENDS) == 1
    assert stage.api.objects[FRONTENDS]["spec"]["replicas"] == 5


# Whose it is


@pytest.mark.parametrize("label", ["", "another"])
@pytest.mark.parametrize("known", [{}, None])
def test_a_strangers_object_is_not_taken_over(stage: Stage, label: str, known: Any) -> None:
    stage.api.store(SERVICE, live("Service", "sample-fe-service", label=label))
    result = stage.apply(component="fe", known=known)
    assert result["failed"]
    assert "Service sample-fe-service was not applied: it exists and is not ours: rename or delete it." in result["msg"]
    assert SERVICE not in stage.api.asked("PATCH")
    assert FRONTENDS in stage.api.objects


@pytest.mark.parametrize("label", ["", "sample"])
@pytest.mark.parametrize("owner", [{"kind": "Deployment", "name": "d", "uid": "u"}, {"uid": "an older one"}])
def test_what_another_controls_is_not_taken_over(stage: Stage, owner: Raw, label: str) -> None:
    stage.api.store(SERVICE, live("Service", "sample-fe-service", owner=owner, label=label))
    result = stage.apply(component="fe", known={})
    assert f"belongs to {owner.get('kind', 'StarRocksCluster')}" in result["msg"]
    assert SERVICE not in stage.api.asked("PATCH")


def test_an_orphan_with_our_label_is_taken_in_again(stage: Stage) -> None:
    stage.api.store(SERVICE, live("Service", "sample-fe-service", label="sample"))
    stage.api.store(FRONTENDS, live("StatefulSet", "sample-fe", label="sample", spec={"replicas": 3}))
    assert not stage.apply(component="fe", known={}).get("failed")
    for path in (SERVICE, FRONTENDS):
        (owner,) = stage.api.objects[path]["metadata"]["ownerReferences"]
        assert (owner["uid"], owner["controller"]) == ("uid-sample", True)


def test_what_is_known_is_not_asked_for(stage: Stage) -> None:
    stage.apply(component="fe", known={})
    known = {f"{raw['kind']}/{raw['metadata']['name']}": "1" for raw in stage.api.objects.values()}
    stage.api.requests.clear()
    stage.apply(component="fe", known=known)
    assert stage.api.asked("GET") == [CLUSTER_PATH, FRONTENDS]


# Marks on volume claims


def test_a_mark_is_written_on_a_claim_whoever_made_it(stage: Stage) -> None:
    stage.api.store(CLAIM, live("PersistentVolumeClaim", "fe-meta-sample-fe-0", spec={"volumeName": "v"}))
    result = stage.apply(objects=[mark(spec={"volumeName": "other"})], known={})
    assert not result.get("failed")
    assert result["changed"]
    assert stage.api.sent(CLAIM) == {"metadata": {"annotations": {"starrocks.com/cluster-id": "7"}}}
    assert stage.api.objects[CLAIM]["spec"] == {"volumeName": "v"}
    assert "ownerReferences" not in stage.api.objects[CLAIM]["metadata"]


@pytest.mark.parametrize("known", [None, {}, {"PersistentVolumeClaim/fe-meta-sample-fe-0": "5"}])
@pytest.mark.parametrize("check", [False, True])
def test_a_mark_never_makes_a_claim(stage: Stage, known: Any, check: bool) -> None:
    result = stage.apply(objects=[mark()], known=known, check=check)
    assert (result["changed"], result["objects"], result.get("failed")) == (False, [], None)
    assert CLAIM not in stage.api.objects
