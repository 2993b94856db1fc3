"""One component's StatefulSet on its way from the template that its pods have to the one that is wanted.

Everything is read from the StatefulSet and its pods, so that it survives the operator and its status. A pod that dies
unplanned meanwhile comes back with the revision it had (DESIGN §8):

- PARTITION: the wanted template is there at once, and the partition keeps it from pods of lower ordinals.
- ANY_ORDER: the StatefulSet rests at the former template under OnDelete. The wanted one is *offered* only while one
  pod is replaced, and taken back when that pod has been made.
- OWNER: the spec says OnDelete: its owner replaces the pods.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from starrocks_operator.components import COMPONENTS
from starrocks_operator.membership import Pod
from starrocks_operator.objects import drift
from starrocks_operator.objects.metadata import TEMPLATE_HASH
from starrocks_operator.observed import Raw
from starrocks_operator.recall import Recall
from starrocks_operator.storage import template_changes
from starrocks_operator.storage.added import added, claims_in, offered

OFFERED_TO = "starrocks.com/template-offered-to"
"""`<pod>@<uid>`: the pod that is to come back with the template that the StatefulSet has now."""
FORMER_REVISION = "starrocks.com/former-revision"
"""`<template hash>@<ControllerRevision>`: the template that the StatefulSet is to have again after that."""
WANTED_REVISION = "starrocks.com/wanted-revision"
"""`<template hash>@<ControllerRevision>`: what pods of the wanted template have for a revision."""

_drifts: Recall[bool] = Recall(4096)


class Method(StrEnum):
    """How the pods of a component are replaced."""

    PARTITION = "partition"
    ANY_ORDER = "any-order"
    OWNER = "owner"


@dataclass(frozen=True, kw_only=True)
class RollPod:
    """A pod of the StatefulSet. new: it has the wanted revision, or shall keep the one it has."""

    name: str
    ordinal: int
    pod: Pod
    new: bool


@dataclass(frozen=True, kw_only=True)
class Roll:
    """live, desired: the StatefulSet as it is, and as it shall be at rest. pods: by ordinal, without those that are
    being made. changing: whether the live template is not the wanted one."""

    component: str
    method: Method
    live: Raw
    desired: Raw
    pods: tuple[RollPod, ...]
    changing: bool

    @property
    def name(self) -> str:
        return str(self.live["metadata"]["name"])

    @property
    def old(self) -> tuple[RollPod, ...]:
        """The pods that are still to be replaced."""
        return tuple(pod for pod in self.pods if not pod.new)

    @property
    def open(self) -> bool:
        """Whether anything is still to be done about it."""
        return self.changing or bool(self.old) or not self.rests

    @property
    def replicas(self) -> int:
        return int((self.live.get("spec") or {}).get("replicas", 1))

    @property
    def strategy(self) -> Mapping[str, Any]:
        """The live update strategy."""
        return (self.live.get("spec") or {}).get("updateStrategy") or {}

    @property
    def partition(self) -> int:
        return partition_of(self.strategy)

    @property
    def rests(self) -> bool:
        """Whether the live update strategy is the one at rest."""
        at_rest = self.desired["spec"]["updateStrategy"]
        same_type = self.strategy.get("type", "RollingUpdate") == at_rest.get("type", "RollingUpdate")
        return same_type and self.partition == partition_of(at_rest)

    @property
    def lagging(self) -> bool:
        """Whether the controller has yet to take note of the StatefulSet's latest spec."""
        observed = (self.live.get("status") or {}).get("observedGeneration", 0)
        return bool(observed < self.live["metadata"].get("generation", 0))

    @property
    def offered_to(self) -> tuple[str, str]:
        """Name and uid of the pod for which the wanted template is there; empty: for none."""
        name, _, uid = annotation(self.live, OFFERED_TO).partition("@")
        return name, uid

    @property
    def adding(self) -> tuple[str, ...]:
        """Volumes that pods are to have besides those that the StatefulSet has at rest: see `new_volumes`."""
        return added(self.desired, self.live)

    @property
    def trial(self) -> tuple[str, ...]:
        """Volumes that the StatefulSet has for one pod only."""
        return offered(self.live)

    @property
    def renews(self) -> bool:
        return bool(self.adding or self.trial)

    @property
    def candidates(self) -> tuple[RollPod, ...]:
        """The old pods that may be next. One with new volumes is made only if all below it have them."""
        if not self.renews:
            return self.old
        wanted, found = {claim.name for claim in claims_in(self.desired)}, []
        for pod in self.pods:
            found += [] if pod.new else [pod]
            if not wanted <= pod.pod.claims:
                break
        return tuple(found)

    @property
    def update_revision(self) -> str:
        return str((self.live.get("status") or {}).get("updateRevision", ""))

    @property
    def wanted_hash(self) -> str:
        return annotation(self.desired, TEMPLATE_HASH)


def roll_of(component: str, desired: Raw, live: Raw, pods: Mapping[str, Pod]) -> Roll:
    """What is to be said of the component's StatefulSet and its pods."""
    changing = template_changes(desired, live) or _drifted(desired, live)
    revision = _wanted_revision(desired, live, changing=changing)
    floor = partition_of(desired["spec"]["updateStrategy"])
    prefix = f"{live['metadata']['name']}-"
    found = []
    for name, pod in pods.items():
        ordinal = name.removeprefix(prefix)
        if name.startswith(prefix) and ordinal.isdecimal():
            new = int(ordinal) < floor or (bool(revision) and pod.revision == revision)
            found.append(RollPod(name=name, ordinal=int(ordinal), pod=pod, new=new))
    return Roll(
        component=component,
        method=_method(component, desired, live),
        live=live,
        desired=desired,
        pods=tuple(sorted(found, key=lambda pod: pod.ordinal)),
        changing=changing,
    )


def partition_of(strategy: Mapping[str, Any]) -> int:
    """0 if there is none, or none that is one: a spec is a person's, and may say anything."""
    partition = rolling_of(strategy).get("partition")
    return max(partition, 0) if isinstance(partition, int) and not isinstance(partition, bool) else 0


def rolling_of(strategy: Mapping[str, Any]) -> Mapping[str, Any]:
    rolling = strategy.get("rollingUpdate")
    return rolling if isinstance(rolling, Mapping) else {}


def annotation(raw: Raw, name: str) -> str:
    return str((raw["metadata"].get("annotations") or {}).get(name, ""))


def _method(component: str, desired: Raw, live: Raw) -> Method:
    if desired["spec"]["updateStrategy"].get("type") == "OnDelete":
        return Method.OWNER
    any_order = COMPONENTS[component].any_order or added(desired, live) or offered(live)
    return Method.ANY_ORDER if any_order else Method.PARTITION


def _wanted_revision(desired: Raw, live: Raw, *, changing: bool) -> str:
    """By which revision the pods of the wanted template are known; empty: by none yet."""
    if not changing:
        return str((live.get("status") or {}).get("updateRevision", ""))
    told, _, revision = annotation(live, WANTED_REVISION).partition("@")
    return revision if told == annotation(desired, TEMPLATE_HASH) else ""


def _drifted(desired: Raw, live: Raw) -> bool:
    """Whether somebody changed the template by hand."""
    metadata = live["metadata"]

    def differs() -> bool:
        has, wanted = (live.get("spec") or {}).get("template") or {}, desired["spec"]["template"]
        return drift.missing({"template": has}, {"template": wanted}) is not None

    version = metadata.get("resourceVersion")
    if not version:
        return differs()
    given = (version, annotation(desired, TEMPLATE_HASH))
    return _drifts.get((metadata.get("uid"), metadata["name"]), given, differs)
