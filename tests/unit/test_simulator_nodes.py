"""Backends and compute nodes: heartbeats, registration, tablets, decommission, and every way to lose data."""

from __future__ import annotations

import pytest

from lab.simulator.model import Component, Done, Refused
from lab.simulator.model.database import Database
from lab.simulator.model.world import Options
from lab.simulator.stage import Stage


def backend(member: str) -> str:
    return f"{Stage.host(member)}:9050"


def row(stage: Stage, member: str, what: str = "BACKENDS") -> dict[str, str | None]:
    return dict(stage.row(stage.leader("c"), f"SHOW {what}", member))


def tablets(stage: Stage) -> dict[str, int]:
    """Tablets by the ordinal's pod name, for the backends that FE lists."""
    rows = stage.rows(stage.leader("c"), "SHOW BACKENDS")
    return {str(row["IP"]).split(".")[0]: int(str(row["TabletNum"])) for row in rows}


def unhealthy(stage: Stage) -> int:
    return int(str(stage.rows(stage.leader("c"), "SHOW PROC '/statistic'")[-1]["UnhealthyTabletNum"]))


@pytest.fixture
def stage() -> Stage:
    stage = Stage(version="3.4.2")
    stage.running("c", fe=1, be=3, cn=1)
    return stage


@pytest.fixture
def database(stage: Stage) -> Database:
    return stage.database("c")


# -- heartbeats ------------------------------------------------------------------------------------------------


def test_a_new_backend_is_connecting_until_its_first_heartbeat(stage: Stage) -> None:
    assert stage.sql("c-fe-0", 'ALTER SYSTEM ADD BACKEND "10.0.0.1:9050"') == Done()
    new = next(row for row in stage.rows("c-fe-0", "SHOW BACKENDS") if row["IP"] == "10.0.0.1")
    assert (new["StatusCode"], new["Alive"]) == ("CONNECTING", "false")
    assert {new["BePort"], new["HttpPort"], new["BrpcPort"]} == {"-1"}
    assert {new["LastStartTime"], new["LastHeartbeat"]} == {None}


def test_a_dead_backend_shows_alive_until_the_fourth_miss(stage: Stage) -> None:
    stage.fault("c-be-0", "kill")
    stage.after(14)
    assert (row(stage, "c-be-0")["Alive"], row(stage, "c-be-0")["ErrMsg"]) == ("true", "")
    stage.after(7)
    dead = row(stage, "c-be-0")
    assert (dead["Alive"], dead["StatusCode"]) == ("false", "DISCONNECTED")
    assert dead["ErrMsg"]
    assert str(dead["Version"]).startswith("3.4.2")


def test_a_graceful_stop_is_seen_at_once(stage: Stage) -> None:
    stage.delete_pod("c-be-0")
    stage.after(5)
    gone = row(stage, "c-be-0")
    assert (gone["Alive"], gone["StatusCode"], gone["ErrMsg"]) == ("false", "SHUTDOWN", "BE is shutting down")
    stage.after(30)
    assert row(stage, "c-be-0")["StatusCode"] == "DISCONNECTED"


def test_a_short_restart_shows_only_in_the_last_start_time(stage: Stage) -> None:
    before = row(stage, "c-be-0")
    stage.fault("c-be-0", "crash")
    stage.after(30)
    after = row(stage, "c-be-0")
    assert after["Alive"] == "true"
    assert str(after["LastStartTime"]) > str(before["LastStartTime"])
    assert after["BackendId"] == before["BackendId"]


def test_a_hung_backend_dies_and_recovers(stage: Stage) -> None:
    stage.fault("c-be-0", "hang")
    stage.after(30)
    assert row(stage, "c-be-0")["Alive"] == "false"
    stage.fault("c-be-0", "resume")
    stage.after(6)
    assert row(stage, "c-be-0")["Alive"] == "true"


def test_a_compute_node_added_as_backend_never_lives(stage: Stage) -> None:
    target = backend("c-cn-0")
    assert stage.sql("c-fe-0", f'ALTER SYSTEM DROP COMPUTE NODE "{target}"') == Done()
    assert stage.sql("c-fe-0", f'ALTER SYSTEM ADD BACKEND "{target}"') == Done()
    stage.after(60)
    wrong = row(stage, "c-cn-0")
    assert wrong["Alive"] == "false"
    assert wrong["ErrMsg"] == "expect to be BE but actually CN,Unmatched node type!"


@pytest.mark.parametrize(
    ("fault", "text"),
    [("foreign-storage", "Unmatched cluster id"), ("wrong-address", "FE saved address not match backend address")],
)
def test_a_backend_that_does_not_match_is_never_alive(stage: Stage, fault: str, text: str) -> None:
    stage.fault("c-be-0", fault)
    stage.after(60)
    assert (row(stage, "c-be-0")["Alive"], row(stage, "c-be-0")["ErrMsg"]) == ("false", text)


def test_storage_of_another_cluster_stays_foreign(stage: Stage) -> None:
    stage.running("d", fe=1)
    stage.pod("d-be-0", volume="claim:c-be-0")
    stage.after(60)
    assert stage.row("d-fe-0", "SHOW BACKENDS", "d-be-0")["ErrMsg"] == "Unmatched cluster id"


# -- registration ----------------------------------------------------------------------------------------------


def test_duplicates_are_found_by_string_only(stage: Stage) -> None:
    again = stage.sql("c-fe-0", f'ALTER SYSTEM ADD BACKEND "{backend("c-be-0")}"')
    text = f"Backend already exists with same host {stage.host('c-be-0')} and port 9050"
    assert again == Refused(1064, text)
    address = stage.container("c-be-0").facts.address
    assert stage.sql("c-fe-0", f'ALTER SYSTEM ADD BACKEND "{address}:9050"') == Done()
    stage.after(10)
    rows = stage.rows("c-fe-0", "SHOW BACKENDS")
    assert len({row["BackendId"] for row in rows}) == 4
    assert {row["Alive"] for row in rows} == {"true"}


def test_backends_and_compute_nodes_share_one_namespace(stage: Stage) -> None:
    outcome = stage.sql("c-fe-0", f'ALTER SYSTEM ADD BACKEND "{backend("c-cn-0")}"')
    assert isinstance(outcome, Refused)
    assert outcome.text.startswith("Compute node already exists with same host")


def test_a_dropped_backend_that_restarts_registers_again_under_a_new_id(stage: Stage) -> None:
    old = row(stage, "c-be-2")["BackendId"]
    assert stage.sql("c-fe-0", f'ALTER SYSTEM DROP BACKEND "{backend("c-be-2")}"') == Done()
    assert stage.container("c-be-2").healthy  # nothing stops it
    stage.fault("c-be-2", "crash")
    stage.after(30)
    assert row(stage, "c-be-2")["BackendId"] not in (old, None)


def test_unknown_nodes_can_not_be_dropped(stage: Stage) -> None:
    assert stage.sql("c-fe-0", "ALTER SYSTEM DROP BACKEND 'x:9050'") == Refused(1064, "backend does not exists[x:9050]")
    unknown = stage.sql("c-fe-0", "ALTER SYSTEM DROP COMPUTE NODE 'x:9050'")
    assert unknown == Refused(1064, "compute node does not exists[x:9050]")


def test_a_multi_target_drop_fails_half_way(stage: Stage) -> None:
    outcome = stage.sql("c-fe-0", f'ALTER SYSTEM DROP BACKEND "{backend("c-be-2")}", "x:9050"')
    assert isinstance(outcome, Refused)
    assert len(stage.rows("c-fe-0", "SHOW BACKENDS")) == 2


# -- tablets ---------------------------------------------------------------------------------------------------


def test_tablets_are_spread_and_counted(stage: Stage, database: Database) -> None:
    database.tablets.create_table("db", "t", replication=3, tablets=10)
    database.tablets.create_table("db", "s", replication=1, tablets=6)
    assert tablets(stage) == {"c-be-0": 12, "c-be-1": 12, "c-be-2": 12}
    assert unhealthy(stage) == 0
    assert stage.rows("c-fe-0", "SELECT COUNT(*) FROM db.t")


def test_dropping_a_single_copy_is_refused_unless_forced(stage: Stage, database: Database) -> None:
    database.tablets.create_table("db", "s", replication=1, tablets=3)
    refused = stage.sql("c-fe-0", f'ALTER SYSTEM DROP BACKEND "{backend("c-be-0")}"')
    assert isinstance(refused, Refused)
    assert "have only one replica" in refused.text
    assert stage.sql("c-fe-0", f'ALTER SYSTEM DROP BACKEND "{backend("c-be-0")}" FORCE') == Done()
    assert stage.marks() == ["drop-with-tablets", "tablet-lost"]
    assert len(stage.world.losses) == 1


def test_dropping_backends_faster_than_repair_loses_data_without_an_error(stage: Stage, database: Database) -> None:
    database.tablets.create_table("db", "t", replication=2, tablets=3)
    for name in ("c-be-0", "c-be-1"):
        assert stage.sql("c-fe-0", f'ALTER SYSTEM DROP BACKEND "{backend(name)}"') == Done()
    assert stage.world.losses


def test_a_pod_deleted_with_its_volume_loses_the_only_copies(stage: Stage, database: Database) -> None:
    database.tablets.create_table("db", "s", replication=1, tablets=3)
    stage.delete_pod("c-be-0")
    stage.after(30)
    assert unhealthy(stage) == 1
    assert not stage.world.losses  # the claim is still there
    stage.delete_claim("c-be-0")
    assert len(stage.world.losses) == 1
    assert isinstance(stage.sql("c-fe-0", "SELECT COUNT(*) FROM db.s"), Refused)


def test_a_lost_copy_is_repaired_from_the_others(stage: Stage, database: Database) -> None:
    database.tablets.create_table("db", "t", replication=2, tablets=6)
    stage.fault("c-be-0", "wipe")
    assert unhealthy(stage) == 4
    stage.until(lambda: unhealthy(stage) == 0, "the repair")
    assert not stage.world.losses


def test_decommission_moves_all_tablets_and_then_drops_the_row(stage: Stage, database: Database) -> None:
    database.tablets.create_table("db", "t", replication=2, tablets=12)
    assert stage.sql("c-fe-0", f'ALTER SYSTEM DECOMMISSION BACKEND "{backend("c-be-2")}"') == Done()
    assert row(stage, "c-be-2")["SystemDecommissioned"] == "true"
    seen = {tablets(stage)["c-be-2"]}
    while "c-be-2" in tablets(stage):
        stage.after(1)
        seen.add(tablets(stage).get("c-be-2", 0))
    assert len(seen) > 2  # it takes its time
    assert tablets(stage) == {"c-be-0": 12, "c-be-1": 12}
    assert unhealthy(stage) == 0
    assert stage.marks() == []


def test_without_auto_drop_the_row_stays_at_zero(stage: Stage, database: Database) -> None:
    database.tablets.create_table("db", "t", replication=2, tablets=6)
    stage.sql("c-fe-0", 'ADMIN SET FRONTEND CONFIG ("drop_backend_after_decommission" = "false")')
    stage.sql("c-fe-0", f'ALTER SYSTEM DECOMMISSION BACKEND "{backend("c-be-2")}"')
    stage.after(600)
    assert tablets(stage)["c-be-2"] == 0
    assert stage.sql("c-fe-0", f'ALTER SYSTEM DROP BACKEND "{backend("c-be-2")}"') == Done()
    assert stage.marks() == []


def test_decommission_is_refused_for_too_few_backends_and_for_space(stage: Stage, database: Database) -> None:
    database.tablets.create_table("db", "t", replication=3, tablets=2)
    refused = stage.sql("c-fe-0", f'ALTER SYSTEM DECOMMISSION BACKEND "{backend("c-be-2")}"')
    assert isinstance(refused, Refused)
    assert "the table db.t requires 3 replicas" in refused.text
    database.tablets.create_table("db", "big", replication=1, tablets=3, tablet_gb=900)
    refused = stage.sql("c-fe-0", f'ALTER SYSTEM DECOMMISSION BACKEND "{backend("c-be-2")}"')
    text = "It will cause insufficient disk space if these BEs are decommissioned."
    assert refused == Refused(1064, text)


@pytest.mark.parametrize(("version", "refused"), [("3.3.9", True), ("3.5.0", False)])
def test_older_releases_count_the_statistics_tables(version: str, refused: bool) -> None:
    stage = Stage(version=version)
    stage.running("c", fe=1, be=3).tablets.create_table("_statistics_", "column_statistics", replication=3, tablets=1)
    outcome = stage.sql("c-fe-0", f'ALTER SYSTEM DECOMMISSION BACKEND "{backend("c-be-2")}"')
    assert isinstance(outcome, Refused) is refused


def test_cancel_is_idempotent_and_what_moved_stays(stage: Stage, database: Database) -> None:
    database.tablets.create_table("db", "t", replication=2, tablets=30)
    cancel = f'CANCEL DECOMMISSION BACKEND "{backend("c-be-2")}"'
    stage.sql("c-fe-0", f'ALTER SYSTEM DECOMMISSION BACKEND "{backend("c-be-2")}"')
    stage.until(lambda: 0 < tablets(stage)["c-be-2"] < 12, "half of it to move")
    moved = tablets(stage)["c-be-2"]
    assert stage.sql("c-fe-0", cancel) == Done()
    assert stage.sql("c-fe-0", cancel) == Done()
    stage.after(300)
    assert tablets(stage)["c-be-2"] == moved
    assert row(stage, "c-be-2")["SystemDecommissioned"] == "false"
    unknown = stage.sql("c-fe-0", 'CANCEL DECOMMISSION BACKEND "x:9050"')
    assert unknown == Refused(1064, "Backend does not exist[x:9050]")


def test_decommission_stalls_while_scheduling_is_off(stage: Stage, database: Database) -> None:
    database.tablets.create_table("db", "t", replication=2, tablets=6)
    stage.sql("c-fe-0", 'ADMIN SET FRONTEND CONFIG ("tablet_sched_max_scheduling_tablets" = "0")')
    stage.sql("c-fe-0", f'ALTER SYSTEM DECOMMISSION BACKEND "{backend("c-be-2")}"')
    stage.after(3600)
    assert tablets(stage)["c-be-2"] == 4
    stage.sql("c-fe-0", 'ADMIN SET FRONTEND CONFIG ("tablet_sched_max_scheduling_tablets" = "10000")')
    stage.until(lambda: "c-be-2" not in tablets(stage), "it to go on")


def test_decommission_stalls_on_the_recycle_bin(stage: Stage, database: Database) -> None:
    database.tablets.create_table("db", "t", replication=2, tablets=6)
    database.tablets.drop_table("db", "t")
    stage.sql("c-fe-0", f'ALTER SYSTEM DECOMMISSION BACKEND "{backend("c-be-2")}"')
    stage.after(3600)
    assert tablets(stage)["c-be-2"] == 4
    database.tablets.empty_recycle_bin()
    stage.until(lambda: "c-be-2" not in tablets(stage), "it to go on")


def test_decommission_stalls_when_another_backend_dies(stage: Stage, database: Database) -> None:
    database.tablets.create_table("db", "t", replication=2, tablets=30)
    stage.sql("c-fe-0", f'ALTER SYSTEM DECOMMISSION BACKEND "{backend("c-be-2")}"')
    stage.fault("c-be-1", "kill")
    stage.after(600)
    left = tablets(stage)["c-be-2"]
    assert left > 0
    stage.after(600)
    assert tablets(stage)["c-be-2"] == left
    stage.fault("c-be-1", "resume")
    stage.until(lambda: "c-be-2" not in tablets(stage), "it to go on")
    assert not stage.world.losses


def test_shared_data_has_nothing_to_move() -> None:
    stage = Stage(conf={"run_mode": "shared_data"})
    stage.running("c", fe=1, be=2)
    assert stage.sql("c-fe-0", f'ALTER SYSTEM DROP BACKEND "{backend("c-be-1")}"') == Done()
    assert stage.marks() == []


def test_restarts_one_by_one_lose_nothing() -> None:
    stage = Stage(Options())
    database = stage.running("c", fe=3, be=5)
    database.tablets.create_table("db", "t", replication=3, tablets=50)
    for step in range(60):
        stage.fault(f"c-be-{step % 5}", "crash")
        stage.after(120)
    assert not stage.world.losses
    assert len(database.state.of_kind(Component.BE)) == 5
