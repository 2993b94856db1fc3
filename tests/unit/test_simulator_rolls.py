"""What a roll can break: copies that miss loads, settings that vanish, versions out of order, blind blacklists."""

from __future__ import annotations

import pytest

from lab.simulator.model import Done, Refused
from lab.simulator.model.database import Database
from lab.simulator.model.metrics import frontend_metrics
from lab.simulator.stage import Stage

OFF = 'ADMIN SET FRONTEND CONFIG ("tablet_sched_max_scheduling_tablets" = "0")'
ON = 'ADMIN SET FRONTEND CONFIG ("tablet_sched_max_scheduling_tablets" = "10000")'


def unhealthy(stage: Stage, db: str = "") -> int:
    """Of one database, or of all together, as FE counts."""
    rows = stage.rows(stage.leader("c"), "SHOW PROC '/statistic'")
    row = next(row for row in rows if row["DbName"] == db) if db else rows[-1]
    return int(str(row["UnhealthyTabletNum"]))


def balance(stage: Stage) -> dict[str, int]:
    rows = stage.rows(stage.leader("c"), "SHOW PROC '/cluster_balance'")
    return {str(row["Item"]): int(str(row["Number"])) for row in rows}


def restarted(stage: Stage, pod: str, *, away: float = 10.0, **changes: object) -> None:
    """The pod is replaced and its process runs again; FE has noticed."""
    stage.delete_pod(pod)
    stage.after(away)
    stage.pod(pod, **changes)
    stage.after(30)


@pytest.fixture
def stage() -> Stage:
    stage = Stage(version="3.4.2")
    stage.running("c", fe=3, be=3)
    return stage


@pytest.fixture
def database(stage: Stage) -> Database:
    return stage.database("c")


# -- copies that miss loads ------------------------------------------------------------------------------------


def test_a_backend_that_was_away_is_behind_until_it_is_repaired(stage: Stage, database: Database) -> None:
    database.tablets.create_table("db", "t", replication=3, tablets=12, written=True)
    stage.delete_pod("c-be-0")
    stage.after(2)
    assert unhealthy(stage) == 12, "FE knows of every failed load, long before it misses the heartbeats"
    stage.pod("c-be-0")
    stage.until(lambda: bool(balance(stage)["running_tablets"]), "the repair to begin")
    waiting = balance(stage)
    assert waiting["pending_tablets"] + waiting["running_tablets"] == unhealthy(stage) > 0
    stage.until(lambda: unhealthy(stage) == 0, "the repair to end")
    assert (balance(stage)["pending_tablets"], balance(stage)["running_tablets"]) == (0, 0)
    assert stage.marks() == []


def test_nothing_is_repaired_while_scheduling_is_off_and_none_waits(stage: Stage, database: Database) -> None:
    database.tablets.create_table("db", "t", replication=3, tablets=6, written=True)
    database.tablets.create_table("quiet", "t", replication=3, tablets=5)
    stage.sql(stage.leader("c"), OFF)
    restarted(stage, "c-be-0")
    stage.after(3600)
    assert (unhealthy(stage), unhealthy(stage, "db"), unhealthy(stage, "quiet")) == (6, 6, 0)
    assert balance(stage)["pending_tablets"] == 0
    stage.sql(stage.leader("c"), ON)
    stage.until(lambda: unhealthy(stage) == 0, "the repair")


def test_a_second_backend_that_stops_too_early_is_marked(stage: Stage, database: Database) -> None:
    database.tablets.create_table("db", "t", replication=3, tablets=6, written=True)
    stage.sql(stage.leader("c"), OFF)
    restarted(stage, "c-be-0")
    assert stage.marks() == []
    stage.delete_pod("c-be-1")
    assert stage.marks() == ["loads-refused"]
    stage.delete_pod("c-be-2")
    assert stage.marks() == ["loads-refused", "tablet-unavailable"]
    assert "6 tablets of db.t" in stage.world.violations[-1].text
    assert not stage.world.losses, "unavailable is not lost"
    for pod in ("c-be-1", "c-be-2"):
        stage.pod(pod)
    stage.after(30)
    assert unhealthy(stage) == 6, "nobody misses a load that fails"


def test_two_backends_at_once_are_marked_and_miss_nothing(stage: Stage, database: Database) -> None:
    database.tablets.create_table("db", "t", replication=3, tablets=6, written=True)
    for pod in ("c-be-0", "c-be-1"):
        stage.delete_pod(pod)
    stage.after(30)
    assert stage.marks() == ["loads-refused"]
    for pod in ("c-be-0", "c-be-1"):
        stage.pod(pod)
    stage.after(60)
    assert unhealthy(stage) == 0


@pytest.mark.parametrize("replication", [1, 2])
def test_few_copies_are_nobody_s_fault(stage: Stage, database: Database, replication: int) -> None:
    database.tablets.create_table("db", "t", replication=replication, tablets=6, written=True)
    restarted(stage, "c-be-0")
    assert (stage.marks(), unhealthy(stage)) == ([], 0)


def test_the_last_good_copy_is_the_last_copy(stage: Stage, database: Database) -> None:
    database.tablets.create_table("db", "t", replication=3, tablets=2, written=True)
    stage.sql(stage.leader("c"), OFF)
    restarted(stage, "c-be-0")
    for pod in ("c-be-1", "c-be-2"):
        stage.fault(pod, "wipe")
    assert {mark.kind for mark in stage.world.losses} == {"tablet-lost"}
    assert "only copies that missed loads" in stage.world.losses[0].text


def test_a_backend_that_hangs_misses_loads_like_one_that_is_away(stage: Stage, database: Database) -> None:
    database.tablets.create_table("db", "t", replication=3, tablets=6, written=True)
    stage.fault("c-be-0", "hang")
    stage.after(2)
    assert unhealthy(stage) == 6
    stage.fault("c-be-0", "resume")
    stage.until(lambda: unhealthy(stage) == 0, "the repair")


def test_without_a_leader_nothing_is_loaded(database: Database, stage: Stage) -> None:
    database.tablets.create_table("db", "t", replication=3, tablets=6, written=True)
    for pod in ("c-fe-0", "c-fe-1", "c-fe-2"):
        stage.fault(pod, "kill")
    stage.fault("c-be-0", "hang")
    stage.after(60)
    stage.fault("c-be-0", "resume")
    for pod in ("c-fe-0", "c-fe-1", "c-fe-2"):
        stage.fault(pod, "resume")
    stage.until(lambda: database.leader is not None and database.leader.serving, "a leader")
    assert unhealthy(stage) == 0


def test_one_load_by_hand(stage: Stage, database: Database) -> None:
    table = database.tablets.create_table("db", "t", replication=3, tablets=4)
    stage.delete_pod("c-be-0")
    stage.after(60)
    stage.sql(stage.leader("c"), OFF)
    database.tablets.loads.load(table)
    stage.pod("c-be-0")
    stage.after(60)
    assert unhealthy(stage) == 4


def test_a_careful_roll_leaves_no_mark(stage: Stage, database: Database) -> None:
    database.tablets.create_table("db", "t", replication=3, tablets=30, written=True)
    for pod in ("c-be-0", "c-be-1", "c-be-2"):
        stage.sql(stage.leader("c"), OFF)
        restarted(stage, pod, version="3.5.1")
        stage.sql(stage.leader("c"), ON)
        stage.until(lambda: unhealthy(stage) == 0, "the repair")
    for pod in [*stage.followers("c"), stage.leader("c")]:
        restarted(stage, pod, version="3.5.1")
    assert stage.marks() == []
    versions = {row["Version"] for row in stage.rows("c-fe-0", "SHOW FRONTENDS")}
    assert {str(version).partition("-")[0] for version in versions} == {"3.5.1"}


# -- settings --------------------------------------------------------------------------------------------------


def shown(stage: Stage, pod: str, like: str) -> list[tuple[str | None, ...]]:
    columns = ("Key", "AliasNames", "Value", "Type", "IsMutable")
    rows = stage.rows(pod, f"ADMIN SHOW FRONTEND CONFIG LIKE '{like}'")
    return [tuple(row[name] for name in columns) for row in rows]


def test_a_setting_by_its_name_its_old_name_and_a_pattern(stage: Stage) -> None:
    balanced = ("tablet_sched_disable_balance", "[disable_balance]", "false", "boolean", "true")
    assert shown(stage, "c-fe-0", "tablet_sched_disable_balance") == [balanced]
    assert shown(stage, "c-fe-0", "disable_balance") == [balanced]
    assert shown(stage, "c-fe-0", "http_port") == [("http_port", "[]", "8030", "int", "false")]
    assert len(shown(stage, "c-fe-0", "tablet_sched%")) > 5
    assert len(stage.rows("c-fe-0", "ADMIN SHOW FRONTEND CONFIG")) > 50


@pytest.mark.parametrize(
    ("pair", "code"),
    [('"http_port" = "1"', 5102), ('"no_such_key" = "1"', 5102), ('"qe_max_connection" = "many"', 5101)],
)
def test_what_cannot_be_set(stage: Stage, pair: str, code: int) -> None:
    outcome = stage.sql(stage.leader("c"), f"ADMIN SET FRONTEND CONFIG ({pair})")
    assert isinstance(outcome, Refused)
    assert outcome.code == code


def test_what_is_set_is_in_memory_and_the_file_comes_back(stage: Stage) -> None:
    conf = {"disable_balance": "true", "tablet_sched_max_balancing_tablets": "7"}
    victim = stage.followers("c")[0]
    restarted(stage, victim, conf=conf)
    assert shown(stage, victim, "tablet_sched_disable_balance")[0][2] == "true", "the file may say its old name"
    stage.sql(stage.leader("c"), 'ADMIN SET FRONTEND CONFIG ("max_balancing_tablets" = "0")')
    assert {shown(stage, f"c-fe-{n}", "tablet_sched_max_balancing_tablets")[0][2] for n in range(3)} == {"0"}
    stage.fault(victim, "crash")
    stage.after(60)
    assert shown(stage, victim, "tablet_sched_max_balancing_tablets")[0][2] == "7"


# -- blacklists ------------------------------------------------------------------------------------------------


def test_each_frontend_has_a_blacklist_of_its_own_and_forgets_it(stage: Stage) -> None:
    backend = stage.rows("c-fe-0", "SHOW BACKENDS")[0]["BackendId"]
    follower = stage.followers("c")[0]
    assert stage.sql(follower, f"ADD BACKEND BLACKLIST {backend}") == Done()
    listed = stage.rows(follower, "SHOW BACKEND BLACKLIST")
    assert [(row["BackendId"], row["AddBlackListType"]) for row in listed] == [(backend, "MANUAL")]
    assert stage.rows(stage.leader("c"), "SHOW BACKEND BLACKLIST") == []
    stage.fault(follower, "crash")
    stage.after(60)
    assert stage.rows(follower, "SHOW BACKEND BLACKLIST") == []
    stage.sql(follower, f"ADD BACKEND BLACKLIST {backend}")
    assert stage.sql(follower, f"DELETE BACKEND BLACKLIST {backend}") == Done()
    assert stage.rows(follower, "SHOW BACKEND BLACKLIST") == []


@pytest.mark.parametrize(("version", "backends", "compute_nodes"), [("3.2.4", 0, 0), ("3.3.9", 1, 0), ("4.0.1", 1, 1)])
def test_releases_without_a_blacklist_know_no_such_word(version: str, backends: int, compute_nodes: int) -> None:
    stage = Stage(version=version)
    stage.running("c", fe=1)
    for kind, known in (("BACKEND", backends), ("COMPUTE NODE", compute_nodes)):
        outcome = stage.sql("c-fe-0", f"ADD {kind} BLACKLIST 10001")
        assert (outcome == Done()) is bool(known)


# -- versions --------------------------------------------------------------------------------------------------


def test_a_frontend_newer_than_a_backend_is_marked_once(stage: Stage) -> None:
    victim = stage.followers("c")[0]
    restarted(stage, victim, version="3.5.1")
    assert stage.marks() == ["wrong-order"] * 3
    stage.fault(victim, "crash")
    stage.after(60)
    assert stage.marks() == ["wrong-order"] * 3
    assert f"{victim} runs 3.5.1 while c-be-0 still runs 3.4.2" in [mark.text for mark in stage.world.violations]


def test_a_backend_that_is_downgraded_before_the_frontends_is_marked(stage: Stage) -> None:
    restarted(stage, "c-be-0", version="3.3.9")
    assert stage.marks() == ["wrong-order"] * 3


def test_patches_have_no_order(stage: Stage) -> None:
    restarted(stage, stage.followers("c")[0], version="3.4.9")
    assert stage.marks() == []


def roll(stage: Stage, version: str, *, image: bool = True) -> None:
    """Backends first, the leader last: upwards; downwards the other way round."""
    backends = ["c-be-0", "c-be-1", "c-be-2"]
    if image:
        assert stage.sql(stage.leader("c"), "ALTER SYSTEM CREATE IMAGE") == Done()
        stage.after(5.0)
    frontends = [*stage.followers("c"), stage.leader("c")]
    running = stage.container("c-be-0").facts.version
    for pod in [*backends, *frontends] if version > running else [*frontends, *backends]:
        restarted(stage, pod, version=version)


def test_hop_by_hop_with_an_image_between(stage: Stage) -> None:
    roll(stage, "3.5.1", image=False)
    roll(stage, "4.0.1")
    assert stage.marks() == []


def test_an_image_takes_its_time_and_counts_with_its_process(stage: Stage) -> None:
    def written() -> list[bool]:
        processes = (stage.container(f"c-fe-{ordinal}").frontend for ordinal in range(3))
        return ["starrocks_fe_image_write 1" in frontend_metrics(process) for process in processes if process]

    leader = stage.leader("c")
    assert stage.sql(leader, "ALTER SYSTEM CREATE IMAGE") == Done()
    stage.after(1.0)
    assert not any(written())
    restarted(stage, leader)
    assert not any(written()), "it died over it"
    assert stage.sql(stage.leader("c"), "ALTER SYSTEM CREATE IMAGE") == Done()
    stage.after(5.0)
    assert sum(written()) == 1
    restarted(stage, stage.leader("c"))
    assert not any(written()), "each process counts for itself"


def test_two_hops_without_an_image_between(stage: Stage) -> None:
    roll(stage, "3.5.1", image=False)
    roll(stage, "4.0.1", image=False)
    assert set(stage.marks()) == {"no-image"}


def test_a_minor_that_is_skipped(stage: Stage) -> None:
    roll(stage, "4.0.1")
    assert set(stage.marks()) == {"skipped-minor"}


def test_back_to_the_minor_before(stage: Stage) -> None:
    roll(stage, "3.5.1")
    roll(stage, "3.4.2")
    assert stage.marks() == []
    assert {row["Alive"] for row in stage.rows("c-fe-0", "SHOW FRONTENDS")} == {"true"}


def test_older_metadata_only_one_minor_down(stage: Stage) -> None:
    roll(stage, "3.5.1")
    victim = stage.followers("c")[0]
    restarted(stage, victim, version="3.3.9")
    assert "UNKNOWN Operation Type" in stage.container(victim).exit_reason
    assert stage.marks() == ["forbidden-downgrade"]
    restarted(stage, victim, version="3.5.1")
    assert stage.container(victim).healthy


# -- backups and broken processes ------------------------------------------------------------------------------


def test_a_backup_that_runs_can_be_seen(stage: Stage, database: Database) -> None:
    leader = stage.leader("c")
    assert stage.rows(leader, "SHOW BACKUP FROM db") == []
    database.backups.begin("db", "nightly", "backup")
    row = stage.rows(leader, "SHOW BACKUP FROM db")[0]
    assert (row["SnapshotName"], row["DbName"], row["State"]) == ("nightly", "db", "UPLOADING")
    assert stage.rows(leader, "SHOW RESTORE FROM db") == []
    assert "starrocks_fe_unfinished_backup_job 1\n" in metrics(stage)
    database.backups.end("db")
    assert stage.rows(leader, "SHOW BACKUP FROM db")[0]["State"] == "FINISHED"
    assert "starrocks_fe_unfinished_backup_job 0\n" in metrics(stage)


def metrics(stage: Stage) -> str:
    frontend = stage.container(stage.leader("c")).frontend
    assert frontend is not None
    return frontend_metrics(frontend)


@pytest.mark.parametrize("change", [{"version": "3.4.3-broken"}, {"conf": {"crash_on_start": "true"}}])
@pytest.mark.parametrize("pod", ["c-be-0", "c-fe-0"])
def test_a_broken_image_or_file_makes_a_crash_loop_until_it_is_mended(
    stage: Stage, pod: str, change: dict[str, object]
) -> None:
    restarted(stage, pod, **change)
    stage.after(120)
    assert not stage.container(pod).healthy
    assert stage.container(pod).restarts > 2
    restarted(stage, pod)
    assert stage.container(pod).healthy
