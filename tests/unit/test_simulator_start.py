"""How frontends, backends and compute nodes come up: founding, joining, and everything that keeps them from it."""

from __future__ import annotations

import pytest

from lab.simulator.model import ConnectionLost, Done, Refused, World
from lab.simulator.stage import Stage


def adding(member: str, role: str = "FOLLOWER", port: int = 9010) -> str:
    return f'ALTER SYSTEM ADD {role} "{Stage.host(member)}:{port}"'


def dropping(member: str, role: str = "FOLLOWER", port: int = 9010) -> str:
    return f'ALTER SYSTEM DROP {role} "{Stage.host(member)}:{port}"'


def test_images_start_a_cluster_by_themselves() -> None:
    stage = Stage()
    stage.running("c", fe=3, be=3, cn=2)
    frontends = stage.rows("c-fe-1", "SHOW FRONTENDS")
    assert sorted(str(row["Role"]) for row in frontends) == ["FOLLOWER", "FOLLOWER", "LEADER"]
    assert {row["Join"] for row in frontends} == {row["Alive"] for row in frontends} == {"true"}
    assert len(stage.rows("c-fe-2", "SHOW BACKENDS")) == 3
    assert len(stage.rows("c-fe-2", "SHOW COMPUTE NODES")) == 2
    assert stage.marks() == []


def test_the_images_pod_zero_waits_thirty_seconds_before_it_founds() -> None:
    stage = Stage()
    stage.cluster("c", fe=1)
    stage.after(29)
    assert not stage.world.databases
    stage.after(5)
    assert len(stage.world.databases) == 1


def test_other_ordinals_of_the_image_give_up_after_two_minutes_and_start_again() -> None:
    stage = Stage()
    stage.pod("c-fe-1")
    stage.after(119)
    assert stage.container("c-fe-1").restarts == 0
    stage.after(5)
    assert stage.container("c-fe-1").restarts == 1
    assert not stage.world.databases


def test_the_image_founds_a_second_cluster_when_pod_zero_comes_back_alone_and_empty() -> None:
    stage = Stage()
    stage.running("c")
    for name in ("c-fe-1", "c-fe-2"):
        stage.fault(name, "kill")
    stage.delete_pod("c-fe-0")
    stage.delete_claim("c-fe-0")
    stage.pod("c-fe-0")
    stage.after(60)
    assert "second-cluster" in stage.marks()
    assert len(stage.world.databases) == 2
    rows = stage.rows("c-fe-0", "SHOW FRONTENDS")  # and it answers happily
    assert [row["Role"] for row in rows] == ["LEADER"]
    assert stage.rows("c-fe-0", "SHOW BACKENDS") == []


def test_our_start_script_founds_once_and_then_only_joins() -> None:
    stage = Stage()
    stage.running("c", **stage.safe("c"))
    founded = stage.database("c").cluster_id
    stage.surroundings.markers["default", "c"]["cluster-id"] = str(founded)
    for name in ("c-fe-1", "c-fe-2"):
        stage.fault(name, "kill")
    stage.delete_pod("c-fe-0")
    stage.delete_claim("c-fe-0")
    stage.pod("c-fe-0", entrypoint=stage.container("c-fe-1").facts.entrypoint)
    stage.after(3600)
    assert len(stage.world.databases) == 1
    assert stage.marks() == []
    assert "waiting" in stage.container("c-fe-0").activity


@pytest.mark.parametrize("marker", [None, "4711"])
def test_our_start_script_founds_nothing_without_an_empty_marker(marker: str | None) -> None:
    stage = Stage()
    pods = stage.safe("c", marker=marker or "")
    if marker is None:
        del stage.surroundings.markers["default", "c"]
    stage.cluster("c", fe=3, **pods)
    stage.after(3600)
    assert not stage.world.databases


def test_our_start_script_waits_when_peers_are_there_and_name_no_leader() -> None:
    stage = Stage()
    pods = stage.safe("c")
    stage.running("c", **pods)
    for name in stage.followers("c"):
        stage.fault(name, "hang")
    leader = stage.leader("c")
    stage.delete_pod(leader)
    stage.delete_claim(leader)
    stage.pod(leader, **pods)
    stage.after(600)
    assert "name no leader" in stage.container(leader).activity
    assert len(stage.world.databases) == 1


def test_our_start_script_does_not_join_a_foreign_cluster() -> None:
    stage = Stage()
    stage.running("c", fe=1, **stage.safe("c"))
    stage.surroundings.markers["default", "c"]["cluster-id"] = "4711"
    stage.pod("c-fe-1", entrypoint=stage.container("c-fe-0").facts.entrypoint)
    stage.after(600)
    assert "but this cluster is 4711" in stage.container("c-fe-1").activity
    assert len(stage.database("c").state.frontends) == 1


def test_our_start_script_adds_an_observer_when_told_so() -> None:
    stage = Stage()
    pods = stage.safe("c")
    stage.running("c", fe=1, **pods)
    stage.pod("c-fe-1", observer=True, **pods)
    stage.until(lambda: len(stage.database("c").group) == 2, "the observer to join")
    assert stage.row("c-fe-0", "SHOW FRONTENDS", "c-fe-1")["Role"] == "OBSERVER"
    assert len(stage.database("c").electable()) == 1


def test_observers_of_their_own_group_join_and_never_found() -> None:
    stage = Stage()
    pods = stage.safe("c")
    stage.pod("c-fe-observer-0", **pods)
    stage.after(3600)
    assert not stage.world.databases
    stage.pod("c-fe-0", **pods)
    stage.until(lambda: len(stage.world.databases) == 1 and len(stage.database("c").group) == 2, "it to join")
    assert stage.row("c-fe-0", "SHOW FRONTENDS", "c-fe-observer-0")["Role"] == "OBSERVER"
    assert stage.followers("c") == []
    assert [pod.facts.name for pod in stage.world.frontends(("default", "c"))] == ["c-fe-0"], "behind the Service"


def test_add_only_registers() -> None:
    stage = Stage()
    stage.running("c", fe=1)
    stage.world.faults("default/c-fe-1").down = True
    stage.pod("c-fe-1")
    assert stage.sql("c-fe-0", adding("c-fe-1")) == Done()
    stage.after(60)
    row = stage.row("c-fe-0", "SHOW FRONTENDS", "c-fe-1")
    assert (row["Join"], row["Alive"], row["QueryPort"], row["RpcPort"]) == ("false", "false", "0", "0")
    assert (row["ReplayedJournalId"], row["LastHeartbeat"]) == ("0", None)
    assert (row["StartTime"], row["Version"]) == ("NULL", "NULL")
    assert len(stage.database("c").electable()) == 1  # so the group has not grown, and one is enough
    assert isinstance(stage.sql("c-fe-0", adding("c-fe-1")), Refused)


def test_join_comes_with_the_process_and_alive_one_heartbeat_later() -> None:
    stage = Stage()
    stage.running("c", fe=1)
    stage.pod("c-fe-1")
    stage.until(lambda: len(stage.database("c").group) == 2, "the process to join")
    row = stage.row("c-fe-0", "SHOW FRONTENDS", "c-fe-1")
    assert (row["Join"], row["Alive"]) == ("true", "false")
    took = stage.until(lambda: stage.row("c-fe-0", "SHOW FRONTENDS", "c-fe-1")["Alive"] == "true", "alive")
    assert 0 < took <= 10


def test_a_frontend_that_was_not_added_loops_with_its_ports_closed() -> None:
    stage = Stage()
    stage.running("c", fe=1)
    stage.pod("c-fe-1")
    stage.until(lambda: "c-fe-1" in str(stage.database("c").state.frontends), "the entrypoint to add it")
    assert stage.sql("c-fe-0", dropping("c-fe-1")) == Done()
    stage.after(300)
    assert "please add it first" in stage.container("c-fe-1").activity
    assert isinstance(stage.sql("c-fe-1", "SELECT 1"), ConnectionLost)
    assert not stage.container("c-fe-1").healthy
    assert stage.sql("c-fe-0", adding("c-fe-1")) == Done()
    stage.until(lambda: stage.container("c-fe-1").healthy, "it to join", within=30)


def test_a_dropped_frontend_crash_loops_with_its_old_meta_until_wiped_and_added_again() -> None:
    stage = Stage()
    stage.running("c")
    leaver = stage.followers("c")[0]
    old_name = stage.row(stage.leader("c"), "SHOW FRONTENDS", leaver)["Name"]
    assert stage.sql(stage.leader("c"), dropping(leaver)) == Done()
    stage.fault(leaver, "crash")
    stage.after(120)
    assert stage.container(leaver).restarts >= 3
    assert "not added to the cluster" in stage.container(leaver).exit_reason
    assert stage.sql(stage.leader("c"), adding(leaver)) == Done()
    stage.after(400)
    assert not stage.container(leaver).healthy  # added again, but still with the old meta
    stage.fault(leaver, "wipe")
    stage.until(lambda: stage.container(leaver).healthy, "it to join anew")
    assert stage.row(stage.leader("c"), "SHOW FRONTENDS", leaver)["Name"] != old_name


def test_a_half_made_first_start_crash_loops() -> None:
    stage = Stage()
    stage.running("c")
    victim = stage.followers("c")[0]
    stage.fault(victim, "half-made")
    stage.after(120)
    assert stage.container(victim).restarts >= 3
    assert not stage.container(victim).healthy


def test_a_lost_volume_needs_drop_and_add() -> None:
    stage = Stage()
    stage.running("c")
    victim = stage.followers("c")[0]
    stage.delete_pod(victim)
    stage.delete_claim(victim)
    stage.pod(victim)
    stage.after(300)
    assert "must be dropped and added again" in stage.container(victim).activity
    leader = stage.leader("c")
    assert stage.row(leader, "SHOW FRONTENDS", victim)["Alive"] == "false"
    assert stage.sql(leader, dropping(victim)) == Done()
    assert stage.sql(leader, adding(victim)) == Done()
    stage.until(lambda: stage.container(victim).healthy, "it to join again", within=60)
    assert stage.marks() == []


def test_our_script_with_a_lost_volume_joins_after_drop_and_add() -> None:
    stage = Stage()
    pods = stage.safe("c")
    stage.running("c", **pods)
    victim = stage.followers("c")[0]
    stage.delete_pod(victim)
    stage.delete_claim(victim)
    stage.pod(victim, **pods)
    stage.after(300)
    assert "waiting to be dropped" in stage.container(victim).activity
    assert stage.sql(stage.leader("c"), dropping(victim)) == Done()
    stage.until(lambda: stage.container(victim).healthy, "it to join again", within=60)


def test_the_volume_of_the_only_frontend_is_the_end_of_its_tables() -> None:
    stage = Stage()
    database = stage.running("c", fe=1, be=1)
    database.tablets.create_table("db", "t", replication=1, tablets=3)
    stage.delete_pod("c-fe-0")
    stage.delete_claim("c-fe-0")
    assert "meta-lost" in stage.marks()
    assert stage.world.losses


def test_empty_dirs_die_with_the_pod_and_claims_do_not() -> None:
    stage = Stage()
    stage.running("c")
    kept, lost = stage.followers("c")
    stage.delete_pod(kept)
    stage.pod(kept)
    stage.until(lambda: stage.container(kept).healthy, "the one with a claim to come back", within=60)
    assert stage.container(kept).volume.meta is not None
    stage.delete_pod(lost)
    stage.pod(lost, volume="pod:x", volume_dies_with="pod")
    stage.after(60)
    assert not stage.container(lost).healthy


@pytest.mark.parametrize("fault", ["clock-skew", "low-disk"])
def test_a_sick_node_never_joins(fault: str) -> None:
    stage = Stage()
    stage.running("c", fe=1)
    stage.pod("c-fe-1")
    stage.fault("c-fe-1", fault)
    stage.after(600)
    assert len(stage.database("c").group) == 1
    stage.fault("c-fe-1", "heal")
    stage.until(lambda: len(stage.database("c").group) == 2, "it to join once healed")


def test_the_helper_must_have_the_same_http_port() -> None:
    stage = Stage()
    stage.running("c", fe=1)
    stage.pod("c-fe-1", conf={"http_port": "8031"})
    stage.after(120)
    assert "http_port" in stage.container("c-fe-1").activity


def test_a_frontend_whose_run_mode_changed_exits() -> None:
    stage = Stage()
    stage.running("c")
    victim = stage.followers("c")[0]
    stage.delete_pod(victim)
    stage.pod(victim, conf={"run_mode": "shared_data"})
    stage.after(60)
    assert "run_mode" in stage.container(victim).exit_reason


def test_a_frontend_in_ip_mode_whose_address_changed_does_not_serve() -> None:
    stage = Stage(host_type="IP")
    stage.cluster("c", fe=3)
    stage.until(lambda: len(stage.world.databases) == 1 and len(stage.database("c").group) == 3, "all to join")
    stage.delete_pod("c-fe-1")
    stage.pod("c-fe-1")
    stage.after(120)
    assert not stage.container("c-fe-1").healthy
    assert "does not serve" in (stage.container("c-fe-1").frontend or pytest.fail("no process")).waiting


def test_new_pods_cannot_join_with_an_old_root_password() -> None:
    stage = Stage()
    stage.running("c", fe=1, be=1)
    assert stage.sql("c-fe-0", "SET PASSWORD = PASSWORD('secret')") == Done()
    stage.pod("c-be-1")
    stage.after(70)
    assert len(stage.database("c").state.nodes) == 1
    assert stage.container("c-be-1").restarts == 1
    assert "Access denied" in stage.container("c-be-1").exit_reason
    stage.delete_pod("c-be-1")
    stage.pod("c-be-1", password="secret")
    stage.until(lambda: len(stage.database("c").state.nodes) == 2, "it to register", within=30)


def test_backends_wait_for_a_frontend_and_then_start_again() -> None:
    stage = Stage()
    stage.cluster("c", be=1)
    stage.after(61)
    assert stage.container("c-be-0").restarts == 1
    stage.cluster("c", fe=1)
    stage.until(lambda: stage.container("c-be-0").healthy, "the backend to start")


def test_a_full_restart_needs_all_frontends_at_once() -> None:
    stage = Stage()
    stage.running("c")
    for name in ("c-fe-0", "c-fe-1", "c-fe-2"):
        stage.delete_pod(name)
    stage.pod("c-fe-0")
    stage.after(600)
    assert not stage.container("c-fe-0").healthy  # one alone never becomes ready
    stage.pod("c-fe-1")
    stage.until(lambda: stage.container("c-fe-0").healthy, "two of three to elect", within=30)


def test_a_graceful_compute_node_drops_itself_and_a_backend_never_does() -> None:
    stage = Stage()
    stage.running("c", fe=1, be=1, cn=1)
    stage.delete_pod("c-cn-0")
    stage.delete_pod("c-be-0")
    assert stage.rows("c-fe-0", "SHOW COMPUTE NODES") == []
    assert len(stage.rows("c-fe-0", "SHOW BACKENDS")) == 1


def test_two_clusters_whose_names_are_prefixes_stay_apart() -> None:
    stage = Stage()
    stage.running("c", fe=1, be=1)
    stage.running("c-fe", fe=1, be=1)
    assert len(stage.world.databases) == 2
    assert len(stage.rows("c-fe-0", "SHOW BACKENDS")) == 1
    assert stage.marks() == []


def test_a_world_repeats_itself() -> None:
    def history(seed: int) -> list[float]:
        stage = Stage(seed=seed)
        stage.running("c", fe=3, be=3)
        return [stage.world.now, stage.world.schedule.next_deadline() or 0.0]

    assert history(1) == history(1)
    assert World().now == 0.0


def test_a_deleted_cluster_leaves_no_marks_and_its_name_may_be_founded_anew() -> None:
    stage = Stage(volume_dies_with="pod")
    stage.running("c", fe=1, be=1).tablets.create_table("db", "t", replication=1, tablets=3)
    stage.surroundings.deleted.add(("default", "c"))
    for name in ("c-fe-0", "c-be-0"):
        stage.delete_pod(name)
    stage.surroundings.deleted.clear()
    stage.running("c", fe=1, be=1)
    assert stage.marks() == []
    assert len(stage.world.databases) == 2


def test_founding_anew_while_tablets_of_the_former_cluster_exist_is_marked() -> None:
    stage = Stage()
    stage.running("c", fe=1, be=1)
    stage.delete_pod("c-fe-0")
    stage.delete_claim("c-fe-0")
    stage.pod("c-fe-0")
    stage.after(120)
    assert stage.marks() == ["meta-lost", "second-cluster"]
    assert stage.rows("c-fe-0", "SHOW BACKENDS") == []  # a running backend does not register again by itself
    stage.fault("c-be-0", "crash")
    stage.after(60)
    assert stage.row("c-fe-0", "SHOW BACKENDS", "c-be-0")["ErrMsg"] == "Unmatched cluster id"


def test_a_frontend_that_the_marker_names_as_leaving_does_not_join_until_it_is_wanted() -> None:
    stage = Stage()
    profile = stage.safe("c")
    database = stage.running("c", fe=3, **profile)
    marker = stage.surroundings.markers["default", "c"]
    marker |= {"cluster-id": str(database.cluster_id), "leaving": "c-fe-3"}
    stage.pod("c-fe-3", **profile)
    stage.after(120)
    assert len(database.state.frontends) == 3
    assert "leaving" in stage.container("c-fe-3").activity
    del marker["leaving"]
    stage.until(lambda: len(database.state.frontends) == 4, "the frontend to join")
