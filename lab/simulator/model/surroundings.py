"""What the world asks of Kubernetes: a cluster's bootstrap marker, whether it is wanted, what of it is given up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from lab.simulator.model.facts import ClusterKey, PodFacts

FORCE_DROP = "starrocks.com/force-drop-backend"


class Surroundings(Protocol):
    def marker(self, cluster: ClusterKey) -> Mapping[str, str]:
        """The data of ConfigMap `<cluster>-fe-bootstrap`; nothing when it does not exist."""
        ...

    def wanted(self, cluster: ClusterKey) -> bool:
        """False once its StarRocksCluster was deleted: what is lost then is not to be blamed on anybody."""
        ...

    def debugged(self, facts: PodFacts) -> bool:
        """Whether the list that this pod has mounted names it."""
        ...

    def given_up(self, cluster: ClusterKey) -> str:
        """The backend, by its pod, whose loss the owner named for the present generation; empty: none."""
        ...


def named_loss(annotations: Mapping[str, str], generation: int) -> str:
    """What the annotation of a StarRocksCluster says to that."""
    pod, _, named = annotations.get(FORCE_DROP, "").partition("@")
    return pod if named == str(generation) else ""


class FixedSurroundings:
    """Kept in dictionaries: for tests."""

    def __init__(self) -> None:
        self.markers: dict[ClusterKey, dict[str, str]] = {}
        self.deleted: set[ClusterKey] = set()
        self.losses_named: dict[ClusterKey, str] = {}
        self.debug_lists: dict[tuple[str, str], str] = {}  # by namespace and name of the ConfigMap

    def wanted(self, cluster: ClusterKey) -> bool:
        return cluster not in self.deleted

    def given_up(self, cluster: ClusterKey) -> str:
        return self.losses_named.get(cluster, "")

    def debugged(self, facts: PodFacts) -> bool:
        return facts.name in self.debug_lists.get((facts.namespace, facts.debug_list), "").split()

    def marker(self, cluster: ClusterKey) -> Mapping[str, str]:
        return self.markers.get(cluster, {})
