"""Frontends that are no longer wanted, cell by cell, and what holds them back: decided in a whole world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from starrocks_operator.decision import Decision
from starrocks_operator.membership import frontends
from starrocks_operator.membership.departure import MAX_JOURNAL_LAG
from starrocks_operator.membership.frontend_table import ORDER, TABLE, Move, Standing, Wish
from starrocks_operator.membership.quorum import OUTAGE_CONSENT
from starrocks_operator.observed import FrontendAnswer, Outcome
from starrocks_operator.status import status_of
from starrocks_operator.step import StepKind
from tests.unit.membership_world import World, at, claim, frontend_row, host, pod

LEADER = "LEADER"


def scaled_in(fe: int, to: int, *, leader: int = 0) -> World:
    """So many frontends, of which the spec wants only so many."""
    world = World(fe=fe)
    world.raw["spec"]["starRocksFeSpec"]["replicas"] = to
    world.settle()
    lead(world, leader)
    return world


def lead(world: World, leader: int) -> None:
    for index, row in enumerate(world.frontends):
        world.frontends[index] = replace(row, role=LEADER if index == leader else "FOLLOWER")
    world.look()


def change(world: World, ordinal: int, **changes: Any) -> None:
    world.frontends[ordinal] = replace(world.frontends[ordinal], **changes)
    world.look()


def release(world: World, replicas: int) -> None:
    """The StatefulSet has shrunk and the pods are gone."""
    workload = world.get("StatefulSet", "sample-fe")
    for ordinal in range(replicas, workload["spec"]["replicas"]):
        world.remove("Pod", f"sample-fe-{ordinal}")
    workload["spec"]["replicas"] = replicas
    world.settle()


def taken(decision: Decision) -> tuple[str, str]:
    """Kind of the step, and on whom."""
    step = decision.step
    return (str(step.kind), step.fact("pod") or step.target.split(".")[0]) if step else ("", "")


def test_the_table_has_every_cell_and_every_move_its_turn() -> None:
    assert set(TABLE) == set(product(Wish, Standing))
    assert sorted(ORDER) == sorted(Move)
    assert frontends.TABLE is TABLE


@pytest.mark.parametrize(
    ("fe", "to", "leader", "kind", "member"),
    [
        pytest.param(5, 3, 0, "ShrinkStatefulSet", "sample-fe-4", id="5: pod first"),
        pytest.param(5, 3, 4, "ShrinkStatefulSet", "sample-fe-4", id="5, the highest leads: pod first"),
        pytest.param(4, 3, 0, "DropFollower", "sample-fe-3", id="4: dropped first, one can be spared all the time"),
        pytest.param(4, 3, 3, "DeletePod", "sample-fe-3", id="4, the highest leads: it hands over first"),
        pytest.param(5, 3, 3, "DeletePod", "sample-fe-3", id="5, the next but one leads: it hands over while it can"),
        pytest.param(5, 4, 3, "ShrinkStatefulSet", "sample-fe-4", id="5 to 4: the leader stays"),
        pytest.param(7, 3, 6, "ShrinkStatefulSet", "sample-fe-6", id="7"),
        pytest.param(6, 5, 1, "ShrinkStatefulSet", "sample-fe-5", id="6: two can be spared"),
        pytest.param(12, 9, 0, "ShrinkStatefulSet", "sample-fe-11", id="ordinals are numbers"),
    ],
)
def test_the_first_step_of_a_live_one(fe: int, to: int, leader: int, kind: str, member: str) -> None:
    decision = scaled_in(fe, to, leader=leader).decide()
    assert taken(decision) == (kind, member)
    assert not decision.apply, "the StatefulSet keeps its replicas until the step"
    assert any(wait.startswith(f"frontend {member} is leaving") for wait in decision.waits)


def test_the_steps_name_the_very_member() -> None:
    world = scaled_in(5, 3)
    step = world.decide().step
    assert step is not None
    assert dict(step.expects) == {
        "replicas": "5",
        "to": "4",
        "pod": "sample-fe-4",
        "member": world.frontends[4].name,
    }
    four = scaled_in(4, 3)
    step = four.decide().step
    assert step is not None
    assert dict(step.expects) == {"name": four.frontends[3].name, "alive": "true", "role": "FOLLOWER"}
    assert not step.reversible


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        pytest.param({"alive": False}, "DropFollower", id="dead"),
        pytest.param({"alive": False, "joined": False}, "DropFollower", id="never joined"),
        pytest.param({"role": "OBSERVER"}, "ShrinkStatefulSet", id="an observer: it has no vote"),
        pytest.param(None, "ShrinkStatefulSet", id="dropped: what runs there is cut off, and goes at once"),
    ],
)
def test_the_highest_of_those_that_leave(changes: dict[str, Any] | None, kind: str) -> None:
    world = scaled_in(5, 3)
    if changes is None:
        del world.frontends[4]
        world.look()
    else:
        change(world, 4, **changes)
    assert taken(world.decide()) == (kind, "sample-fe-4")


def test_dead_ones_are_dropped_before_the_highest() -> None:
    world = scaled_in(5, 3)
    change(world, 3, alive=False)
    assert taken(world.decide()) == ("DropFollower", "sample-fe-3")
    del world.frontends[3]
    world.look()
    assert taken(world.decide()) == ("DropFollower", "sample-fe-4"), "four are left: the next goes by drop first"


@pytest.mark.parametrize(
    ("changes", "step", "wait"),
    [
        pytest.param({}, ("", ""), "FE still counts it as alive", id="alive"),
        pytest.param({"alive": False}, ("DropFollower", "sample-fe-4"), "it is dropped", id="dead"),
        pytest.param({"alive": False, "joined": False}, ("DropFollower", "sample-fe-4"), "", id="never joined"),
        pytest.param({"role": "OBSERVER"}, ("", ""), "observer sample-fe-4 is leaving", id="a live observer"),
        pytest.param(
            {"role": "OBSERVER", "alive": False}, ("DropObserver", "sample-fe-4"), "told to forget", id="observer, dead"
        ),
        pytest.param(None, ("DeletePod", "sample-fe-3"), "hands over", id="forgotten: the next one's turn"),
    ],
)
def test_one_whose_pod_is_gone(changes: dict[str, Any] | None, step: tuple[str, str], wait: str) -> None:
    world = scaled_in(5, 3, leader=3)
    release(world, 4)
    if changes is None:
        del world.frontends[4]
        world.look()
    else:
        change(world, 4, **changes)
    decision = world.decide()
    assert taken(decision) == step
    assert wait in " ".join(decision.waits)


def member_dead(world: World) -> None:
    change(world, 1, alive=False)


def member_joining(world: World) -> None:
    change(world, 1, alive=False, joined=False)


def member_missing(world: World) -> None:
    del world.frontends[1]
    world.look()
    world.get("Pod", "sample-fe-1")["status"]["containerStatuses"][0]["state"]["running"]["startedAt"] = at(-5)


def stranger_dead(world: World) -> None:
    world.frontends.append(frontend_row(9, host="fe-on-a-vm.example.org", alive=False))
    world.look()


def one_mute(world: World) -> None:
    assert world.view is not None
    answers = (
        *world.view.answers[:2],
        FrontendAnswer(pod="sample-fe-2", outcome=Outcome.HUNG),
        *world.view.answers[3:],
    )
    world.view = replace(world.view, answers=answers)


def one_of_another_mind(world: World) -> None:
    assert world.view is not None
    rows = (*world.frontends[:1], replace(world.frontends[1], alive=False), *world.frontends[2:])
    answers = (
        *world.view.answers[:2],
        FrontendAnswer(pod="sample-fe-2", outcome=Outcome.ANSWERED, rows=rows),
        *world.view.answers[3:],
    )
    world.view = replace(world.view, answers=answers)


def one_behind(world: World) -> None:
    for ordinal in range(5):
        change(world, ordinal, replayed_journal_id=50_000)
    change(world, 2, replayed_journal_id=50_000 - MAX_JOURNAL_LAG - 1)


@pytest.mark.parametrize(
    ("hold_back", "said", "finding"),
    [
        pytest.param(member_dead, "sample-fe-1 is to stay and is not alive", True, id="a member is dead"),
        pytest.param(member_joining, "sample-fe-1 is to stay and is not alive", True, id="a member has not joined"),
        pytest.param(member_missing, "sample-fe-1 is to stay and is not alive", True, id="a member is missing"),
        pytest.param(stranger_dead, "fe-on-a-vm.example.org, which is none", True, id="a stranger is dead"),
        pytest.param(one_mute, "sample-fe-2 does not answer (hung)", False, id="one does not answer"),
        pytest.param(one_of_another_mind, "sample-fe-2 does not see the same", False, id="views differ"),
        pytest.param(one_behind, "sample-fe-2 is 1001 journal entries behind", False, id="one lags"),
    ],
)
def test_what_holds_a_live_one_back(hold_back: Callable[[World], None], said: str, finding: bool) -> None:
    world = scaled_in(5, 3)
    hold_back(world)
    decision = world.decide()
    assert decision.step is None
    assert said in " ".join(decision.waits)
    assert [found.reason for found in decision.findings] == (["ScaleInBlocked"] if finding else [])


def test_a_little_lag_and_that_of_the_leaving_one_do_not_matter() -> None:
    world = scaled_in(5, 3)
    for ordinal in range(4):
        change(world, ordinal, replayed_journal_id=50_000 - ordinal * 300)
    assert taken(world.decide()) == ("ShrinkStatefulSet", "sample-fe-4")


def test_a_dead_one_is_dropped_though_another_is_to_stay_dead() -> None:
    world = scaled_in(5, 3)
    change(world, 1, alive=False)
    change(world, 4, alive=False)
    assert taken(world.decide()) == ("DropFollower", "sample-fe-4")


def test_a_dead_one_is_not_dropped_without_a_majority_to_spare() -> None:
    world = scaled_in(4, 3)
    for ordinal in (1, 3):
        change(world, ordinal, alive=False)
    decision = world.decide()
    assert decision.step is None
    assert "only 2 of 4 frontends are alive" in " ".join(decision.waits)


@pytest.mark.parametrize("fe", [2, 3, 5])
def test_one_frontend_is_refused_with_the_way_out(fe: int) -> None:
    world = scaled_in(fe, 1)
    decision = world.decide()
    assert not decision.due
    assert [finding.reason for finding in decision.findings] == ["ScaleInRefused"]
    assert "Set replicas to 3" in decision.findings[0].message
    ready = status_of(world.cluster, world.observed, decision, last_run=None)["conditions"][0]
    assert (ready["status"], ready["reason"]) == ("False", "ScaleInRefused")


@pytest.mark.parametrize(
    ("fe", "said"),
    [
        (2, "Both stay. Set replicas to 3, or to 2 to leave it as it is"),
        (3, "All 3 stay. Set replicas to 3 to leave it as it is"),
        (5, "All 5 stay. Set replicas to 3, or to 5 to leave it as it is"),
    ],
)
def test_each_way_out_is_named_once(fe: int, said: str) -> None:
    assert said in scaled_in(fe, 1).decide().findings[0].message


def test_a_refused_wish_is_no_progress_and_endangers_nobody() -> None:
    world = scaled_in(3, 2)
    told = status_of(world.cluster, world.observed, world.decide(), last_run=None)["conditions"]
    found = {condition["type"]: (condition["status"], condition["reason"]) for condition in told}
    assert found["Progressing"] == ("False", "Stopped")
    assert found["QuorumSafe"] == ("True", "SpareFrontends")
    world.raw["metadata"]["annotations"] = {OUTAGE_CONSENT: "1"}
    told = status_of(world.cluster, world.observed, world.decide(), last_run=None)["conditions"]
    assert {condition["type"]: condition["reason"] for condition in told}["QuorumSafe"] == "EvenFrontends"


def test_two_frontends_need_consent_by_name() -> None:
    world = scaled_in(3, 2)
    decision = world.decide()
    assert not decision.due
    assert [finding.reason for finding in decision.findings] == ["ScaleInRefused"]
    assert f'{OUTAGE_CONSENT}: "1"' in decision.findings[0].message
    world.raw["metadata"]["annotations"] = {OUTAGE_CONSENT: "7"}
    assert world.decide().step is None, "it is of another generation"
    world.raw["metadata"]["annotations"] = {OUTAGE_CONSENT: "1"}
    assert taken(world.decide()) == ("ShrinkStatefulSet", "sample-fe-2")
    world.raw["spec"]["starRocksFeSpec"]["replicas"] = 1
    assert not world.decide().due, "to one it stays refused"


def test_a_leader_hands_over_once_and_not_again_at_once() -> None:
    world = scaled_in(4, 3, leader=3)
    world.get("Pod", "sample-fe-3")["metadata"]["creationTimestamp"] = at(-60)
    assert taken(world.decide()) == ("ShrinkStatefulSet", "sample-fe-3")


@pytest.mark.parametrize("strategy", ["RollingUpdate", "OnDelete"])
def test_none_leaves_while_kubernetes_replaces_pods(strategy: str) -> None:
    """The one that it takes next would be missed as well. Under OnDelete it takes none."""
    world = scaled_in(5, 3)
    world.raw["spec"]["starRocksFeSpec"]["updateStrategy"] = {"type": strategy}
    world.settle()
    world.get("Pod", "sample-fe-1")["metadata"]["labels"]["controller-revision-hash"] = "rev-0"
    decision = world.decide()
    assert (decision.step is None) == (strategy == "RollingUpdate")
    assert ("sample-fe-1 to come" in " ".join(decision.waits)) == (strategy == "RollingUpdate")


def test_none_leaves_before_kubernetes_has_seen_the_latest_change() -> None:
    world = scaled_in(5, 3)
    world.get("StatefulSet", "sample-fe")["metadata"]["generation"] = 99
    assert world.decide().step is None


def test_one_is_not_dropped_while_its_pod_could_not_go() -> None:
    """Dropped and running it would be a zombie; a held StatefulSet keeps it running."""
    world = scaled_in(4, 3)
    assert taken(world.decide()) == ("DropFollower", "sample-fe-3")
    volumes = world.raw["spec"]["starRocksFeSpec"]["storageVolumes"]
    volumes[0]["storageClassName"] = "another"
    decision = world.decide()
    assert decision.step is None
    assert "it is held" in " ".join(decision.waits)


def test_volumes_that_were_kept_may_be_used_when_nobody_knows_better() -> None:
    """A cluster applied anew with fewer frontends than it had: without the others nobody can ever lead."""
    world = World(fe=3)
    world.settle()
    release(world, 1)
    world.raw["spec"]["starRocksFeSpec"]["replicas"] = 3
    world.frontends = [replace(row, role="FOLLOWER") for row in world.frontends]
    world.look()
    del world.raw["status"]
    assert world.decide().context.replicas["fe"] == 3


def test_what_had_left_before_the_refusal_is_forgotten_all_the_same() -> None:
    world = scaled_in(5, 3)
    release(world, 4)
    change(world, 4, alive=False)
    world.raw["spec"]["starRocksFeSpec"]["replicas"] = 1
    assert taken(world.decide()) == ("DropFollower", "sample-fe-4")


@pytest.mark.parametrize("back", [4, 5, 7])
def test_the_wish_comes_back_before_the_drop(back: int) -> None:
    """Its pod is gone and FE still lists it: the pod returns, with the volume that it had."""
    world = scaled_in(5, 3)
    release(world, 4)
    change(world, 4, alive=False)
    world.raw["spec"]["starRocksFeSpec"]["replicas"] = back
    decision = world.decide()
    assert decision.context.replicas["fe"] == max(back, 4)
    assert (decision.step is None) == (back > 4)


def test_one_that_was_dropped_returns_on_a_new_volume_and_only_then() -> None:
    world = scaled_in(5, 3)
    release(world, 3)
    world.frontends = world.frontends[:3]
    world.look()
    assert world.decide().step is None, "nobody wants it: its volume stays"
    world.raw["spec"]["starRocksFeSpec"]["replicas"] = 5
    decision = world.decide()
    assert decision.context.replicas["fe"] == 3
    assert decision.step is not None
    assert decision.step.kind == StepKind.DELETE_META_VOLUME
    assert decision.step.target == "fe-meta-sample-fe-3"
    assert dict(decision.step.expects) == {"uid": "uid-fe-meta-sample-fe-3"}
    world.get("PersistentVolumeClaim", "fe-meta-sample-fe-3")["metadata"]["deletionTimestamp"] = at(0)
    assert world.decide().context.replicas["fe"] == 3
    world.remove("PersistentVolumeClaim", "fe-meta-sample-fe-3")
    assert world.decide().context.replicas["fe"] == 4, "the next one's volume is old, too"


@pytest.mark.parametrize("alive", [True, False])
def test_no_volume_is_deleted_while_a_frontend_lists_its_member(alive: bool) -> None:
    world = scaled_in(5, 3)
    release(world, 3)
    old = tuple(world.frontends)
    world.frontends = world.frontends[:3]
    world.look()
    assert world.view is not None
    late = FrontendAnswer(pod="sample-fe-2", outcome=Outcome.ANSWERED, rows=old)
    world.view = replace(world.view, answers=(*world.view.answers[:2], late))
    world.raw["spec"]["starRocksFeSpec"]["replicas"] = 5
    decision = world.decide()
    assert decision.step is None
    assert "returns when sample-fe-2 has forgotten its old member" in " ".join(decision.waits)


@pytest.mark.parametrize("alive", [True, False])
def test_no_volume_is_deleted_while_a_member_has_no_name(alive: bool) -> None:
    """Of one whose pod has just gone, FE does not know yet that it is dead."""
    world = scaled_in(4, 3)
    release(world, 3)
    change(world, 3, host="10.1.2.3", alive=alive)
    world.raw["spec"]["starRocksFeSpec"]["replicas"] = 4
    decision = world.decide()
    assert decision.step is None
    assert "10.1.2.3" in " ".join(decision.waits)


@pytest.mark.parametrize(("listed", "replicas"), [(True, 4), (False, 3)])
def test_without_a_leader_what_fe_last_said_decides_how_far_it_grows(listed: bool, replicas: int) -> None:
    """The one that returns may be the one that makes the majority."""
    world = scaled_in(4, 3)
    decision = world.decide()
    world.raw["status"] |= {"members": status_of(world.cluster, world.observed, decision, last_run=None)["members"]}
    if not listed:
        world.raw["status"]["members"] = world.raw["status"]["members"][:3]
    release(world, 3)
    lead(world, -1)
    world.raw["spec"]["starRocksFeSpec"]["replicas"] = 4
    assert world.decide().context.replicas["fe"] == replicas


def known(world: World, ordinal: int) -> None:
    """The status of the time when it was a member."""
    row = frontend_row(ordinal)
    entry = {"kind": "frontend", "name": f"sample-fe-{ordinal}", "host": row.host, "id": row.name, "state": "alive"}
    world.raw["status"]["members"] = [entry]


def test_one_that_was_dropped_in_its_place_gets_a_new_volume_and_a_new_pod() -> None:
    """Dropped as a dead one, and wanted again while its pod still stands on the old volume."""
    world = World(fe=5)
    known(world, 3)
    del world.frontends[3]
    world.look()
    assert taken(world.decide()) == ("DeleteMetaVolume", "fe-meta-sample-fe-3")
    world.get("PersistentVolumeClaim", "fe-meta-sample-fe-3")["metadata"]["deletionTimestamp"] = at(0)
    step = world.decide().step
    assert step is not None
    assert (step.kind, step.target, step.fact("uid")) == (StepKind.DELETE_POD, "sample-fe-3", "uid-sample-fe-3")
    world.remove("Pod", "sample-fe-3")
    world.put(claim("fe-meta-sample-fe-3", created=-1))
    world.put(pod("sample-fe-3", "fe", index=3))
    assert taken(world.decide()) == ("AddFollower", "sample-fe-3")


def test_the_marker_names_those_that_leave() -> None:
    world = scaled_in(5, 3)
    assert world.get("ConfigMap", "sample-fe-bootstrap")["data"]["leaving"] == "sample-fe-3 sample-fe-4"
    world.raw["spec"]["starRocksFeSpec"]["replicas"] = 5
    world.settle()
    assert "leaving" not in world.get("ConfigMap", "sample-fe-bootstrap")["data"]
    refused = scaled_in(3, 1)
    assert "leaving" not in refused.get("ConfigMap", "sample-fe-bootstrap")["data"]


def test_hosts_of_a_longer_name_are_not_ours() -> None:
    world = scaled_in(5, 4)
    world.frontends.append(frontend_row(5, host=host("sample-b-fe-5", "fe", cluster="sample-b")))
    world.look()
    assert taken(world.decide())[1] == "sample-fe-4"


def told(world: World) -> dict[str, dict[str, Any]]:
    """status.members of the frontends by pod, written into the world as the watcher would."""
    status = status_of(world.cluster, world.observed, world.decide(), last_run=None)
    world.raw["status"] = status
    assert status_of(world.cluster, world.observed, world.decide(), last_run=None) == status, "it is written once"
    return {member["name"]: member for member in status["members"] if member["kind"] == "frontend"}


def test_the_status_tells_who_leaves_and_since_when() -> None:
    world = scaled_in(5, 3)
    members = told(world)
    assert [members[f"sample-fe-{o}"]["state"] for o in range(5)] == ["alive"] * 3 + ["leaving"] * 2
    since = members["sample-fe-4"]["leavingSince"]
    world.now = world.now.replace(minute=30)
    assert told(world)["sample-fe-4"]["leavingSince"] == since
    world.raw["spec"]["starRocksFeSpec"]["replicas"] = 5
    assert "leavingSince" not in told(world)["sample-fe-4"]


def test_the_status_remembers_a_dropped_one_until_its_volume_is_replaced() -> None:
    world = scaled_in(5, 3)
    name = told(world)["sample-fe-3"]["id"]
    del world.frontends[3]
    world.look()
    world.settle()
    assert (told(world)["sample-fe-3"]["state"], told(world)["sample-fe-3"]["id"]) == ("dropped", name)
    world.raw["spec"]["starRocksFeSpec"]["replicas"] = 5
    assert taken(world.decide()) == ("DeleteMetaVolume", "fe-meta-sample-fe-3")
    lead(world, -1)
    told(world)
    lead(world, 0)
    assert taken(world.decide()) == ("DeleteMetaVolume", "fe-meta-sample-fe-3"), "a time without a leader is no news"
    world.put(claim("fe-meta-sample-fe-3", created=-1))
    world.get("Pod", "sample-fe-3")["metadata"]["creationTimestamp"] = at(-1)
    assert told(world)["sample-fe-3"]["state"] == "absent"
    assert taken(world.decide()) == ("AddFollower", "sample-fe-3")
