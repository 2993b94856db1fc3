"""Rows by column name: every release's columns, and every spelling of "nothing"."""

from __future__ import annotations

from typing import Any

import pytest

from starrocks_operator.frontend.rows import backend_row, compute_node_row, frontend_row, records, truth
from starrocks_operator.frontend.statements import (
    account_statements,
    means_already_so,
    means_busy,
    native_hash,
    statement_of,
)
from starrocks_operator.observed import FrontendRow
from starrocks_operator.step import ACCOUNT_STEPS, KUBERNETES_STEPS, SETTING_STEPS, Step, StepKind

COLUMNS = [
    "Name",
    "IP",
    "EditLogPort",
    "HttpPort",
    "QueryPort",
    "RpcPort",
    "Role",
    "ClusterId",
    "Join",
    "Alive",
    "ReplayedJournalId",
    "LastHeartbeat",
    "IsHelper",
    "ErrMsg",
    "StartTime",
    "Version",
]
VALUES: tuple[Any, ...] = (
    "10.1.1.1_9010_1710930697136",
    "fe-0.search.ns.svc.cluster.local",
    "9010",
    "8030",
    "9030",
    "9020",
    "LEADER",
    "1206449193",
    "true",
    "true",
    "3286454",
    "2024-07-18 08:50:48",
    "true",
    "",
    "2024-07-17 16:19:42",
    "3.1.7-7e897e2",
)
EXPECTED = FrontendRow(
    name="10.1.1.1_9010_1710930697136",
    host="fe-0.search.ns.svc.cluster.local",
    edit_log_port=9010,
    role="LEADER",
    cluster_id="1206449193",
    joined=True,
    alive=True,
    replayed_journal_id=3286454,
    query_port=9030,
    start_time="2024-07-17 16:19:42",
    version="3.1.7-7e897e2",
)


def frontend(**changes: Any) -> FrontendRow:
    return frontend_row({**records(COLUMNS, [VALUES])[0]} | {name.lower(): value for name, value in changes.items()})


@pytest.mark.parametrize(
    ("columns", "values"),
    [
        pytest.param(COLUMNS, VALUES, id="3.x"),
        pytest.param(["Id", *COLUMNS], ["1", *VALUES], id="with Id"),
        pytest.param(["Novelty", *reversed(COLUMNS)], ["?", *reversed(VALUES)], id="other order, unknown column"),
        pytest.param([name.upper() for name in COLUMNS], VALUES, id="capitals"),
        pytest.param(COLUMNS, [value.encode() for value in VALUES], id="bytes"),
        pytest.param(COLUMNS, [9010 if value == "9010" else value for value in VALUES], id="numbers"),
        pytest.param(COLUMNS, [True if value == "true" else value for value in VALUES], id="booleans"),
        pytest.param(COLUMNS, ["MASTER" if value == "LEADER" else value for value in VALUES], id="2.4"),
    ],
)
def test_a_frontends_row_in_every_shape(columns: list[str], values: list[Any]) -> None:
    assert frontend_row(records(columns, [values])[0]) == EXPECTED


@pytest.mark.parametrize("nothing", [None, "NULL", "\\N", "", "N/A"])
def test_every_spelling_of_nothing(nothing: Any) -> None:
    row = frontend(StartTime=nothing, Version=nothing, QueryPort=nothing, ErrMsg=nothing)
    assert (row.start_time, row.version, row.query_port, row.error) == ("", "", 0, "")


def test_a_row_with_columns_missing_says_nothing_about_them() -> None:
    row = frontend_row({"name": "a_9010_1", "ip": "a"})
    assert (row.joined, row.alive, row.role, row.cluster_id) == (False, False, "", "")


def test_a_backends_row() -> None:
    columns = [
        "BackendId",
        "IP",
        "HeartbeatPort",
        "Alive",
        "SystemDecommissioned",
        "TabletNum",
        "LastStartTime",
        "ErrMsg",
        "StatusCode",
    ]
    values = ["10002", "be-0", "9050", "true", "false", "21753", None, "", "OK"]
    row = backend_row(records(columns, [values])[0])
    assert (row.id, row.target, row.alive, row.decommissioned) == ("10002", "be-0:9050", True, False)
    assert (row.tablets, row.last_start_time, row.status_code, row.running_queries) == (21753, "", "OK", None)


def test_a_backend_before_its_first_heartbeat() -> None:
    row = backend_row({"backendid": "1", "ip": "be", "heartbeatport": "9050", "beport": "-1", "alive": "false"})
    assert (row.alive, row.tablets, row.last_start_time) == (False, None, "")


def test_a_compute_nodes_row_with_its_warehouse() -> None:
    row = compute_node_row(
        {"computenodeid": 7, "ip": "cn-0", "heartbeatport": 9050, "alive": "true", "warehousename": "w"}
    )
    assert (row.id, row.alive, row.warehouse, row.tablets) == ("7", True, "w", None)


@pytest.mark.parametrize(
    ("written", "meant"), [("true", True), ("TRUE", True), ("1", True), ("false", False), ("", False)]
)
def test_truth(written: str, meant: bool) -> None:
    assert truth({"x": written}, "x") is meant


BACKEND = "sample-be-0.sample-be-search.default.svc.cluster.local:9050"


def step(kind: StepKind, target: str = BACKEND, **facts: str) -> Step:
    return Step(kind=kind, target=target, reason="", reversible=True, expects=tuple(facts.items()))


@pytest.mark.parametrize(
    ("asked", "statement"),
    [
        (step(StepKind.ADD_FOLLOWER, "h:9010"), 'ALTER SYSTEM ADD FOLLOWER "h:9010"'),
        (step(StepKind.DROP_FOLLOWER, "h:9010"), 'ALTER SYSTEM DROP FOLLOWER "h:9010"'),
        (step(StepKind.ADD_OBSERVER, "h:9010"), 'ALTER SYSTEM ADD OBSERVER "h:9010"'),
        (step(StepKind.DROP_OBSERVER, "h:9010"), 'ALTER SYSTEM DROP OBSERVER "h:9010"'),
        (step(StepKind.ADD_BACKEND, "h:9050"), 'ALTER SYSTEM ADD BACKEND "h:9050"'),
        (step(StepKind.DECOMMISSION_BACKEND, "h:9050"), 'ALTER SYSTEM DECOMMISSION BACKEND "h:9050"'),
        (step(StepKind.CANCEL_DECOMMISSION, "h:9050"), 'CANCEL DECOMMISSION BACKEND "h:9050"'),
        (step(StepKind.DROP_BACKEND, "h:9050"), 'ALTER SYSTEM DROP BACKEND "h:9050"'),
        (step(StepKind.ADD_COMPUTE_NODE, "h:9050"), 'ALTER SYSTEM ADD COMPUTE NODE "h:9050"'),
        (step(StepKind.DROP_COMPUTE_NODE, "h:9050"), 'ALTER SYSTEM DROP COMPUTE NODE "h:9050"'),
        (step(StepKind.BLACKLIST_COMPUTE_NODE, "h:9050", id="7"), "ADD COMPUTE NODE BLACKLIST 7"),
        (step(StepKind.UNBLACKLIST_COMPUTE_NODE, "h:9050", id="7"), "DELETE COMPUTE NODE BLACKLIST 7"),
        (step(StepKind.HOLD_AUTO_DROP, "a_b", to="false"), 'ADMIN SET FRONTEND CONFIG ("a_b" = "false")'),
        (step(StepKind.RESTORE_AUTO_DROP, "a_b", to="true"), 'ADMIN SET FRONTEND CONFIG ("a_b" = "true")'),
    ],
)
def test_each_steps_statement(asked: Step, statement: str) -> None:
    assert statement_of(asked) == statement


def test_every_kind_of_step_is_a_statement_or_a_deed() -> None:
    facts = {"id": "1", "to": "x", "list": "BACKEND"}
    for kind in StepKind:
        target = "key" if kind in {*SETTING_STEPS, StepKind.DROP_WAREHOUSE} else BACKEND
        assert kind in KUBERNETES_STEPS | ACCOUNT_STEPS or statement_of(step(kind, target, **facts))


def test_every_step_on_an_account_hides_the_password_and_takes_no_odd_name() -> None:
    for kind in ACCOUNT_STEPS:
        statements = account_statements(step(kind, "sr_operator"))
        assert any("{hash}" in statement for statement in statements)
        with pytest.raises(ValueError, match="account"):
            account_statements(step(kind, "x' IDENTIFIED BY 'y"))
    assert native_hash("12345") == "*00A51F3F48415C7D4E8908980D443C29C69B60C9"


@pytest.mark.parametrize("value", ['x") --', "a b", '"'])
def test_a_value_that_is_not_plain_becomes_no_statement(value: str) -> None:
    with pytest.raises(ValueError, match="value"):
        statement_of(step(StepKind.RESTORE_AUTO_DROP, "a_b", to=value))
    with pytest.raises(ValueError, match="number"):
        statement_of(step(StepKind.BLACKLIST_COMPUTE_NODE, id=value))


@pytest.mark.parametrize("target", ['h"; DROP TABLE t; --:1', "h", "h:", "h:1 FORCE", "h\n:1", "", "h:123456"])
def test_a_target_that_is_no_address_becomes_no_statement(target: str) -> None:
    with pytest.raises(ValueError, match="host:port"):
        statement_of(step(StepKind.ADD_BACKEND, target))


@pytest.mark.parametrize(
    ("error", "already", "busy"),
    [
        ("FE with the same host: a already exists", True, False),
        ("Unexpected exception: frontend already exists name: a", True, False),
        ("Backend already exists with same host h and port 9050", True, False),
        ("Same backend already exists[h:9050]", True, False),
        ("Compute node already exists with same host h and port 9050", True, False),
        ("frontend does not exist[h:9010]", True, False),
        ("compute node does not exists[h:9050]", True, False),
        ("FOLLOWER does not exist[h:9010]", True, False),
        ("Failed to acquire globalStateMgr lock. Try again", False, True),
        ("frontend name already exists a_9010_1. Try again", False, True),
        ("can not drop current master node.", False, False),
        ("unknown fqdn host: h", False, False),
    ],
)
def test_what_error_texts_mean(error: str, already: bool, busy: bool) -> None:
    assert (means_already_so(error), means_busy(error)) == (already, busy)
