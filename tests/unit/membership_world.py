"""A small world for the tests of membership, decide and status: a cluster, its objects, and what FE says of it.

`World` starts with everything as wished; tests then break what they are about.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from starrocks_operator.decide import decide
from starrocks_operator.decision import Decision
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.observed import (
    Children,
    ComputeRow,
    Configuration,
    FrontendAnswer,
    FrontendRow,
    FrontendView,
    Observed,
    Outcome,
)
from watcher.trim import trim

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
CLUSTER_ID = "1206449193"
REVISION = "rev-1"


def at(seconds: float) -> str:
    """A Kubernetes timestamp, relative to now."""
    return (NOW + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def milliseconds(seconds: float) -> int:
    return int((NOW + timedelta(seconds=seconds)).timestamp() * 1000)


def manifest(
    *,
    name: str = "sample",
    fe: int = 3,
    be: int = 3,
    cn: int | None = 1,
    observers: int | None = None,
    **metadata: Any,
) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "starRocksFeSpec": {
            "replicas": fe,
            "image": "starrocks/fe-ubuntu:3.5.5",
            "storageVolumes": [{"name": "fe-meta", "mountPath": "/opt/starrocks/fe/meta", "storageSize": "1Gi"}],
        },
        "starRocksBeSpec": {
            "replicas": be,
            "image": "starrocks/be-ubuntu:3.5.5",
            "storageVolumes": [{"name": "be-data", "mountPath": "/opt/starrocks/be/storage", "storageSize": "1Gi"}],
        },
    }
    if cn is not None:
        spec["starRocksCnSpec"] = {
            "replicas": cn,
            "image": "starrocks/cn-ubuntu:3.5.5",
            "autoScalingPolicy": {"minReplicas": 1, "maxReplicas": 5},
        }
    if observers is not None:
        spec["starRocksFeObserverSpec"] = {"replicas": observers}
    return {
        "apiVersion": "starrocks.com/v1",
        "kind": "StarRocksCluster",
        "metadata": {"name": name, "namespace": "default", "uid": "uid-1", "generation": 1, **metadata},
        "spec": spec,
    }


def host(pod: str, component: str, *, cluster: str = "sample", domain: str = "cluster.local") -> str:
    return f"{pod}.{cluster}-{component}-search.default.svc.{domain}"


def frontend_row(ordinal: int, *, cluster: str = "sample", added: float = -86400, **changes: Any) -> FrontendRow:
    where = host(f"{cluster}-fe-{ordinal}", "fe", cluster=cluster)
    row = FrontendRow(
        name=f"{where}_9010_{milliseconds(added)}",
        host=where,
        edit_log_port=9010,
        role="LEADER" if ordinal == 0 else "FOLLOWER",
        cluster_id=CLUSTER_ID,
        joined=True,
        alive=True,
        query_port=9030,
        start_time="2026-11-20 12:00:00",
        version="3.5.5-abcdef0",
    )
    return replace(row, **changes)


def observer_row(ordinal: int, *, added: float = -86400, **changes: Any) -> FrontendRow:
    where = host(f"sample-fe-observer-{ordinal}", "fe-observer")
    name = f"{where}_9010_{milliseconds(added)}"
    return replace(frontend_row(ordinal, role="OBSERVER"), **({"name": name, "host": where} | changes))


def compute_row(ordinal: int, component: str, *, cluster: str = "sample", **changes: Any) -> ComputeRow:
    row = ComputeRow(
        id=str((10000 if component == "be" else 20000) + ordinal),
        host=host(f"{cluster}-{component}-{ordinal}", component, cluster=cluster),
        heartbeat_port=9050,
        alive=True,
        tablets=10 if component == "be" else None,
        last_start_time="2026-11-20 12:00:00",
        version="3.5.5-abcdef0",
    )
    return replace(row, **changes)


def view_of(
    frontends: list[FrontendRow], backends: list[ComputeRow], compute_nodes: list[ComputeRow], **more: Any
) -> FrontendView:
    leader = next((row.host for row in frontends if row.role == "LEADER"), None)
    rows = tuple(frontends)
    return FrontendView(
        asked_at=NOW,
        answers=tuple(
            FrontendAnswer(pod=row.host.split(".")[0], outcome=Outcome.ANSWERED, rows=rows)
            for row in rows
            if row.alive and row.joined
        ),
        leader=leader,
        frontends=rows if leader else None,
        backends=tuple(backends) if leader else None,
        compute_nodes=tuple(compute_nodes) if leader else None,
        **more,
    )


def pod(
    name: str, component: str, *, cluster: str = "sample", running: float = -3600, index: int = 0
) -> dict[str, Any]:
    started = at(running)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{name}",
            "creationTimestamp": at(-90000),
            "labels": {
                "app.starrocks.ownerreference/name": f"sample-{component}",
                "app.kubernetes.io/component": component,
                "controller-revision-hash": REVISION,
            },
        },
        "spec": {"containers": [{"name": component, "image": f"starrocks/{component}-ubuntu:3.5.5"}]},
        "status": {
            "phase": "Running",
            "podIP": f"127.9.{('fe', 'be', 'cn', 'fe-observer').index(component)}.{index + 1}",
            "startTime": started,
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": component, "state": {"running": {"startedAt": started}}}],
        },
    }


def version(raw: Any) -> str:
    """A resourceVersion that differs whenever the content does."""
    return hashlib.sha256(json.dumps(raw, sort_keys=True).encode()).hexdigest()[:12]


class World:
    """One cluster, wholly as wished: change what the test is about."""

    def __init__(
        self, *, fe: int = 3, be: int = 3, cn: int | None = 1, observers: int | None = None, profile: str = "safe"
    ) -> None:
        self.raw = manifest(fe=fe, be=be, cn=cn, observers=observers)
        self.raw["status"] = {"phase": "running", "bootstrap": {"clusterId": CLUSTER_ID, "at": at(-86400)}}
        self.profile = profile
        self.frontends = [frontend_row(ordinal) for ordinal in range(fe)]
        self.frontends += [observer_row(ordinal) for ordinal in range(observers or 0)]
        self.backends = [compute_row(ordinal, "be") for ordinal in range(be)]
        self.compute_nodes = [compute_row(ordinal, "cn") for ordinal in range(cn or 0)]
        self.now = NOW
        self.answers: dict[str, Any] = {}  # to what the leader is asked besides its members
        self.view: FrontendView | None = view_of(self.frontends, self.backends, self.compute_nodes)
        self.observed_extras: dict[str, Any] = {}
        self.objects: dict[tuple[str, str], dict[str, Any]] = {}
        for component, count in (("fe", fe), ("be", be), ("cn", cn or 0), ("fe-observer", observers or 0)):
            for index in range(count):
                self.put(pod(f"sample-{component}-{index}", component, index=index))
        for index in range(fe):
            self.put(claim(f"fe-meta-sample-fe-{index}"))
        for index in range(observers or 0):
            self.put(claim(f"fe-meta-sample-fe-observer-{index}"))
        self.settle()

    @property
    def cluster(self) -> StarRocksCluster:
        return StarRocksCluster.parse(self.raw)

    @property
    def observed(self) -> Observed:
        children = Children.of(trim(raw) for raw in self.objects.values())  # as the watcher keeps them
        return Observed(now=self.now, children=children, view=self.view, **self.observed_extras)

    def decide(self) -> Decision:
        return decide(self.cluster, self.observed, default_profile=self.profile)

    def put(self, raw: dict[str, Any]) -> dict[str, Any]:
        self.objects[raw["kind"], raw["metadata"]["name"]] = raw
        return raw

    def remove(self, kind: str, name: str) -> None:
        del self.objects[kind, name]

    def get(self, kind: str, name: str) -> dict[str, Any]:
        return self.objects[kind, name]

    def look(self) -> None:
        """Ask FE again, after the rows were changed."""
        self.view = view_of(self.frontends, self.backends, self.compute_nodes, **self.answers)

    def remember(self) -> None:
        """Write what the marker is to remember, as the run does before it takes the step."""
        for item in self.decide().apply.get("fe", ()):
            if item["kind"] == "ConfigMap":
                self.put(applied(item))

    def configured(self, files: Mapping[str, Configuration]) -> None:
        """As if its frontends had always had this file, from a ConfigMap of their owner's."""
        self.observed_extras["configurations"] = files
        if files:
            self.raw["spec"]["starRocksFeSpec"]["configMapInfo"] = {"configMapName": "files", "resolveKey": "fe.conf"}
            self.remove("StatefulSet", "sample-fe")
        self.settle()

    def settle(self) -> None:
        """Apply what is due, as the API server would, until nothing is."""
        decision = self.decide()
        for items in decision.apply.values():
            for item in items:
                self.put(applied(item))
        for key in decision.prune:
            self.remove(key.kind, key.name)


def claim(name: str, *, created: float = -90000) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", "creationTimestamp": at(created)},
        "status": {"phase": "Bound"},
    }


def applied(wanted: Any) -> dict[str, Any]:
    """The object as it lives after an apply, with the status of a StatefulSet that has rolled out."""
    live: dict[str, Any] = copy.deepcopy(dict(wanted))
    live["metadata"] |= {"uid": f"uid-{live['metadata']['name']}", "generation": 1, "resourceVersion": version(live)}
    if live["kind"] == "StatefulSet":
        live["status"] = {"observedGeneration": 1, "updateRevision": REVISION, "currentRevision": REVISION}
    return live
