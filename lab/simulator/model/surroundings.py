"""What start-up scripts read from Kubernetes at the moment they look: the bootstrap marker of their cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from lab.simulator.model.facts import ClusterKey


class Surroundings(Protocol):
    def marker(self, cluster: ClusterKey) -> Mapping[str, str]:
        """The data of ConfigMap `<cluster>-fe-bootstrap`; nothing when it does not exist."""
        ...


class FixedSurroundings:
    """Markers kept in a dictionary: for tests."""

    def __init__(self) -> None:
        self.markers: dict[ClusterKey, dict[str, str]] = {}

    def marker(self, cluster: ClusterKey) -> Mapping[str, str]:
        return self.markers.get(cluster, {})
