"""A kind of resource that is looked after, with all that differs in the watching: the rest of the watcher is the same.

Each realm has an index, a queue and watches of its own, so that two resources of one name never meet. The objects of a
group have another label than those of a cluster: neither realm sees the other's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from starrocks_operator.model import FINALIZER, GROUP, GROUP_KIND, GROUP_PLURAL, GROUP_VERSION, Key
from starrocks_operator.objects.metadata import GROUP_LABEL
from watcher.keys import key_of
from watcher.kinds import CHILDREN, CLUSTER, WAREHOUSE, Watched

KeyOf = Callable[[Mapping[str, Any]], Key | None]


@dataclass(frozen=True, kw_only=True)
class Realm:
    """others: resources that are looked after just like the first; their CRDs need not be installed. children: the
    kinds of the objects that belong to such a resource. key_of: which one an object belongs to.

    playbook: beside the usual one; empty: that one. finalizer: what the resource carries until its business elsewhere
    is done. optional: whether its CRD need not be installed.
    """

    resource: Watched
    others: tuple[Watched, ...] = ()
    children: tuple[Watched, ...]
    key_of: KeyOf
    playbook: str = ""
    finalizer: str = ""
    optional: bool = False

    @property
    def kind(self) -> str:
        return self.resource.kind

    @cached_property
    def resources(self) -> dict[str, Watched]:
        """By their kinds."""
        return {resource.kind: resource for resource in (self.resource, *self.others)}

    @property
    def watched(self) -> tuple[Watched, ...]:
        return (*self.resources.values(), *self.children)


def group_key_of(raw: Mapping[str, Any]) -> Key | None:
    """The group that this is, or that the object's label names."""
    metadata = raw["metadata"]
    namespace: str = metadata.get("namespace", "")
    if raw["kind"] == GROUP_KIND:
        return Key(namespace, metadata["name"])
    name = str((metadata.get("labels") or {}).get(GROUP_LABEL, ""))
    return Key(namespace, name) if name else None


CLUSTERS = Realm(resource=CLUSTER, others=(WAREHOUSE,), children=CHILDREN, key_of=key_of)
_OF_GROUPS = frozenset({"StatefulSet", "Pod", "Service", "HorizontalPodAutoscaler"})
GROUPS = Realm(
    resource=Watched(GROUP, GROUP_VERSION, GROUP_PLURAL, GROUP_KIND, selector=""),
    children=tuple(replace(kind, selector=GROUP_LABEL) for kind in CHILDREN if kind.kind in _OF_GROUPS),
    key_of=group_key_of,
    playbook="compute_node_group.yml",
    finalizer=FINALIZER,
    optional=True,
)
