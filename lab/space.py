"""A namespace of the lab, and what a user does in it: apply, look, wait, scale, break something, delete."""

from __future__ import annotations

import copy
import json
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pymysql
import yaml
from kubernetes.dynamic import DynamicClient
from kubernetes.dynamic.exceptions import NotFoundError

from lab.question import ask
from lab.stack import ROOT, Stack, T, wait_for

KINDS = {
    "StarRocksCluster": "starrocks.com/v1",
    "ComputeNodeGroup": "starrocks.com/v1alpha1",
    "StarRocksWarehouse": "starrocks.com/v1",
    "StatefulSet": "apps/v1",
    "Deployment": "apps/v1",
    "Pod": "v1",
    "PersistentVolumeClaim": "v1",
    "Service": "v1",
    "ConfigMap": "v1",
    "Secret": "v1",
    "ServiceAccount": "v1",
    "ControllerRevision": "apps/v1",
    "Namespace": "v1",
    "HorizontalPodAutoscaler": "autoscaling/v2",
    "PodDisruptionBudget": "policy/v1",
    "Lease": "coordination.k8s.io/v1",
    "Event": "events.k8s.io/v1",
}
Document = dict[str, Any]


def sample(name: str = "demo") -> Document:
    """A sample of crds/samples/ as a document to change and apply."""
    document: Document = yaml.safe_load((ROOT / "crds" / "samples" / f"{name}.yaml").read_text())
    return document


class Space:
    """One namespace, seen by its user."""

    def __init__(self, stack: Stack, namespace: str, dynamic: DynamicClient) -> None:
        self.stack = stack
        self.namespace = namespace
        self._dynamic = dynamic

    # What a user writes

    def apply(self, document: Mapping[str, Any]) -> Document:
        """`kubectl apply`, server-side, as the user."""
        resource = self._resource(document["kind"])
        applied = resource.server_side_apply(
            body=copy.deepcopy(dict(document)),
            namespace=self.namespace,
            field_manager="user",
            force_conflicts=True,
        )
        return self._plain(applied)

    def patch(self, kind: str, name: str, change: Mapping[str, Any]) -> Document:
        """`kubectl patch --type merge`."""
        patched = self._resource(kind).patch(
            body=dict(change), name=name, namespace=self.namespace, content_type="application/merge-patch+json"
        )
        return self._plain(patched)

    def write_as(self, manager: str, document: Mapping[str, Any]) -> None:
        """Make an object as another program does, with a plain create; it owns all of its fields."""
        resource = self._resource(document["kind"])
        resource.create(body=copy.deepcopy(dict(document)), namespace=self.namespace, field_manager=manager)

    def completed(self, document: Mapping[str, Any]) -> Document:
        """An object with everything that the API server would fill in; nothing is made."""
        resource = self._resource(document["kind"])
        made = resource.create(body=copy.deepcopy(dict(document)), namespace=self.namespace, dry_run="All")
        return self._plain(made)

    def patch_as(self, manager: str, kind: str, name: str, change: Mapping[str, Any]) -> None:
        """Change an object as another program does, with a merge patch."""
        self._resource(kind).patch(
            body=dict(change),
            name=name,
            namespace=self.namespace,
            content_type="application/merge-patch+json",
            field_manager=manager,
        )

    def scale(self, name: str, component: str, replicas: int) -> None:
        """Wish for another number of nodes in the spec."""
        self.patch("StarRocksCluster", name, {"spec": {component: {"replicas": replicas}}})

    def autoscale(self, name: str, replicas: int) -> None:
        """What a HorizontalPodAutoscaler does: it writes the scale subresource, which is of compute nodes."""
        scale = self._resource("StarRocksCluster").subresources["scale"]
        scale.patch(
            body={"spec": {"replicas": replicas}},
            name=name,
            namespace=self.namespace,
            content_type="application/merge-patch+json",
        )

    def delete(self, kind: str, name: str, *, wait: bool = True) -> None:
        try:
            self._resource(kind).delete(name=name, namespace=self.namespace)
        except NotFoundError:
            return
        if wait:
            wait_for(lambda: self.find(kind, name) is None, what=f"{kind} {name} to be gone")

    def lose_volume(self, pod: str, claim: str) -> None:
        """The disk of a pod is gone, and it begins on an empty one."""
        lost = self.get("PersistentVolumeClaim", claim)["metadata"]["uid"]
        self.delete("PersistentVolumeClaim", claim, wait=False)

        def replaced() -> bool:
            found = self.find("PersistentVolumeClaim", claim)
            if found and found["metadata"]["uid"] == lost:
                self.delete("Pod", pod, wait=False)  # a pod made too soon keeps the claim that is to go
            return bool(found and found["metadata"]["uid"] != lost)

        wait_for(replaced, what=f"a new claim {claim}", pause=0.3)

    # What a user sees

    def find(self, kind: str, name: str) -> Document | None:
        try:
            return self._plain(self._resource(kind).get(name=name, namespace=self.namespace))
        except NotFoundError:
            return None

    def get(self, kind: str, name: str) -> Document:
        found = self.find(kind, name)
        assert found is not None, f"{kind} {self.namespace}/{name} is not there"
        return found

    def all(self, kind: str) -> list[Document]:
        items: list[Document] = self._plain(self._resource(kind).get(namespace=self.namespace))["items"]
        return items

    def status(self, name: str) -> Document:
        status: Document = self.get("StarRocksCluster", name).get("status", {})
        return status

    def condition(self, name: str, type_: str) -> Document:
        """A condition of a cluster; an empty document while it has none of that type."""
        conditions: list[Document] = self.status(name).get("conditions", [])
        return next((condition for condition in conditions if condition["type"] == type_), {})

    def reasons(self, name: str) -> set[str]:
        """The reasons that all conditions of a cluster give."""
        return {condition["reason"] for condition in self.status(name).get("conditions", [])}

    def events(self, name: str) -> set[str]:
        """The reasons of the events about a cluster."""
        return {event["reason"] for event in self.all("Event") if event.get("regarding", {}).get("name") == name}

    def ready(self, name: str) -> bool:
        """Ready at the present generation."""
        cluster = self.get("StarRocksCluster", name)
        for condition in cluster.get("status", {}).get("conditions", []):
            if condition["type"] == "Ready" and condition["status"] == "True":
                return bool(condition.get("observedGeneration") == cluster["metadata"]["generation"])
        return False

    def wait_ready(self, name: str, *, patience: float = 300.0) -> None:
        self.wait(lambda: self.ready(name), name, "to be Ready", patience=patience)

    def wait(
        self, condition: Callable[[], T], name: str, what: str, *, patience: float = 240.0, pause: float = 0.1
    ) -> T:
        """Wait for something about a cluster, and return it; its status is in the sentence when it does not come."""

        def checked() -> T:
            self.stack.check()
            return condition()

        try:
            return wait_for(checked, what=f"StarRocksCluster {name} {what}", patience=patience, pause=pause)
        except Exception as problem:
            cluster = self.find("StarRocksCluster", name) or {}
            problem.add_note(json.dumps(cluster.get("status", {}), indent=1))
            raise

    def is_back(self, pod: str, uid: str) -> bool:
        """Whether the pod that had that uid was made again and runs. Before it runs it may be deleted once more: the
        lab's kubelet goes by names."""
        found = self.find("Pod", pod)
        return found is not None and found["metadata"]["uid"] != uid and found["status"]["phase"] == "Running"

    # What runs in the pods

    def show(self, name: str, statement: str, *, password: str = "") -> list[Document]:
        """What the leader of a cluster answers."""
        leader = next(member for member in self.status(name)["members"] if member.get("role") == "LEADER")
        return list(ask(self.address(leader["name"]), statement, password=password))

    def asked(self, pod: str, statement: str) -> list[Document]:
        """What one frontend answers; nothing while its pod is on its way or does not answer."""
        address = ((self.find("Pod", pod) or {}).get("status") or {}).get("podIP")
        try:
            return list(ask(address, statement)) if address else []
        except pymysql.OperationalError:
            return []

    def address(self, pod: str) -> str:
        return str(self.get("Pod", pod)["status"]["podIP"])

    def fault(self, pod: str, verb: str, **parameters: Any) -> Any:
        """Do something to a node through the simulator: kill, crash, hang, resume, wipe, slow (see its README)."""
        return self.simulator("POST", f"/nodes/{pod}/{verb}?namespace={self.namespace}", parameters)

    def simulator(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """One request to the simulator's control API."""
        url = f"http://127.0.0.1:{self.stack.control_port}{path}"
        request = urllib.request.Request(
            url,
            method=method,
            data=None if method == "GET" else json.dumps(body or {}).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return json.loads(answer.read() or b"null")

    def _resource(self, kind: str) -> Any:
        return self._dynamic.resources.get(api_version=KINDS[kind], kind=kind)

    @staticmethod
    def _plain(instance: Any) -> Document:
        document: Document = instance.to_dict()
        return document


def open_space(stack: Stack, namespace: str, directory: Path | None = None) -> Space:
    """The space of a namespace, which is made if it is not there."""
    cache = (directory or stack.directory) / "discovery.json"
    dynamic = DynamicClient(stack.plane.client(), cache_file=str(cache))
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    dynamic.resources.get(api_version="v1", kind="Namespace").server_side_apply(body=body, field_manager="user")
    return Space(stack, namespace, dynamic)
