"""The status of a StarRocksCluster, and the Events between two statuses. Pure; the watcher alone writes it."""

from starrocks_operator.status.assemble import status_of
from starrocks_operator.status.transitions import Transition, transitions

__all__ = ["Transition", "status_of", "transitions"]
