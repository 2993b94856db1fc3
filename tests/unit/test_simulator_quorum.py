"""Leaders, majorities and what a statement does without them; what each frontend sees by itself."""

from __future__ import annotations

import pytest

from lab.simulator.model import ConnectionLost, Done, Hang, Refused, Rows, Session
from lab.simulator.stage import Stage

FRONTENDS = "SHOW PROC '/frontends'"


def adding(member: str, role: str = "FOLLOWER") -> str:
    return f'ALTER SYSTEM ADD {role} "{Stage.host(member)}:9010"'


def dropping(member: str, role: str = "FOLLOWER") -> str:
    return f'ALTER SYSTEM DROP {role} "{Stage.host(member)}:9010"'


@pytest.fixture
def stage() -> Stage:
    stage = Stage()
    stage.running("c")
    return stage


def test_the_leader_can_not_be_dropped(stage: Stage) -> None:
    leader = stage.leader("c")
    assert stage.sql(leader, dropping(leader)) == Refused(1064, "can not drop current master node.")


def test_the_wrong_role_word_and_unknown_members_are_refused(stage: Stage) -> None:
    leader, follower = stage.leader("c"), stage.followers("c")[0]
    assert stage.sql(leader, dropping(follower, "OBSERVER")) == Refused(
        1064, f"OBSERVER does not exist[{stage.host(follower)}:9010]"
    )
    assert stage.sql(leader, dropping("c-fe-9")) == Refused(
        1064, f"frontend does not exist[{stage.host('c-fe-9')}:9010]"
    )


def test_an_existing_host_is_refused_by_name_and_by_address_on_any_port(stage: Stage) -> None:
    leader = stage.leader("c")
    address = stage.container("c-fe-1").facts.address
    for target in (f"{stage.host('c-fe-1')}:9010", f"{stage.host('c-fe-1')}:9011", f"{address}:9010"):
        outcome = stage.sql(leader, f'ALTER SYSTEM ADD FOLLOWER "{target}"')
        assert isinstance(outcome, Refused)
        assert outcome.text.startswith("FE with the same host: ")


def test_a_host_that_the_leader_cannot_resolve_is_refused(stage: Stage) -> None:
    leader = stage.leader("c")
    unknown = Refused(1064, f"unknown fqdn host: {stage.host('c-fe-3')}")
    assert stage.sql(leader, adding("c-fe-3")) == unknown
    stage.world.faults("default/c-fe-3").down = True
    stage.pod("c-fe-3")
    stage.fault("c-fe-3", "no-dns")
    assert stage.sql(leader, adding("c-fe-3")) == unknown


def test_add_takes_one_string_with_host_and_port(stage: Stage) -> None:
    leader = stage.leader("c")
    two = stage.sql(leader, 'ALTER SYSTEM ADD FOLLOWER "a:1", "b:1"')
    assert isinstance(two, Refused)
    assert "syntax error" in two.text
    for target in ("a", "a:", "a:99999", ":9010"):
        assert stage.sql(leader, f'ALTER SYSTEM ADD FOLLOWER "{target}"') == Refused(
            1064, "frontend host or port is wrong!"
        )


def test_there_is_no_transfer_of_leadership_by_sql(stage: Stage) -> None:
    outcome = stage.sql("c-fe-0", f'ALTER SYSTEM TRANSFER LEADER TO "{stage.host("c-fe-1")}:9010"')
    assert isinstance(outcome, Refused)
    assert "syntax error" in outcome.text


def test_dropping_a_live_follower_while_another_is_dead_ends_the_leader(stage: Stage) -> None:
    leader = stage.leader("c")
    dead, live = stage.followers("c")
    stage.fault(dead, "kill")
    stage.after(30)
    assert stage.sql(leader, dropping(live)) == ConnectionLost(10.0, "the journal write was not acknowledged")
    assert stage.marks() == ["quorum-lost-by-statement"]
    stage.after(60)
    assert stage.container(leader).restarts >= 1
    assert isinstance(stage.sql(leader, "SELECT 1"), ConnectionLost)  # refused: it waits for a majority


def test_dropping_the_dead_one_first_is_fine(stage: Stage) -> None:
    leader = stage.leader("c")
    dead, live = stage.followers("c")
    stage.fault(dead, "kill")
    stage.after(30)
    assert stage.sql(leader, dropping(dead)) == Done()
    assert stage.sql(leader, dropping(live)) == Done()
    stage.after(60)
    assert stage.leader("c") == leader
    assert stage.marks() == []


def test_of_two_followers_the_death_of_either_ends_the_leader_within_twenty_seconds() -> None:
    stage = Stage()
    stage.running("c", fe=2)
    leader = stage.leader("c")
    stage.fault(stage.followers("c")[0], "kill")
    stage.until(lambda: stage.database("c").leader is None, "the leader to exit", within=20)
    stage.after(60)
    assert isinstance(stage.sql(leader, "SELECT 1"), ConnectionLost)


def test_without_a_majority_forwarded_statements_hang_and_health_stays_good() -> None:
    stage = Stage()
    stage.running("c", fe=5)
    survivors = stage.followers("c")[:2]
    for name in (stage.leader("c"), *stage.followers("c")[2:]):
        stage.fault(name, "kill")
    stage.after(30)
    for name in survivors:
        assert isinstance(stage.sql(name, "SHOW FRONTENDS"), Hang)
        assert isinstance(stage.sql(name, dropping("c-fe-0")), Hang)
        assert stage.container(name).healthy


def test_followers_without_a_leader_serve_old_local_reads_for_five_minutes(stage: Stage) -> None:
    leader = stage.leader("c")
    survivor, other = stage.followers("c")
    for name in (leader, other):
        stage.fault(name, "kill")
    stage.after(200)
    rows = stage.rows(survivor, FRONTENDS)
    assert {row["Alive"] for row in rows} == {"true"}  # nobody is left to see them dead
    assert "LEADER" not in {row["Role"] for row in rows}
    assert stage.rows(survivor, "SELECT 1")
    stage.after(150)
    assert isinstance(stage.sql(survivor, FRONTENDS), Hang)


def test_a_lone_restart_stays_closed_until_a_majority_is_back(stage: Stage) -> None:
    names = ["c-fe-0", "c-fe-1", "c-fe-2"]
    for name in names:
        stage.fault(name, "kill")
    stage.fault("c-fe-0", "resume")
    stage.after(300)
    assert isinstance(stage.sql("c-fe-0", "SELECT 1"), ConnectionLost)
    assert (
        "wait globalStateMgr to be ready" in (stage.container("c-fe-0").frontend or pytest.fail("no process")).waiting
    )
    stage.fault("c-fe-1", "resume")
    stage.until(lambda: stage.container("c-fe-0").healthy, "two of three to elect", within=30)


def test_a_new_leader_is_elected_when_the_old_one_goes_and_statements_go_on(stage: Stage) -> None:
    old = stage.leader("c")
    stage.fault(old, "crash")
    took = stage.until(lambda: stage.database("c").leader is not None, "an election")
    assert 1 <= took <= 3
    stage.after(30)
    assert len(stage.rows(old, "SHOW FRONTENDS")) == 3


def test_leadership_may_move_to_any_follower() -> None:
    seen = set()
    for seed in range(12):
        stage = Stage(seed=seed)
        stage.running("c")
        stage.fault(stage.leader("c"), "kill")
        stage.until(lambda stage=stage: stage.database("c").leader is not None, "an election")
        seen.add(stage.leader("c"))
    assert len(seen) > 1


def test_a_dead_node_shows_alive_for_fifteen_seconds_and_more_without_an_error(stage: Stage) -> None:
    leader, victim = stage.leader("c"), stage.followers("c")[0]
    stage.fault(victim, "kill")
    stage.after(14)
    row = stage.row(leader, "SHOW FRONTENDS", victim)
    assert (row["Alive"], row["ErrMsg"]) == ("true", "")
    took = stage.until(lambda: stage.row(leader, "SHOW FRONTENDS", victim)["Alive"] == "false", "the fourth miss")
    assert 1 <= took <= 6
    row = stage.row(leader, "SHOW FRONTENDS", victim)
    assert "Connection refused" in str(row["ErrMsg"])
    assert (row["Join"], row["Version"]) == ("true", "NULL")


def test_a_short_restart_shows_only_in_the_start_time(stage: Stage) -> None:
    leader, victim = stage.leader("c"), stage.followers("c")[0]
    before = stage.row(leader, "SHOW FRONTENDS", victim)
    stage.fault(victim, "crash")
    for _ in range(20):
        stage.after(1)
        assert stage.row(leader, "SHOW FRONTENDS", victim)["Alive"] == "true"
    after = stage.row(leader, "SHOW FRONTENDS", victim)
    assert str(after["StartTime"]) > str(before["StartTime"])
    assert after["Name"] == before["Name"]


def test_the_leader_is_shown_by_its_own_answer_and_roles_are_computed_per_query(stage: Stage) -> None:
    for name in ("c-fe-0", "c-fe-1", "c-fe-2"):
        leaders = [row["IP"] for row in stage.rows(name, "SHOW FRONTENDS") if row["Role"] == "LEADER"]
        assert leaders == [stage.host(stage.leader("c"))]


def test_proc_is_local_and_lags_while_show_is_the_leaders(stage: Stage) -> None:
    leader, follower = stage.leader("c"), stage.followers("c")[0]
    stage.fault(follower, "slow", value=300)
    stage.world.faults("default/c-fe-3").down = True
    stage.pod("c-fe-3")
    assert stage.sql(leader, adding("c-fe-3")) == Done()
    stage.after(10)
    assert len(stage.rows(follower, "SHOW FRONTENDS")) == 4
    assert len(stage.rows(follower, FRONTENDS)) == 3
    session = Session()
    assert stage.sql(follower, "SET forward_to_leader = true", session) == Done()
    outcome = stage.sql(follower, FRONTENDS, session)
    assert isinstance(outcome, Rows)
    assert len(outcome.rows) == 4


def test_a_slow_follower_is_alive_and_its_journal_id_far_behind(stage: Stage) -> None:
    leader, follower = stage.leader("c"), stage.followers("c")[0]
    stage.after(600)
    stage.fault(follower, "slow", value=400)
    stage.after(500)
    slow, fast = (stage.row(leader, "SHOW FRONTENDS", name) for name in (follower, leader))
    assert slow["Alive"] == "true"
    assert int(str(fast["ReplayedJournalId"])) - int(str(slow["ReplayedJournalId"])) > 50


def test_a_laggard_is_not_elected_while_another_is_there(stage: Stage) -> None:
    slow, fast = stage.followers("c")
    stage.fault(slow, "slow", value=100)
    stage.fault(stage.leader("c"), "kill")
    stage.until(lambda: stage.database("c").leader is not None, "an election")
    assert stage.leader("c") == fast


def test_a_hung_leader_is_replaced_after_thirty_seconds_and_exits_when_it_wakes(stage: Stage) -> None:
    old, follower = stage.leader("c"), stage.followers("c")[0]
    stage.fault(old, "hang")
    assert isinstance(stage.sql(old, "SELECT 1"), Hang)
    assert isinstance(stage.sql(follower, "SHOW FRONTENDS"), Hang)
    assert not stage.container(old).healthy
    stage.after(40)
    assert stage.leader("c") != old
    stage.fault(old, "resume")
    assert stage.container(old).restarts == 1
    stage.until(lambda: stage.container(old).healthy, "it to come back as a follower", within=60)


def test_a_hung_leader_alone_leads_on_when_it_wakes() -> None:
    stage = Stage()
    stage.running("c", fe=1)
    stage.fault("c-fe-0", "hang")
    stage.after(120)
    stage.fault("c-fe-0", "resume")
    assert stage.rows("c-fe-0", "SHOW FRONTENDS")


def test_who_goes_while_the_leader_hangs_is_seen_dead_when_it_wakes() -> None:
    stage = Stage()
    stage.running("c", be=1)
    leader = stage.leader("c")
    stage.fault(leader, "hang")
    stage.fault("c-be-0", "kill")
    stage.after(12)
    stage.fault(leader, "resume")
    stage.until(lambda: not stage.database("c").state.nodes[0].alive, "the backend to be seen dead", within=60)


def test_a_dropped_follower_serves_old_reads_until_it_stops(stage: Stage) -> None:
    leader, leaver = stage.leader("c"), stage.followers("c")[0]
    assert stage.sql(leader, dropping(leaver)) == Done()
    stage.after(20)
    assert stage.container(leaver).healthy
    assert len(stage.rows(leaver, FRONTENDS)) == 3  # it does not know yet
    assert isinstance(stage.sql(leaver, "SHOW FRONTENDS"), Hang)
    stage.after(300)
    assert isinstance(stage.sql(leaver, FRONTENDS), Hang)


def test_a_reply_can_get_lost_after_the_statement_was_done(stage: Stage) -> None:
    leader, leaver = stage.leader("c"), stage.followers("c")[0]
    stage.fault(leader, "lose-reply", value=1)
    assert isinstance(stage.sql(leader, dropping(leaver)), ConnectionLost)
    again = stage.sql(leader, dropping(leaver))
    assert isinstance(again, Refused)
    assert "does not exist" in again.text


def test_a_request_can_get_lost_before_the_statement_was_done(stage: Stage) -> None:
    leader, leaver = stage.leader("c"), stage.followers("c")[0]
    stage.fault(leader, "lose-request", value=2)
    assert stage.sql(leader, "SELECT 1") != ConnectionLost()
    assert isinstance(stage.sql(leader, dropping(leaver)), ConnectionLost)
    assert stage.sql(leader, dropping(leaver)) == Done()


def test_the_lock_may_be_busy(stage: Stage) -> None:
    leader, leaver = stage.leader("c"), stage.followers("c")[0]
    stage.fault(leader, "lock-busy", value=1)
    assert stage.sql(leader, dropping(leaver)) == Refused(1064, "Failed to acquire globalStateMgr lock. Try again")
    assert stage.sql(leader, dropping(leaver)) == Done()


def test_a_joining_member_does_not_count_until_it_was_seen_alive_by_the_same_leader() -> None:
    stage = Stage()
    database = stage.running("c", fe=1)
    stage.pod("c-fe-1")
    stage.until(lambda: len(database.group) == 2, "the second to join")
    assert database.has_quorum()
    stage.fault("c-fe-1", "kill")
    stage.after(60)
    assert database.has_quorum()  # it never was alive, so the leader is lenient
    stage.fault("c-fe-0", "crash")
    stage.after(120)
    assert database.leader is None  # ... until the leader has changed


def test_one_to_three_needs_both_at_size_two() -> None:
    stage = Stage()
    database = stage.running("c", fe=1)
    stage.pod("c-fe-1")
    stage.until(lambda: all(row.alive for row in database.state.frontends) and len(database.group) == 2, "both")
    stage.fault("c-fe-1", "kill")
    stage.until(lambda: database.leader is None, "the leader to exit", within=20)


def test_modify_frontend_host(stage: Stage) -> None:
    leader, follower = stage.leader("c"), stage.followers("c")[0]
    modify = 'ALTER SYSTEM MODIFY FRONTEND HOST "{}" TO "{}"'
    unknown = stage.sql(leader, modify.format("nobody", stage.host("c-fe-0")))
    assert unknown == Refused(1064, "frontend [nobody] not found")
    own = stage.sql(leader, modify.format(stage.host(leader), "x"))
    assert own == Refused(1064, "can not modify current master node.")
    taken = stage.sql(leader, modify.format(stage.host(follower), stage.host(leader)))
    assert taken == Refused(1064, f"frontend with host [{stage.host(leader)}] already exists ")
    assert stage.sql(leader, modify.format("127.0.0.1", "127.0.0.2")) == Refused(1064, "Can't change ip to ip")


def test_the_service_leads_to_any_ready_frontend(stage: Stage) -> None:
    reached = {stage.world.service(("default", "c")) for _ in range(50)}
    assert len(reached) == 3
    for name in ("c-fe-0", "c-fe-1"):
        stage.fault(name, "leave")
    assert {process.facts.name for _ in range(20) if (process := stage.world.service(("default", "c")))} == {"c-fe-2"}
