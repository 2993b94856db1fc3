"""Revisions of StatefulSets as Kubernetes keeps them: a ControllerRevision for each template, and who gets which."""

from __future__ import annotations

import hashlib
import json

from lab.rehearsal.kubernetes import Json, Kubernetes
from starrocks_operator.observed import ObjectKey, Raw

SELF = "kubernetes"
KIND = "ControllerRevision"


class Revisions:
    """The templates that StatefulSets have had."""

    def __init__(self, kubernetes: Kubernetes) -> None:
        self._kubernetes = kubernetes

    def current(self, workload: Raw) -> str:
        """The revision of its present template; an equal one of before is found again."""
        template = workload["spec"]["template"]
        digest = hashlib.sha256(json.dumps(template, sort_keys=True).encode()).hexdigest()[:10]
        name = f"{workload['metadata']['name']}-{digest}"
        if self._kubernetes.get(KIND, name) is None:
            data = {"spec": {"template": {"$patch": "replace", **template}}}
            raw = {
                "apiVersion": "apps/v1",
                "kind": KIND,
                "metadata": {"name": name, "namespace": "default"},
                "data": data,
            }
            self._kubernetes.create(raw, by=SELF)
        return name

    def template(self, revision: str) -> Json:
        raw = self._kubernetes.objects[ObjectKey(KIND, revision)]
        return {name: value for name, value in raw["data"]["spec"]["template"].items() if name != "$patch"}


def rolls(workload: Raw) -> bool:
    """Whether the controller replaces pods by itself."""
    return bool(strategy(workload).get("type", "RollingUpdate") == "RollingUpdate")


def partition(workload: Raw) -> int:
    """Pods of lower ordinals keep the revision before."""
    return int((strategy(workload).get("rollingUpdate") or {}).get("partition") or 0)


def strategy(workload: Raw) -> Raw:
    return workload["spec"].get("updateStrategy") or {}


def revision_for(workload: Raw, ordinal: int, *, update: str) -> str:
    """Which one a pod is made with."""
    before = (workload.get("status") or {}).get("currentRevision") or update
    return before if rolls(workload) and ordinal < partition(workload) else update
