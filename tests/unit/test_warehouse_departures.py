"""A warehouse that was deleted: what its cluster's FE is told, how often, and when it is given up."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from starrocks_operator.frontend.statements import statement_of
from starrocks_operator.membership.warehouses import departed_of, farewell, left_behind, obstacle, warehouse_finding
from starrocks_operator.model import Key, StarRocksCluster, parse
from starrocks_operator.observed import Children, ComputeRow, FrontendView, Observed
from starrocks_operator.run_report import RunReport, StepOutcome
from starrocks_operator.step import Step, StepKind
from tests.unit.test_warehouse_model import raw as warehouse
from watcher.departures import TRIES, Departures
from watcher.index import Index

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CLUSTER = parse({"kind": "StarRocksCluster", "metadata": {"name": "kube", "namespace": "db", "uid": "u"}})
KEY = Key("db", "kube")
HOST = "big-reports-warehouse-cn-{}.big-reports-warehouse-cn-search.{}.svc.cluster.local"


def node(ordinal: int = 0, *, alive: bool = False, namespace: str = "db") -> ComputeRow:
    host = HOST.format(ordinal, namespace)
    return ComputeRow(id=str(100 + ordinal), host=host, heartbeat_port=9050, alive=alive, warehouse="big_reports")


def seen(*rows: ComputeRow, features: frozenset[str] | None = None, **more: Any) -> Observed:
    view = FrontendView(asked_at=NOW, compute_nodes=rows, features=features)
    return Observed(now=NOW, children=Children(), view=view, **more)


def test_dead_nodes_are_dropped_one_by_one_then_the_warehouse() -> None:
    first = farewell(CLUSTER, seen(node(0), node(1), departed=("big-reports",))).step
    assert first is not None
    assert statement_of(first) == f'ALTER SYSTEM DROP COMPUTE NODE "{node(1).target}" FROM WAREHOUSE big_reports'
    last = farewell(CLUSTER, seen(departed=("big-reports",))).step
    assert last is not None
    assert statement_of(last) == "DROP WAREHOUSE IF EXISTS big_reports"
    assert departed_of(first) == departed_of(last) == "big-reports"


def test_living_nodes_are_waited_for() -> None:
    outlook = farewell(CLUSTER, seen(node(0, alive=True), departed=("big-reports",)))
    assert outlook.step is None
    assert outlook.waits


def test_what_was_left_behind_is_known_by_its_dead_nodes() -> None:
    assert left_behind(CLUSTER, seen(node(0)).view) == ("big-reports",)
    assert left_behind(CLUSTER, seen(node(0, alive=True)).view) == ()
    assert left_behind(CLUSTER, seen(node(0, namespace="other")).view) == ()
    assert left_behind(CLUSTER, None) == ()


@pytest.mark.parametrize(
    ("features", "reason"),
    [(frozenset({"multi-warehouse"}), None), (frozenset(), "WarehouseUnsupported"), (None, None)],
)
def test_what_fe_says_of_its_features_decides(features: frozenset[str] | None, reason: str | None) -> None:
    observed, resource = seen(features=features), parse(warehouse())
    found = warehouse_finding(resource, observed)
    assert (found.reason if found else None) == reason
    assert bool(obstacle(resource, observed)) == (features != {"multi-warehouse"})
    assert obstacle(CLUSTER, observed) == ""


def test_a_warehouse_that_is_there_is_not_held_for_want_of_an_answer() -> None:
    live = {"kind": "StatefulSet", "metadata": {"name": "big-reports-warehouse-cn"}}
    observed = Observed(now=NOW, children=Children.of([live]))
    assert obstacle(parse(warehouse()), observed) == ""


def run(outcome: StepOutcome) -> RunReport:
    return RunReport(fingerprint="", finished_at=NOW, succeeded=outcome == StepOutcome.DONE, step=outcome, said="no.")


DROP = Step(kind=StepKind.DROP_WAREHOUSE, target="big_reports", reason="", reversible=False)


def departures(*raws: dict[str, Any]) -> Departures:
    index = Index()
    for each in raws:
        index.put(each)
    found = Departures(index)
    found.add(KEY, "big-reports")
    return found


def test_it_is_forgotten_when_fe_has_done_it() -> None:
    found = departures()
    assert found.of(KEY, ()) == ("big-reports",)
    assert found.waiting("db") == (KEY,)
    assert found.learn(KEY, DROP, run(StepOutcome.DONE)) == ()
    assert found.of(KEY, ()) == found.waiting("db") == ()


def test_it_is_given_up_after_three_tries_and_that_is_told_once() -> None:
    found = departures()
    told = [found.learn(KEY, DROP, run(StepOutcome.FAILED)) for _ in range(TRIES)]
    assert [len(each) for each in told] == [0, 0, 1]
    assert told[-1][0].reason == "WarehouseNotDropped"
    assert found.of(KEY, ("big-reports",)) == ()
    found.learn(KEY, DROP, run(StepOutcome.STALE))


def test_one_that_is_there_again_or_whose_pods_may_run_is_left_alone() -> None:
    meta = {"name": "big-reports-warehouse-cn", "namespace": "db", "uid": "s", "resourceVersion": "4"}
    assert departures(warehouse()).of(KEY, ("big-reports",)) == ()
    assert departures({"kind": "StatefulSet", "metadata": meta}).of(KEY, ()) == ()


def test_a_warehouse_and_its_objects_have_one_key() -> None:
    index = Index()
    assert index.put(warehouse()) == Key("db", "big-reports-warehouse")
    assert index.cluster(Key("db", "big-reports-warehouse")) == warehouse()
    assert index.clusters() == (Key("db", "big-reports-warehouse"),)
    assert index.warehouses(KEY) == (warehouse(),)
    assert isinstance(CLUSTER, StarRocksCluster)
    index.drop(warehouse())
    assert index.warehouses(KEY) == ()
