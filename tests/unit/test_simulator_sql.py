"""What FE shows by version, who may ask, and how configuration comes and goes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.simulator.model import Done, Refused, Rows, Session
from lab.simulator.model.grammar import redacted
from lab.simulator.model.version import features
from lab.simulator.model.world import Options
from lab.simulator.stage import Stage


def columns(stage: Stage, sql: str, pod: str = "c-fe-0") -> tuple[str, ...]:
    outcome = stage.sql(pod, sql)
    assert isinstance(outcome, Rows)
    return outcome.columns


@pytest.mark.parametrize(
    ("version", "present", "absent"),
    [
        ("3.0.9", {"CpuUsedPct"}, {"MemLimit", "DataCacheMetrics", "Location", "StatusCode"}),
        ("3.3.9", {"MemLimit", "Location"}, {"StatusCode"}),
        ("3.4.1", {"MemLimit", "StatusCode"}, set()),
    ],
)
def test_columns_of_backends_differ_by_version(version: str, present: set[str], absent: set[str]) -> None:
    stage = Stage(version=version)
    stage.running("c", fe=1, be=1)
    names = set(columns(stage, "SHOW BACKENDS"))
    assert present <= names
    assert not absent & names


def test_newer_frontends_have_a_leading_id() -> None:
    old, new = Stage(version="3.3.9"), Stage(version="4.1.0")
    for stage in (old, new):
        stage.running("c", fe=1)
    assert columns(old, "SHOW FRONTENDS")[0] == "Name"
    assert columns(new, "SHOW FRONTENDS")[:2] == ("Id", "Name")
    assert columns(new, "SHOW PROC '/frontends'") == columns(new, "SHOW FRONTENDS")


def test_a_version_may_have_columns_that_nobody_knows() -> None:
    stage = Stage(Options(features=lambda version: replace(features(version), extra_columns=("Mood",))))
    stage.running("c", fe=1)
    assert columns(stage, "SHOW FRONTENDS")[-1] == "Mood"


def test_shared_data_shows_workers_and_warehouses() -> None:
    stage = Stage(conf={"run_mode": "shared_data"})
    stage.running("c", fe=1, cn=1)
    assert columns(stage, "SHOW COMPUTE NODES")[-4:] == ("StarletPort", "WorkerId", "WarehouseName", "TabletNum")
    assert stage.rows("c-fe-0", "SHOW BACKENDS") == []  # empty, which is neither an error nor a hang


def test_some_releases_show_no_leader_in_show_frontends_but_in_proc() -> None:
    stage = Stage(version="3.3.2")
    database = stage.running("c", fe=1)
    assert database.leader is not None
    assert {row["Role"] for row in stage.rows("c-fe-0", "SHOW FRONTENDS")} == {"FOLLOWER"}
    assert {row["Role"] for row in stage.rows("c-fe-0", "SHOW PROC '/frontends'")} == {"LEADER"}


def test_every_value_is_text_or_null() -> None:
    stage = Stage()
    stage.running("c", fe=1, be=1)
    for sql in ("SHOW FRONTENDS", "SHOW BACKENDS", "SHOW PROC '/statistic'", "SHOW PROC '/cluster_balance'"):
        for row in stage.rows("c-fe-0", sql):
            assert all(value is None or isinstance(value, str) for value in row.values())
    assert stage.rows("c-fe-0", "SHOW BACKENDS")[0]["UsedPct"] == "0.00 %"


def test_versions_are_mixed_during_a_roll() -> None:
    stage = Stage(version="3.3.9")
    stage.running("c", be=1)
    stage.delete_pod("c-be-0")
    stage.after(60)
    assert str(stage.row("c-fe-0", "SHOW BACKENDS", "c-be-0")["Version"]).startswith("3.3.9-")  # the old value
    stage.pod("c-be-0", version="3.3.10")
    stage.after(60)
    assert str(stage.row("c-fe-0", "SHOW BACKENDS", "c-be-0")["Version"]).startswith("3.3.10-")
    assert stage.rows("c-fe-0", "SELECT CURRENT_VERSION()")[0]["current_version()"].split()[0] == "3.3.9"  # type: ignore[union-attr]


def test_unknown_statements_are_syntax_errors() -> None:
    stage = Stage()
    stage.running("c", fe=1)
    for sql in ("DECOMMISSION COMPUTE NODE", "ALTER SYSTEM DECOMMISSION COMPUTE NODE 'a:1'", "SHOW NONSENSE"):
        outcome = stage.sql("c-fe-0", sql)
        assert isinstance(outcome, Refused)
        assert (outcome.code, "syntax error" in outcome.text) == (1064, True)


@pytest.mark.parametrize(
    "sql", ["show frontends", " SHOW\n FRONTENDS ;", "/* hello */ SHOW FRONTENDS", "SHOW FRONTENDS;"]
)
def test_spelling_does_not_matter(sql: str) -> None:
    stage = Stage()
    stage.running("c", fe=1)
    assert isinstance(stage.sql("c-fe-0", sql), Rows)


def test_warehouses_are_refused() -> None:
    old, new = Stage(version="3.3.9"), Stage(version="3.5.0")
    for stage in (old, new):
        stage.running("c", fe=1)
    sql = "ALTER SYSTEM ADD COMPUTE NODE 'a:9050' INTO WAREHOUSE w"
    refused = old.sql("c-fe-0", sql)
    assert isinstance(refused, Refused)
    assert "syntax error" in refused.text
    assert new.sql("c-fe-0", sql) == Refused(5901, "Warehouse name: w not exist.")


# -- accounts --------------------------------------------------------------------------------------------------


def test_a_wrong_password_is_1045() -> None:
    stage = Stage()
    stage.running("c", fe=1)
    denied = Refused(1045, "Access denied for user 'root' (using password: YES)")
    assert stage.world.authenticate("default/c-fe-0", "root", "wrong") == denied
    assert stage.world.authenticate("default/c-fe-0", "root", "") is None
    assert stage.sql("c-fe-0", "SET PASSWORD FOR 'root'@'%' = PASSWORD('x')") == Done()
    assert stage.world.authenticate("default/c-fe-0", "root", "x") is None
    assert stage.world.authenticate("default/c-fe-0", "nobody", "") is not None


def test_roles_that_are_not_active_are_5203() -> None:
    stage = Stage()
    stage.running("c", fe=1)
    for sql in (
        "CREATE USER 'sr_operator'@'%' IDENTIFIED BY 'p'",
        "CREATE ROLE sr_op",
        "GRANT OPERATE, REPOSITORY ON SYSTEM TO ROLE sr_op",
        "GRANT cluster_admin, sr_op TO USER 'sr_operator'@'%'",
    ):
        assert stage.sql("c-fe-0", sql) == Done()
    session = Session(user="sr_operator")
    outcome = stage.sql("c-fe-0", "SHOW FRONTENDS", session)
    assert isinstance(outcome, Refused)
    assert outcome.code == 5203
    assert "Inactivated role(s): [cluster_admin, sr_op]" in outcome.text
    assert stage.sql("c-fe-0", "SET ROLE ALL", session) == Done()
    assert isinstance(stage.sql("c-fe-0", "SHOW FRONTENDS", session), Rows)
    assert stage.sql("c-fe-0", "SET DEFAULT ROLE ALL TO 'sr_operator'@'%'") == Done()
    assert isinstance(stage.sql("c-fe-0", "SHOW FRONTENDS", Session(user="sr_operator")), Rows)


def test_node_is_granted_only_through_cluster_admin_and_only_by_root() -> None:
    stage = Stage()
    stage.running("c", fe=1)
    for sql in ("CREATE USER u", "CREATE ROLE r", "GRANT user_admin TO USER u", "SET DEFAULT ROLE ALL TO u"):
        assert stage.sql("c-fe-0", sql) == Done()
    assert isinstance(stage.sql("c-fe-0", "GRANT NODE ON SYSTEM TO ROLE r"), Refused)
    refused = stage.sql("c-fe-0", "GRANT cluster_admin TO USER u", Session(user="u"))
    assert refused == Refused(1064, "Can not grant root or cluster_admin role except root user")


def test_the_log_never_holds_a_password() -> None:
    assert redacted("SET PASSWORD FOR 'root' = PASSWORD('hush')") == "SET PASSWORD FOR 'root' = PASSWORD('***')"
    assert "hush" not in redacted("""ALTER USER 'u'@'%' IDENTIFIED BY "hush" """)


# -- configuration ---------------------------------------------------------------------------------------------


def setting(stage: Stage, pod: str, key: str) -> str:
    return str(stage.rows(pod, f"ADMIN SHOW FRONTEND CONFIG LIKE '{key}'")[0]["Value"])


def test_what_was_set_is_gone_with_the_process() -> None:
    stage = Stage()
    stage.running("c")
    key = "tablet_sched_max_scheduling_tablets"
    assert stage.sql("c-fe-0", f'ADMIN SET FRONTEND CONFIG ("{key}" = "0")') == Done()
    assert {setting(stage, f"c-fe-{i}", key) for i in range(3)} == {"0"}
    stage.fault("c-fe-2", "crash")
    stage.after(60)
    assert [setting(stage, f"c-fe-{i}", key) for i in range(3)] == ["0", "0", "10000"]


def test_a_frontend_that_is_down_makes_5101_and_the_others_are_changed() -> None:
    stage = Stage()
    stage.running("c")
    victim = stage.followers("c")[0]
    stage.fault(victim, "kill")
    leader = stage.leader("c")
    outcome = stage.sql(leader, 'ADMIN SET FRONTEND CONFIG ("disable_balance" = "true")')
    assert isinstance(outcome, Refused)
    assert outcome.code == 5101
    assert stage.host(victim) in outcome.text
    assert setting(stage, leader, "tablet_sched_disable_balance") == "true"
    unknown = stage.sql(leader, 'ADMIN SET FRONTEND CONFIG ("meta_dir" = "x")')
    assert unknown == Refused(5102, "Config 'meta_dir' does not exist or is not mutable")


def test_the_configuration_file_is_the_default_of_a_process() -> None:
    stage = Stage(conf={"tablet_sched_max_scheduling_tablets": "7", "query_port": "19030"})
    stage.running("c", fe=1)
    assert setting(stage, "c-fe-0", "max_scheduling_tablets") == "7"
    assert stage.rows("c-fe-0", "SHOW FRONTENDS")[0]["QueryPort"] == "19030"
