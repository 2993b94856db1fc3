"""What the watches have told us: the StarRocksClusters and their labelled children, by cluster.

An event older than what is known is dropped, and one that changes nothing that counts wakes nobody. A watch that is
interrupted can miss a deletion; `sweep` compares with a listing and finds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from starrocks_operator.model import WAREHOUSE_KIND, Key
from starrocks_operator.model.warehouse import SUFFIX
from starrocks_operator.observed import Children, ObjectKey
from watcher.realm import CLUSTERS, Realm
from watcher.trim import Raw

Name = tuple[str, str, str]  # kind, namespace, name


class Index:
    """Trimmed objects, indexed by cluster. `revision` grows with every change that counts."""

    def __init__(self, realm: Realm = CLUSTERS) -> None:
        self._kind, self._key_of, self._resources = realm.kind, realm.key_of, frozenset(realm.resources)
        self._objects: dict[Name, Raw] = {}
        self._warehouses: dict[Name, Raw] = {}
        self._seen: dict[Name, int] = {}  # the sweep during or after which each was last seen
        self._by_cluster: dict[Key, dict[ObjectKey, Raw]] = {}
        self._children: dict[Key, Children] = {}
        self._revisions: dict[Key, int] = {}
        self._last = 0
        self._epoch = 0

    def __len__(self) -> int:
        return len(self._objects)

    def clusters(self) -> tuple[Key, ...]:
        """And warehouses."""
        resources = (raw for raw in self._objects.values() if raw["kind"] in self._resources)
        return tuple(key for key in map(self._key_of, resources) if key is not None)

    def known(self, raw: Mapping[str, Any]) -> Raw | None:
        """The object of that kind and name as we know it."""
        return self._objects.get(_name(raw))

    def cluster(self, key: Key) -> Raw | None:
        """The resource; of a cluster and a warehouse that claim the same objects it is the cluster."""
        found = self._objects.get((self._kind, *key))
        if found is None and key.name.endswith(SUFFIX):
            found = self._objects.get((WAREHOUSE_KIND, key.namespace, key.name.removesuffix(SUFFIX)))
        return found

    def warehouses(self, key: Key) -> tuple[Raw, ...]:
        """The StarRocksWarehouses of a cluster."""
        return tuple(
            raw
            for raw in self._warehouses.values()
            if raw["metadata"]["namespace"] == key.namespace and raw["spec"].get("starRocksCluster") == key.name
        )

    def has_warehouse(self, namespace: str, name: str) -> bool:
        return (WAREHOUSE_KIND, namespace, name) in self._objects

    def children(self, key: Key) -> Children:
        """The same value until a child changes, so that what was computed from it can be kept."""
        if key not in self._children:
            self._children[key] = Children(dict(self._by_cluster.get(key, {})))
        return self._children[key]

    def revision(self, key: Key) -> int:
        return self._revisions.get(key, 0)

    def version(self, kind: str, namespace: str, name: str) -> str:
        """The resourceVersion in which we know an object; empty: it is not there."""
        raw = self._objects.get((kind, namespace, name))
        return str(raw["metadata"].get("resourceVersion", "")) if raw else ""

    def put(self, raw: Raw) -> Key | None:
        """Take in an object as it is now. Returns the cluster to look at, if this changed something."""
        name, old = _name(raw), self._objects.get(_name(raw))
        self._seen[name] = self._epoch
        if old is not None and _older(raw, old):
            return None
        if old is not None and _same(raw, old):
            old["metadata"]["resourceVersion"] = raw["metadata"].get("resourceVersion", "")
            return None
        if old is not None and (before := self._key_of(old)) != self._key_of(raw) and before is not None:
            self._detach(before, raw)
        self._objects[name] = raw
        if name[0] == WAREHOUSE_KIND:
            self._warehouses[name] = raw
        key = self._key_of(raw)
        if key is not None and raw["kind"] not in self._resources:
            self._by_cluster.setdefault(key, {})[ObjectKey.of(raw)] = raw
        return self._changed(key)

    def drop(self, raw: Mapping[str, Any]) -> Key | None:
        """Forget an object that was deleted. Returns the cluster to look at, if we knew it."""
        name = _name(raw)
        old = self._objects.get(name)
        if old is None or old["metadata"].get("uid") != raw["metadata"].get("uid"):
            return None
        del self._objects[name]
        self._warehouses.pop(name, None)
        self._seen.pop(name, None)
        key = self._key_of(old)
        if key is not None and old["kind"] not in self._resources:
            self._detach(key, old)
        return self._changed(key)

    def begin_sweep(self) -> None:
        """Everything that is seen from here on is newer than the listing that follows."""
        self._epoch += 1

    def sweep(self, kind: str, listed: Mapping[tuple[str, str], str]) -> tuple[frozenset[Key], int]:
        """Compare with a listing of one kind, (namespace, name) to uid, begun after `begin_sweep`.

        Returns the clusters that lost an object we had not noticed, and how many objects we have not been told of.
        """
        gone = [
            raw
            for name, raw in self._objects.items()
            if name[0] == kind and self._seen[name] < self._epoch and listed.get(name[1:]) != raw["metadata"]["uid"]
        ]
        missing = sum((kind, *name) not in self._objects for name in listed)
        return frozenset(key for raw in gone if (key := self.drop(raw)) is not None), missing

    def _detach(self, key: Key, raw: Mapping[str, Any]) -> None:
        objects = self._by_cluster.get(key, {})
        objects.pop(ObjectKey.of(raw), None)
        if not objects:
            self._by_cluster.pop(key, None)
        self._changed(key)

    def _changed(self, key: Key | None) -> Key | None:
        if key is not None:
            self._last += 1
            self._revisions[key] = self._last
            self._children.pop(key, None)
        return key

    def forget(self, keys: Iterable[Key]) -> None:
        """Drop the book-keeping of clusters that are gone."""
        for key in keys:
            if self.cluster(key) is None and key not in self._by_cluster:
                self._revisions.pop(key, None)
                self._children.pop(key, None)


def _name(raw: Mapping[str, Any]) -> Name:
    metadata = raw["metadata"]
    return raw["kind"], metadata.get("namespace", ""), metadata["name"]


def _older(raw: Raw, old: Raw) -> bool:
    """Whether `raw` is a late message; versions of one object can be compared as numbers."""
    if raw["metadata"].get("uid") != old["metadata"].get("uid"):
        return False
    new_version, old_version = (str(item["metadata"].get("resourceVersion", "")) for item in (raw, old))
    return new_version.isdigit() and old_version.isdigit() and int(new_version) < int(old_version)


def _same(raw: Raw, old: Raw) -> bool:
    return _essence(raw) == _essence(old)


def _essence(raw: Raw) -> Raw:
    metadata = {name: value for name, value in raw["metadata"].items() if name != "resourceVersion"}
    return {**raw, "metadata": metadata}
