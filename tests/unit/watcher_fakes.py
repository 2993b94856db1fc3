"""Stand-ins for the watcher's tests: an API server in a dictionary, a clock that is set, objects in few words."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator, Callable
from typing import Any

from starrocks_operator.model import Key
from watcher.keys import COMPONENT_LABEL, OWNER_LABEL
from watcher.kube import ApiError, Kube
from watcher.settings import Settings, parse

Raw = dict[str, Any]
KEY = Key("ns", "sample")


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += seconds


class FakeKube(Kube):
    """Objects by path, with versions that grow; what is written is remembered, and failures can be ordered."""

    def __init__(self) -> None:
        self.objects: dict[str, Raw] = {}
        self.writes: list[tuple[str, str, Any]] = []
        self.faults: list[tuple[str, str, ApiError]] = []  # method, part of the path, what is raised once
        self.version = 100

    def fail(self, method: str, part: str, status: int, times: int = 1) -> None:
        self.faults += [(method, part, ApiError(status, f"{status} ordered"))] * times

    def store(self, path: str, raw: Raw) -> None:
        self.version += 1
        raw["metadata"]["resourceVersion"] = str(self.version)
        self.objects[path] = raw

    async def request(self, method: str, path: str, *, body: Any = None, **_: Any) -> Raw:
        await asyncio.sleep(0)
        for fault in self.faults:
            if fault[0] == method and fault[1] in path:
                self.faults.remove(fault)
                raise fault[2]
        if method != "GET":
            self.writes.append((method, path, copy.deepcopy(body)))
        return copy.deepcopy(self._answer(method, path, body))

    def _answer(self, method: str, path: str, body: Any) -> Raw:
        if method == "POST":
            target = f"{path}/{body['metadata']['name']}"
            if target in self.objects:
                raise ApiError(409, "already exists")
            self.store(target, copy.deepcopy(body))
            return self.objects[target]
        path = path.removesuffix("/status")
        if path not in self.objects:
            raise ApiError(404, f"{path} not found")
        current = self.objects[path]
        if method == "PUT":
            if body["metadata"]["resourceVersion"] != current["metadata"]["resourceVersion"]:
                raise ApiError(409, "conflict")
            self.store(path, copy.deepcopy(body))
        if method == "PATCH" and isinstance(body, list):
            if any(op["op"] == "test" and op["value"] != current["metadata"]["uid"] for op in body):
                raise ApiError(422, "the test operation failed")
            changed = {**current, "metadata": dict(current["metadata"]), "status": body[-1]["value"]}
            self.store(path, changed)
        elif method == "PATCH":
            self.store(path, {**current, **body, "metadata": dict(current["metadata"])})
        return self.objects[path]

    async def list(self, path: str, *, selector: str = "", field: str = "", limit: int = 500) -> AsyncIterator[Raw]:
        for name, raw in list(self.objects.items()):
            if name.rsplit("/", 1)[0] == path:
                yield raw


def settings(*arguments: str) -> Settings:
    return parse(["--kubeconfig", "/nowhere", *arguments], {"POD_NAME": "test"})


def cluster_raw(key: Key = KEY, *, version: int = 1, generation: int = 1, **status: Any) -> Raw:
    return {
        "apiVersion": "starrocks.com/v1",
        "kind": "StarRocksCluster",
        "metadata": {
            "name": key.name,
            "namespace": key.namespace,
            "uid": f"uid-{key.name}",
            "generation": generation,
            "resourceVersion": str(version),
        },
        "spec": {"starRocksFeSpec": {"image": "starrocks/fe-ubuntu:3.5.1", "replicas": 3}},
        "status": status,
    }


def cluster_path(key: Key = KEY) -> str:
    return f"/apis/starrocks.com/v1/namespaces/{key.namespace}/starrocksclusters/{key.name}"


def pod_raw(name: str, owner: str, component: str, *, version: int = 1, phase: str = "Running") -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": f"uid-{name}",
            "resourceVersion": str(version),
            "labels": {OWNER_LABEL: owner, COMPONENT_LABEL: component},
        },
        "spec": {"containers": [{"name": component, "image": "i", "env": [{"name": "A", "value": "b"}]}]},
        "status": {"phase": phase, "podIP": "127.0.0.9"},
    }


def child_raw(kind: str, name: str, owner: str, *, version: int = 1, **fields: Any) -> Raw:
    reference = {"apiVersion": "starrocks.com/v1", "kind": "StarRocksCluster", "name": owner, "controller": True}
    return {
        "kind": kind,
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": f"uid-{name}",
            "resourceVersion": str(version),
            "labels": {OWNER_LABEL: owner},
            "ownerReferences": [{**reference, "uid": f"uid-{owner}"}],
        },
        **fields,
    }


async def until(condition: Callable[[], object], *, turns: int = 10_000) -> None:
    """Let the loop turn until the condition holds."""
    for _ in range(turns):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came to that")
