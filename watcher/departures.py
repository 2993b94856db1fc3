"""Warehouses that were deleted, until FE has forgotten them, or has refused to so often that we give up.

Nothing holds the deletion of a StarRocksWarehouse up: no finalizer waits for FE. What is remembered here is lost with
the process; then the dead compute nodes that FE still lists show which warehouses there were.
"""

from __future__ import annotations

from collections.abc import Iterable

from starrocks_operator.membership.warehouses import departed_of, group_of_warehouse
from starrocks_operator.model import Key
from starrocks_operator.run_report import RunReport, StepOutcome
from starrocks_operator.status.transitions import WARNING, Transition
from starrocks_operator.step import Step, StepKind
from watcher.index import Index

TRIES = 3


class Departures:
    """By cluster, the StarRocksWarehouses that FE has to forget."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._tries: dict[Key, dict[str, int]] = {}

    def add(self, key: Key, name: str) -> None:
        """A StarRocksWarehouse of this cluster was deleted."""
        self._tries.setdefault(key, {})[name] = 0

    def of(self, key: Key, left_behind: Iterable[str]) -> tuple[str, ...]:
        """Those that are to be forgotten now: not there again, not given up, and without pods that may still run."""
        tries = self._tries.setdefault(key, {})
        for name in left_behind:
            if not self._index.has_warehouse(key.namespace, name):
                tries.setdefault(name, 0)
        return tuple(sorted(name for name, count in tries.items() if count < TRIES and self._is_gone(key, name)))

    def waiting(self, namespace: str) -> tuple[Key, ...]:
        """The clusters of a namespace that have warehouses to forget."""
        return tuple(key for key, tries in self._tries.items() if tries and key.namespace == namespace)

    def learn(self, key: Key, step: Step | None, report: RunReport) -> tuple[Transition, ...]:
        """What a run brought, and what is to be told of it."""
        name, tries = departed_of(step), self._tries.get(key, {})
        if step is None or name not in tries:
            return ()
        if report.step == StepOutcome.DONE and step.kind == StepKind.DROP_WAREHOUSE:
            del tries[name]
        if report.step not in (StepOutcome.FAILED, StepOutcome.UNKNOWN):
            return ()
        tries[name] += 1
        if tries[name] < TRIES:
            return ()
        said = report.said or report.message
        message = (
            f"StarRocksWarehouse {name} was deleted, and FE did not forget it in {TRIES} tries. It is not tried again: "
            f"run DROP WAREHOUSE {name.replace('-', '_')} by hand. The last time: {said}"
        )
        return (Transition(type=WARNING, reason="WarehouseNotDropped", message=message),)

    def forget(self, key: Key) -> None:
        self._tries.pop(key, None)

    def _is_gone(self, key: Key, name: str) -> bool:
        workload = group_of_warehouse(name, key.namespace).stateful_set
        return not (
            self._index.has_warehouse(key.namespace, name)
            or self._index.version("StatefulSet", key.namespace, workload)
        )
