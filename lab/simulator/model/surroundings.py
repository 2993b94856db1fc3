"""What the world asks of Kubernetes at the moment it looks: a cluster's bootstrap marker, and whether it is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from lab.simulator.model.facts import ClusterKey


class Surroundings(Protocol):
    def marker(self, cluster: ClusterKey) -> Mapping[str, str]:
        """The data of ConfigMap `<cluster>-fe-bootstrap`; nothing when it does not exist."""
        ...

    def wanted(self, cluster: ClusterKey) -> bool:
        """False once its StarRocksCluster was deleted: what is lost then is not to be blamed on anybody."""
        ...


class FixedSurroundings:
    """Kept in dictionaries: for tests."""

    def __init__(self) -> None:
        self.markers: dict[ClusterKey, dict[str, str]] = {}
        self.deleted: set[ClusterKey] = set()

    def wanted(self, cluster: ClusterKey) -> bool:
        return cluster not in self.deleted

    def marker(self, cluster: ClusterKey) -> Mapping[str, str]:
        return self.markers.get(cluster, {})
