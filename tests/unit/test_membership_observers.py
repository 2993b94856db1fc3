"""Observers: their table cell by cell, each brought about in a whole world; and what they are not counted in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from starrocks_operator.decision import Decision
from starrocks_operator.membership import observers
from starrocks_operator.membership.frontend_table import Move, Standing, Wish
from starrocks_operator.observed import FrontendAnswer, Outcome
from starrocks_operator.status import status_of
from tests.unit.membership_world import World, at, claim, host, observer_row

POD = "sample-fe-observer-1"
SPEC = "starRocksFeObserverSpec"


def taken(decision: Decision) -> tuple[str, str]:
    step = decision.step
    return (str(step.kind), step.fact("pod") or step.target.split(".")[0]) if step else ("", "")


def index(world: World) -> int:
    return next(number for number, row in enumerate(world.frontends) if row.host.startswith(f"{POD}."))


def change(**changes: Any) -> Callable[[World], None]:
    def bring_about(world: World) -> None:
        world.frontends[index(world)] = replace(world.frontends[index(world)], **changes)

    return bring_about


def nothing(_: World) -> None:
    """Alive."""


def volume_lost(world: World) -> None:
    change(alive=False)(world)
    world.put(claim(f"fe-meta-{POD}", created=-60))


def overdue(world: World) -> None:
    del world.frontends[index(world)]


def absent(world: World) -> None:
    overdue(world)
    world.get("Pod", POD)["status"]["containerStatuses"][0]["state"]["running"]["startedAt"] = at(-5)


def dropped(world: World) -> None:
    """FE listed it, and does not any more; its volume is the old one."""
    row = world.frontends[index(world)]
    member = {"kind": "frontend", "name": POD, "host": row.host, "id": row.name, "state": "dropped"}
    world.raw["status"]["members"] = [member]
    overdue(world)


STANDINGS: dict[Standing, Callable[[World], None]] = {
    Standing.ALIVE: nothing,
    Standing.JOINING: change(joined=False, alive=False),
    Standing.DEAD: change(alive=False),
    Standing.VOLUME_LOST: volume_lost,
    Standing.OTHER_ROLE: change(role="FOLLOWER"),
    Standing.ABSENT: absent,
    Standing.OVERDUE: overdue,
    Standing.DROPPED: dropped,
}

MEMBER: dict[Standing, tuple[str, str, str]] = {
    Standing.ALIVE: ("", "", ""),
    Standing.JOINING: ("", "has not joined", ""),
    Standing.DEAD: ("", "is not alive", ""),
    Standing.VOLUME_LOST: ("DropObserver", "lost its metadata volume", ""),
    Standing.OTHER_ROLE: ("", "", "UnexpectedRole"),
    Standing.ABSENT: ("", "has not joined", ""),
    Standing.OVERDUE: ("AddObserver", "it is being added", ""),
    Standing.DROPPED: ("DeleteMetaVolume", "its metadata volume is replaced", ""),
}
RELEASED: dict[Standing, tuple[str, str, str]] = dict.fromkeys(Standing, ("", "", "")) | {
    Standing.ALIVE: ("", "FE still counts it as alive", ""),
    Standing.JOINING: ("DropObserver", "its pod is gone", ""),
    Standing.DEAD: ("DropObserver", "its pod is gone", ""),
    Standing.OTHER_ROLE: ("", "", "UnexpectedRole"),
}


def look(world: World) -> Decision:
    world.settle()
    world.look()
    return world.decide()


def said(decision: Decision, wait: str, finding: str) -> bool:
    waits = any(wait in one for one in decision.waits) if wait else True
    return waits and (finding in {one.reason for one in decision.findings} if finding else True)


def test_the_table_has_every_cell_and_every_move_its_turn() -> None:
    assert set(observers.TABLE) == set(Wish)
    assert all(set(row) == set(Standing) for row in observers.TABLE.values())
    used = {move for row in observers.TABLE.values() for move in row.values()}
    assert used == set(observers.ORDER)
    assert Move.LEAVE not in used, "no quorum stands in the way"


@pytest.mark.parametrize("standing", Standing, ids=str)
def test_a_wanted_observer(standing: Standing) -> None:
    world = World(observers=2)
    STANDINGS[standing](world)
    decision = look(world)
    kind, wait, finding = MEMBER[standing]
    assert taken(decision)[0] == kind
    assert said(decision, wait, finding)
    assert bool(decision.waits) == bool(wait)


@pytest.mark.parametrize("standing", Standing, ids=str)
def test_an_observer_that_is_not_wanted_any_more(standing: Standing) -> None:
    world = World(observers=2)
    world.raw["spec"][SPEC]["replicas"] = 1
    STANDINGS[standing](world)
    decision = look(world)
    if standing == Standing.OTHER_ROLE:
        assert taken(decision) == ("", "")
        assert said(decision, "", "UnexpectedRole")
    else:
        assert taken(decision) == ("ShrinkStatefulSet", POD)
        assert said(decision, f"frontend {POD} is leaving: its pod goes", "")


@pytest.mark.parametrize("standing", Standing, ids=str)
def test_an_observer_whose_place_and_pod_are_gone(standing: Standing) -> None:
    world = World(observers=2)
    world.raw["spec"][SPEC]["replicas"] = 1
    STANDINGS[standing](world)
    world.get("StatefulSet", "sample-fe-observer")["spec"]["replicas"] = 1
    world.remove("Pod", POD)
    decision = look(world)
    if standing == Standing.VOLUME_LOST:  # without a pod nothing tells that the volume is another one
        standing = Standing.DEAD
    kind, wait, finding = RELEASED[standing]
    assert taken(decision)[0] == kind
    assert said(decision, wait, finding)
    assert bool(decision.waits) == bool(wait)


def test_while_its_pod_is_there_a_dead_one_is_not_dropped() -> None:
    world = World(observers=2)
    world.raw["spec"][SPEC]["replicas"] = 1
    change(alive=False)(world)
    world.get("StatefulSet", "sample-fe-observer")["spec"]["replicas"] = 1
    world.get("Pod", POD)["metadata"]["deletionTimestamp"] = at(0)
    decision = look(world)
    assert taken(decision) == ("", "")
    assert said(decision, f"observer {POD} is leaving: its pod is being deleted", "")


def test_any_number_leaves_one_step_at_a_time_and_none_waits_for_a_drop() -> None:
    world = World(observers=12)
    world.raw["spec"][SPEC]["replicas"] = 0
    for left in range(11, -1, -1):
        decision = look(world)
        assert taken(decision) == ("ShrinkStatefulSet", f"sample-fe-observer-{left}")
        assert decision.step is not None
        assert decision.step.target == "sample-fe-observer"
        assert dict(decision.step.expects)["replicas"] == str(left + 1)
        world.get("StatefulSet", "sample-fe-observer")["spec"]["replicas"] = left
    for ordinal in range(12):
        world.remove("Pod", f"sample-fe-observer-{ordinal}")
    world.frontends = world.frontends[:3] + [replace(row, alive=False) for row in world.frontends[3:]]
    assert taken(look(world)) == ("DropObserver", "sample-fe-observer-11")
    world.frontends = world.frontends[:3]
    decision = look(world)
    assert (decision.step, decision.waits) == (None, ())


def test_a_drop_names_the_very_member() -> None:
    world = World(observers=2)
    volume_lost(world)
    step = look(world).step
    assert step is not None
    assert dict(step.expects) == {"name": world.frontends[4].name, "alive": "false", "role": "OBSERVER"}
    assert not step.reversible


def test_a_volume_is_not_renewed_while_a_frontend_still_lists_the_member() -> None:
    world = World(observers=2)
    dropped(world)
    world.settle()
    world.look()
    assert world.view is not None
    first, *others = world.view.answers
    late = replace(first, rows=(*first.rows, observer_row(1, alive=False)))
    world.view = replace(world.view, answers=(late, *others))
    decision = world.decide()
    assert taken(decision) == ("", "")
    assert said(decision, "has forgotten its old member", "")


def test_the_stateful_set_does_not_grow_into_an_ordinal_with_an_old_volume() -> None:
    world = World(observers=1)
    world.put(claim(f"fe-meta-{POD}"))
    world.raw["spec"][SPEC]["replicas"] = 3
    decision = look(world)
    assert decision.context.replicas["fe-observer"] == 1
    assert taken(decision)[0] == "DeleteMetaVolume"
    world.remove("PersistentVolumeClaim", f"fe-meta-{POD}")
    decision = world.decide()
    assert decision.context.replicas["fe-observer"] == 3
    assert decision.step is None


def test_observers_are_no_foreign_frontends_and_count_in_no_quorum() -> None:
    world = World(observers=2)
    for ordinal in (0, 1):
        world.frontends[3 + ordinal] = observer_row(ordinal, alive=False)
    decision = look(world)
    status = status_of(world.cluster, world.observed, decision, last_run=None)
    conditions = {condition["type"]: condition for condition in status["conditions"]}
    assert conditions["QuorumSafe"]["status"] == "True"
    assert "3 of 3 followers are alive" in conditions["QuorumSafe"]["message"]
    assert conditions["Ready"]["reason"] == "ObserversNotReady"
    assert [member["name"] for member in status["members"] if member["kind"] == "frontend"] == [
        *(f"sample-fe-{ordinal}" for ordinal in range(3)),
        *(f"sample-fe-observer-{ordinal}" for ordinal in range(2)),
    ]


def test_one_that_founded_a_cluster_of_its_own_freezes_membership() -> None:
    world = World(observers=1)
    overdue_row = observer_row(0, cluster_id="4711", role="LEADER")
    world.settle()
    world.look()
    assert world.view is not None
    alone = FrontendAnswer(pod="sample-fe-observer-0", outcome=Outcome.ANSWERED, rows=(overdue_row,))
    others = tuple(answer for answer in world.view.answers if answer.pod != alone.pod)
    world.view = replace(world.view, answers=(*others, alone))
    decision = world.decide()
    assert "SplitBrain" in {finding.reason for finding in decision.findings}


def test_a_spec_without_them_leaves_them_orphaned() -> None:
    world = World(observers=2)
    del world.raw["spec"][SPEC]
    decision = look(world)
    assert decision.step is None
    assert "ComponentOrphaned" in {finding.reason for finding in decision.findings}
    assert "fe-observer" not in decision.context.components


def test_followers_leave_while_observers_are_there() -> None:
    world = World(fe=5, observers=2)
    world.raw["spec"]["starRocksFeSpec"]["replicas"] = 3
    assert taken(look(world)) == ("ShrinkStatefulSet", "sample-fe-4")


def test_an_observer_known_by_its_address_is_ours() -> None:
    world = World(observers=1)
    address = world.get("Pod", "sample-fe-observer-0")["status"]["podIP"]
    world.frontends[3] = observer_row(0, host=address)
    decision = look(world)
    assert (decision.step, decision.waits) == (None, ())


def test_its_host_is_that_of_its_own_service() -> None:
    world = World(observers=2)
    overdue(world)
    step = look(world).step
    assert step is not None
    assert step.target == f"{host(POD, 'fe-observer')}:9010"
