"""The objects of one namespace in plain dicts, with what matters of an API server: uids, versions, preconditions.

Objects are never changed in place: each change puts a new dict, so that readers may keep what they got.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

from starrocks_operator.observed import Children, ObjectKey, Raw

Json = dict[str, Any]
Listener = Callable[[str, Raw | None, Raw | None], None]
"""Told of each change: by whom, what was, and what is."""

_KEPT = ("uid", "creationTimestamp", "generation", "resourceVersion", "deletionTimestamp")


class RefusedError(Exception):
    """A precondition did not hold, or the object does not exist."""


class Kubernetes:
    """get, apply, patch and delete. now: the time as Kubernetes writes it."""

    def __init__(self, now: Callable[[], str]) -> None:
        self.now = now
        self.objects: dict[ObjectKey, Raw] = {}
        self.listeners: list[Listener] = []
        self.orphaning: ObjectKey | None = None  # what is just being deleted without what belongs to it
        self._numbers = itertools.count(1)

    def get(self, kind: str, name: str) -> Raw | None:
        return self.objects.get(ObjectKey(kind, name))

    def children(self) -> Children:
        """Everything that there is, as it is now."""
        return Children(dict(self.objects))

    def apply(self, wanted: Raw, *, by: str) -> Raw:
        """Server-side apply of a whole object by the one manager that there is."""
        key = ObjectKey.of(wanted)
        live = self.objects.get(key)
        asked = wanted["metadata"]
        if key.kind == "PersistentVolumeClaim":
            return self._marked(live, asked, by=by)
        self._check(live, uid=asked.get("uid", ""), version=asked.get("resourceVersion", ""))
        metadata = {name: value for name, value in asked.items() if name not in ("uid", "resourceVersion")}
        if live is None:
            return self.put({**wanted, "metadata": self._born(metadata)}, by=by)
        kept = {name: live["metadata"][name] for name in _KEPT if name in live["metadata"]}
        new = {**wanted, "metadata": metadata | kept} | ({"status": live["status"]} if "status" in live else {})
        if new == live:
            return live
        if key.kind == "StatefulSet" and _claims(new) != _claims(live):
            raise RefusedError(f"{key}: updates to statefulset spec for fields other than these are forbidden: claims")
        if new.get("spec") != live.get("spec"):
            new["metadata"] = {**new["metadata"], "generation": kept["generation"] + 1}
        return self.put(new, by=by)

    def _marked(self, live: Raw | None, asked: Raw, *, by: str) -> Raw:
        """A claim is only ever annotated, and never made."""
        if live is None:
            return {}
        annotations = {**(live["metadata"].get("annotations") or {}), **(asked.get("annotations") or {})}
        if annotations == live["metadata"].get("annotations"):
            return live
        return self.put({**live, "metadata": {**live["metadata"], "annotations": annotations}}, by=by)

    def create(self, raw: Raw, *, by: str) -> Raw:
        return self.put({**raw, "metadata": self._born(raw["metadata"])}, by=by)

    def put(self, raw: Raw, *, by: str) -> Raw:
        """Write an object as it stands, with a new version."""
        key = ObjectKey.of(raw)
        before = self.objects.get(key)
        after: Json = {**raw, "metadata": {**raw["metadata"], "resourceVersion": str(next(self._numbers))}}
        self.objects[key] = after
        self._tell(by, before, after)
        return after

    def status(self, key: ObjectKey, status: Mapping[str, Any], *, uid: str = "", by: str) -> Raw:
        """Replace an object's status."""
        live = self.objects.get(key)
        self._check(live, uid=uid, version="")
        if live is None:
            raise RefusedError(f"{key} does not exist")
        return self.put({**live, "status": status}, by=by)

    def orphan(self, kind: str, name: str, *, uid: str, version: str, by: str) -> None:
        """Delete an object, and nothing that belongs to it."""
        self._check(self.objects.get(ObjectKey(kind, name)), uid=uid, version=version)
        self.orphaning = ObjectKey(kind, name)
        try:
            self.delete(kind, name, uid=uid, by=by)
        finally:
            self.orphaning = None

    def delete(self, kind: str, name: str, *, uid: str = "", by: str) -> None:
        """Mark for deletion; pods and claims go when the kubelet and the protection let them, others at once."""
        key = ObjectKey(kind, name)
        live = self.objects.get(key)
        if live is None:
            raise RefusedError(f"{key} does not exist")
        self._check(live, uid=uid, version="")
        if kind not in ("Pod", "PersistentVolumeClaim"):
            self.remove(key, by=by)
        elif not live["metadata"].get("deletionTimestamp"):
            self.put({**live, "metadata": {**live["metadata"], "deletionTimestamp": self.now()}}, by=by)

    def remove(self, key: ObjectKey, *, by: str) -> None:
        """The object is gone."""
        before = self.objects.pop(key, None)
        self._tell(by, before, None)

    def _born(self, metadata: Raw) -> Json:
        number = next(self._numbers)
        return {
            **metadata,
            "uid": f"uid-{metadata['name']}-{number}",
            "creationTimestamp": self.now(),
            "generation": 1,
        }

    def _check(self, live: Raw | None, *, uid: str, version: str) -> None:
        metadata = live["metadata"] if live else {}
        if (uid and metadata.get("uid") != uid) or (version and metadata.get("resourceVersion") != version):
            raise RefusedError(f"{metadata.get('name', 'the object')} is not the one, or not as it was, when read")

    def _tell(self, by: str, before: Raw | None, after: Raw | None) -> None:
        for listener in self.listeners:
            listener(by, before, after)


def _claims(workload: Raw) -> Any:
    return workload["spec"].get("volumeClaimTemplates") or []
