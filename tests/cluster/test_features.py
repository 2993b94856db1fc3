"""Each feature of the official operator on the real API server: what becomes of the resource, object by object.

The objects are those of `tests/features.py`. The API server completes them (a dry run), and then nothing that it would
store may differ from what it has stored for this operator.
"""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from lab.controlplane import LabError
from lab.space import Document, Space, open_space
from lab.stack import Stack, wait_for
from tests.cluster.conftest import PACE
from tests.features import FEATURES, Feature

KINDS = ("StatefulSet", "Deployment", "Service", "HorizontalPodAutoscaler", "PodDisruptionBudget")
ALLOTTED = ("clusterIP", "clusterIPs", "healthCheckNodePort")  # by the API server, to each Service its own


@dataclass(frozen=True)
class Stage:
    """A feature's cluster, and its objects as the API server would store them."""

    space: Space
    uid: str
    wanted: Mapping[str, Document]


@pytest.fixture(scope="module")
def stages(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Stage]]:
    """All clusters at once, each in a namespace of its own."""
    stack.operate(arguments=PACE)
    scratch = tmp_path_factory.mktemp("features")
    staged = {str(feature): begun(feature, open_space(stack, f"feature-{feature}", scratch)) for feature in FEATURES}
    yield staged
    for stage in staged.values():
        stage.space.delete("StarRocksCluster", "kube")


def begun(feature: Feature, space: Space) -> Stage:
    """What is expected is asked of the API server before there is anything of that name."""
    text = json.dumps(feature.expected()).replace("@namespace@", space.namespace)
    wanted = {name_of(one): stored(space.completed(in_place(one, space.namespace)), one) for one in json.loads(text)}
    for name, data in feature.files.items():
        space.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": dict(data)})
    for name in feature.secrets:
        space.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": {"password": ""}})
    space.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "frontends"}})
    return Stage(space=space, uid=space.apply(feature.cluster)["metadata"]["uid"], wanted=wanted)


def in_place(expected: Document, namespace: str) -> Document:
    """The pods of a StatefulSet say in their template where they are, for the official operator's hash."""
    if expected["kind"] == "StatefulSet":
        expected["spec"]["template"]["metadata"]["namespace"] = namespace
    return expected


@pytest.mark.parametrize("feature", FEATURES, ids=str)
def test_the_objects_of_a_feature(stages: Mapping[str, Stage], feature: Feature) -> None:
    stage = stages[str(feature)]
    with contextlib.suppress(LabError):  # what differs in the end says more than that patience is at its end
        wait_for(lambda: not differences(stage), what=f"the objects of {feature}", patience=180, pause=0.5)
    assert differences(stage) == []
    for name in stage.wanted:
        live = stage.space.get(*name.split("/"))
        (owner,) = live["metadata"]["ownerReferences"]
        assert owner == {
            "apiVersion": "starrocks.com/v1",
            "kind": "StarRocksCluster",
            "name": "kube",
            "uid": stage.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
    if feature.nginx:
        written = stage.space.get("ConfigMap", "kube-fe-proxy")["data"]["nginx.conf"]
        lines = [line.replace("@namespace@", stage.space.namespace) for line in feature.nginx]
        assert [line for line in lines if line not in written] == []


def differences(stage: Stage) -> list[str]:
    """Where live objects and expected ones are not the same, path by path."""
    live = {name_of(one): one for kind in KINDS for one in stage.space.all(kind)}
    told = [f"{name} is not expected" for name in live.keys() - stage.wanted.keys()]
    for name, wanted in stage.wanted.items():
        found = stored(live[name], wanted) if name in live else None
        told += [f"{name} is not there"] if found is None else [f"{name} {line}" for line in differing(wanted, found)]
    return sorted(told)


def stored(document: Document, expected: Document) -> Document:
    """What is compared: labels, the user's annotations and the spec, without what is allotted to each object."""
    metadata, spec = document["metadata"], copy.deepcopy(document["spec"])
    if document["kind"] == "Service":
        spec = {key: value for key, value in spec.items() if key not in ALLOTTED or key in expected["spec"]}
        for number, port in enumerate(spec["ports"]):
            if "nodePort" not in expected["spec"]["ports"][number]:
                port.pop("nodePort", None)
    annotations = {
        key: value
        for key, value in metadata.get("annotations", {}).items()
        if not key.startswith(("starrocks.com/", "deployment.kubernetes.io/"))
    }
    return {"kind": document["kind"], "labels": metadata["labels"], "annotations": annotations, "spec": spec}


def differing(wanted: Any, found: Any, path: str = "") -> Iterator[str]:
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key in sorted(wanted.keys() | found.keys()):
            yield from differing(wanted.get(key), found.get(key), f"{path}.{key}")
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for number, (one, other) in enumerate(zip(wanted, found, strict=True)):
            yield from differing(one, other, f"{path}[{number}]")
    elif wanted != found:
        yield f"{path.lstrip('.')}: expected {wanted!r}, found {found!r}"


def name_of(document: Document) -> str:
    return f"{document['kind']}/{document['metadata']['name']}"
