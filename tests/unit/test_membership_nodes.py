"""Backends and compute nodes cell by cell: each situation is brought about in a whole world, and the step looked at."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from starrocks_operator.decision import Decision
from starrocks_operator.membership.backends import BACKENDS, SHARED_DATA_BACKENDS
from starrocks_operator.membership.compute_nodes import COMPUTE_NODES
from starrocks_operator.membership.named_loss import FORCE_DROP
from starrocks_operator.membership.node_table import Move, Standing, Wish
from starrocks_operator.observed import ComputeRow, Configuration
from starrocks_operator.status import status_of
from starrocks_operator.step import StepKind
from tests.unit.membership_world import World, at, host

AUTO_DROP = "drop_backend_after_decommission"
SCHEDULING = "tablet_sched_max_scheduling_tablets"
HELD = {AUTO_DROP: "false", SCHEDULING: "10000"}
FIELDS = {"be": "starRocksBeSpec", "cn": "starRocksCnSpec"}
STEPS = {
    "be": {
        "add": StepKind.ADD_BACKEND,
        "order": StepKind.DECOMMISSION_BACKEND,
        "cancel": StepKind.CANCEL_DECOMMISSION,
        "shrink": StepKind.SHRINK_STATEFUL_SET,
        "drop": StepKind.DROP_BACKEND,
        "forfeit": StepKind.FORCE_DROP_BACKEND,
    },
    "cn": {
        "add": StepKind.ADD_COMPUTE_NODE,
        "order": StepKind.BLACKLIST_COMPUTE_NODE,
        "cancel": StepKind.UNBLACKLIST_COMPUTE_NODE,
        "shrink": StepKind.SHRINK_STATEFUL_SET,
        "drop": StepKind.DROP_COMPUTE_NODE,
    },
}
# What follows in each cell, in the order of the wishes: member, leaving, stopping, released. A dot: no step, and
# nothing is waited for; `wait`: it is; `report`: a person is told. A dash: there is no such situation.
TABLETS = {
    Standing.ABSENT: "wait shrink wait .",
    Standing.STARTING: "wait wait wait -",
    Standing.OVERDUE: "add shrink wait -",
    Standing.JOINING: "wait order order order",
    Standing.ALIVE: ". order order order",
    Standing.DEAD: "wait order order order",
    Standing.DRAINING: "cancel wait wait wait",
    Standing.DRAINED: "cancel shrink wait drop",
    Standing.GIVEN_UP: "- shrink wait forfeit",
    Standing.FOREIGN: "report report report report",
    Standing.FOREIGN_DRAINED: "report shrink wait drop",
}
QUERIES = {
    Standing.ABSENT: "wait shrink wait .",
    Standing.STARTING: "wait shrink wait -",
    Standing.OVERDUE: "add shrink wait -",
    Standing.JOINING: "wait shrink wait drop",
    Standing.ALIVE: ". order wait wait",
    Standing.DEAD: "wait shrink wait drop",
    Standing.DRAINING: "cancel wait wait wait",
    Standing.DRAINED: "cancel shrink wait wait",
    Standing.FOREIGN: "report shrink wait wait",
}
ORDINAL = 2


def cells(component: str, expected: dict[Standing, str]) -> list[Any]:
    return [
        pytest.param(component, wish, standing, outcome, id=f"{component}-{wish}-{standing}")
        for standing, outcomes in expected.items()
        for wish, outcome in zip(Wish, outcomes.split(), strict=True)
        if outcome != "-"
    ]


def row_of(component: str, row: ComputeRow, standing: Standing) -> ComputeRow | None:
    tablets = component == "be"
    match standing:
        case Standing.ABSENT | Standing.STARTING | Standing.OVERDUE:
            return None
        case Standing.JOINING:
            return replace(row, alive=False, last_start_time="")
        case Standing.DEAD:
            return replace(row, alive=False)
        case Standing.DRAINING:
            return replace(row, decommissioned=tablets, running_queries=3)
        case Standing.DRAINED:
            return replace(row, decommissioned=tablets, tablets=0 if tablets else None, running_queries=0)
        case Standing.GIVEN_UP:
            return replace(row, alive=False, decommissioned=True, tablets=7)
        case Standing.FOREIGN:
            return replace(row, decommissioned=True)
        case Standing.FOREIGN_DRAINED:
            return replace(row, decommissioned=True, tablets=0)
        case _:
            return row


def arrange(component: str, wish: Wish, standing: Standing) -> World:
    """Three nodes, of which the last is in the situation asked for."""
    world = World(cn=3)
    rows = world.backends if component == "be" else world.compute_nodes
    row = row_of(component, rows[ORDINAL], standing)
    rows[ORDINAL : ORDINAL + 1] = [row] if row else []
    name = f"sample-{component}-{ORDINAL}"
    container = world.get("Pod", name)["status"]
    if standing == Standing.ABSENT:
        container["phase"] = "Pending"
    if standing == Standing.STARTING:
        container["containerStatuses"][0]["state"]["running"]["startedAt"] = at(-5)
    if wish != Wish.MEMBER:
        world.raw["spec"][FIELDS[component]]["replicas"] = ORDINAL
    if wish in (Wish.STOPPING, Wish.RELEASED):
        world.get("StatefulSet", f"sample-{component}")["spec"]["replicas"] = ORDINAL
    if wish == Wish.RELEASED:
        world.remove("Pod", name)
    told = standing in (Standing.DRAINING, Standing.DRAINED, Standing.GIVEN_UP)
    if row is not None and told:
        kind = {"be": "backend", "cn": "computeNode"}[component]
        member = {"kind": kind, "name": name, "host": row.host, "id": row.id}
        world.raw["status"]["members"] = [member | {"orderedBy": "operator", "orderedAt": at(-90)}]
        if standing == Standing.GIVEN_UP:
            world.raw["status"]["members"][0] |= {"tabletsLeft": 7, "progressAt": at(-700)}
            world.raw["metadata"]["annotations"] = {FORCE_DROP: f"{name}@{world.raw['metadata']['generation']}"}
    world.answers = {"settings": HELD, "blacklists": {"sample-fe-0": frozenset([row.id] if row and told else [])}}
    world.look()
    return world


@pytest.mark.parametrize(("component", "wish", "standing", "outcome"), [*cells("be", TABLETS), *cells("cn", QUERIES)])
def test_each_cell(component: str, wish: Wish, standing: Standing, outcome: str) -> None:
    world = arrange(component, wish, standing)
    decision = world.decide()
    expected = STEPS[component].get(outcome)
    assert (decision.step.kind if decision.step else None) == expected, decision
    assert bool(decision.waits) == (outcome not in (".", "report") or (outcome == "report" and wish != Wish.MEMBER))
    told = {"report": ["ForeignDecommission"]}.get(outcome, [])
    told += ["LossNamed"] if standing == Standing.GIVEN_UP else []
    assert [finding.reason for finding in decision.findings] == told
    if decision.step and expected == StepKind.SHRINK_STATEFUL_SET:
        assert decision.step.target == f"sample-{component}"
        assert (decision.step.fact("replicas"), decision.step.fact("to")) == ("3", "2")
    elif decision.step:
        assert decision.step.target == f"{host(f'sample-{component}-{ORDINAL}', component)}:9050"


@pytest.mark.parametrize("kind", [BACKENDS, SHARED_DATA_BACKENDS, COMPUTE_NODES])
def test_the_tables_have_every_cell(kind: Any) -> None:
    cells = {(wish, standing) for wish, row in kind.table.items() for standing in row}
    assert cells == set(product(Wish, Standing))


def test_a_backend_is_dropped_and_shrunk_only_when_nothing_is_on_it() -> None:
    for wish, row in BACKENDS.table.items():
        for standing, move in row.items():
            if move == Move.DROP:
                assert standing in (Standing.DRAINED, Standing.FOREIGN_DRAINED)
                assert wish == Wish.RELEASED
            if move == Move.SHRINK:
                unregistered = (Standing.ABSENT, Standing.OVERDUE)
                named = (Standing.GIVEN_UP,)
                assert standing in (Standing.DRAINED, Standing.FOREIGN_DRAINED, *named, *unregistered)
                assert wish == Wish.LEAVING
            if move == Move.FORFEIT:
                assert (wish, standing) == (Wish.RELEASED, Standing.GIVEN_UP)


def scaling_in(*, be: int = 5, to: int = 3, **settings: str) -> World:
    world = World(be=be)
    world.raw["spec"]["starRocksBeSpec"]["replicas"] = to
    world.answers = {"settings": HELD | settings}
    world.look()
    return world


def record(world: World) -> Decision:
    """Decide, write the status, and decide again, as the watcher does before it acts. Twice: what the marker forgets
    is said to be written until it is."""
    decision = world.decide()
    world.raw["status"] = status_of(world.cluster, world.observed, decision, last_run=None)
    world.remember()
    again = world.decide()
    assert (again.step and again.step.hash) == (decision.step and decision.step.hash)
    before, after = world.raw["status"], status_of(world.cluster, world.observed, again, last_run=None)
    if ready_reason(before) == "Settling":
        assert without_judgement(before) == without_judgement(after)
    else:
        assert before == after
    world.raw["status"] = after
    assert after == status_of(world.cluster, world.observed, world.decide(), last_run=None)
    return again


def ready_reason(status: dict[str, Any]) -> str:
    return next(str(condition["reason"]) for condition in status["conditions"] if condition["type"] == "Ready")


def without_judgement(status: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in status.items() if key not in ("conditions", "phase", "reason")}


def test_a_cluster_is_not_ready_for_the_moment_before_its_marker_forgets() -> None:
    """It would be Ready, then not, and then again."""
    world = scaling_in()
    record(world)
    world.raw["spec"]["starRocksBeSpec"]["replicas"] = 5
    record(world)
    world.now = world.now.replace(minute=2)
    said = []
    for _ in range(3):
        status = status_of(world.cluster, world.observed, world.decide(), last_run=None)
        world.raw["status"] = status
        said.append(ready_reason(status))
    world.remember()
    status = status_of(world.cluster, world.observed, world.decide(), last_run=None)
    assert said == ["Settling"] * 3
    assert ready_reason(status) == "AsSpecified"


def member(world: World, ordinal: int, component: str = "be") -> dict[str, Any]:
    name = f"sample-{component}-{ordinal}"
    return next(entry for entry in world.raw["status"]["members"] if entry.get("name") == name)


def test_the_auto_drop_is_held_before_anybody_is_told_to_leave() -> None:
    world = scaling_in(drop_backend_after_decommission="true")
    decision = record(world)
    assert decision.step is not None
    assert (decision.step.kind, decision.step.fact("to")) == (StepKind.HOLD_AUTO_DROP, "false")
    assert world.raw["status"]["heldSettings"] == [{"name": AUTO_DROP, "was": "true", "since": at(0)}]


def test_the_intent_is_written_before_the_order() -> None:
    world = scaling_in()
    decision = record(world)
    assert decision.step is not None
    assert decision.step.kind == StepKind.DECOMMISSION_BACKEND
    assert decision.step.target.startswith("sample-be-4.")
    assert decision.step.reversible
    assert member(world, 4)["orderedBy"] == "operator"
    assert member(world, 4)["state"] == "leaving"
    assert "orderedBy" not in member(world, 3)


def test_an_order_that_never_arrived_is_forgotten_when_it_cannot_arrive_any_more() -> None:
    world = scaling_in()
    record(world)
    world.raw["spec"]["starRocksBeSpec"]["replicas"] = 5
    decision = record(world)
    assert decision.step is None
    assert member(world, 4)["orderedBy"] == "operator"
    assert decision.waits, "who waits for nothing is not looked at again, and the order would stay noted"
    world.now = world.now.replace(minute=2)
    assert record(world).waits == ()
    assert "orderedBy" not in member(world, 4)


def test_taking_back_waits_for_no_other_component() -> None:
    """A frontend that FE refuses to add would be tried again and again, and the backend emptied meanwhile."""
    world = scaling_in()
    drain(world, 4, left=7)
    world.raw["spec"]["starRocksBeSpec"]["replicas"] = 5
    del world.frontends[2]
    world.look()
    step = world.decide().step
    assert step is not None
    assert step.kind == StepKind.CANCEL_DECOMMISSION


def test_a_status_that_was_lost_is_made_good_for_though_fe_cannot_be_asked_yet() -> None:
    """The held setting is written to the new status before any member is known."""
    world = scaling_in()
    drain(world, 4, left=7)
    world.raw["status"]["heldSettings"] = [{"name": AUTO_DROP, "was": "true", "since": at(0)}]
    record(world)
    world.remember()
    view, world.raw["status"], world.view = world.view, {}, None
    record(world)
    world.remember()
    world.view = view
    world.raw["spec"]["starRocksBeSpec"]["replicas"] = 5
    decision = record(world)
    assert decision.step is not None
    assert decision.step.kind == StepKind.CANCEL_DECOMMISSION
    assert not decision.findings


def test_a_row_with_a_new_id_was_not_told_by_us() -> None:
    world = scaling_in()
    record(world)
    world.backends[4] = replace(world.backends[4], id="77777", decommissioned=True)
    world.look()
    decision = record(world)
    assert [finding.reason for finding in decision.findings] == ["ForeignDecommission"]
    assert decision.step is not None
    assert decision.step.target.startswith("sample-be-3.")


def drain(world: World, ordinal: int, *, left: int) -> None:
    """It was told to leave by us, and so many tablets are left."""
    record(world)
    assert member(world, ordinal)["orderedBy"] == "operator"
    world.backends[ordinal] = replace(world.backends[ordinal], decommissioned=True, tablets=left)
    world.look()


def test_an_order_that_was_taken_back_is_over_and_a_humans_after_it_is_his() -> None:
    world = scaling_in()
    drain(world, 4, left=7)
    world.raw["spec"]["starRocksBeSpec"]["replicas"] = 5
    decision = record(world)
    assert decision.step is not None
    assert decision.step.kind == StepKind.CANCEL_DECOMMISSION
    world.backends[4] = replace(world.backends[4], decommissioned=False)
    world.look()
    record(world)
    assert "orderedBy" not in member(world, 4)
    world.backends[4] = replace(world.backends[4], decommissioned=True)
    world.look()
    decision = record(world)
    assert [finding.reason for finding in decision.findings] == ["ForeignDecommission"]
    assert decision.step is None or decision.step.kind != StepKind.CANCEL_DECOMMISSION


def test_all_that_leave_are_told_one_by_one_and_shrunk_from_the_top() -> None:
    world = scaling_in()
    drain(world, 4, left=10)
    drain(world, 3, left=0)
    decision = record(world)
    assert decision.step is None
    assert "backend sample-be-3 may leave; it goes when those with higher ordinals have gone" in decision.waits
    world.backends[4] = replace(world.backends[4], tablets=0)
    world.look()
    step = record(world).step
    assert step is not None
    assert (step.kind, step.fact("to"), step.reversible) == (StepKind.SHRINK_STATEFUL_SET, "4", False)


def test_the_wish_comes_back_in_part() -> None:
    world = scaling_in()
    drain(world, 4, left=10)
    drain(world, 3, left=10)
    world.raw["spec"]["starRocksBeSpec"]["replicas"] = 4
    step = record(world).step
    assert step is not None
    assert (step.kind, step.target.split(".")[0]) == (StepKind.CANCEL_DECOMMISSION, "sample-be-3")


def test_a_frontend_that_forgot_the_hold_is_told_again() -> None:
    world = scaling_in()
    world.raw["status"]["heldSettings"] = [{"name": AUTO_DROP, "was": "maybe", "since": at(-500)}]
    drain(world, 4, left=0)
    world.answers = {"settings": {AUTO_DROP: "true"}}
    world.look()
    step = record(world).step
    assert step is not None
    assert step.kind == StepKind.HOLD_AUTO_DROP
    assert world.raw["status"]["heldSettings"][0]["was"] == "maybe"


def test_the_old_value_is_restored_when_nobody_leaves_any_more() -> None:
    world = World()
    world.raw["status"]["heldSettings"] = [{"name": AUTO_DROP, "was": "true", "since": at(-500)}]
    world.answers = {"settings": {AUTO_DROP: "false"}}
    world.look()
    step = record(world).step
    assert step is not None
    assert (step.kind, step.fact("to")) == (StepKind.RESTORE_AUTO_DROP, "true")
    world.answers = {"settings": {AUTO_DROP: "true"}}
    world.look()
    decision = record(world)
    assert not decision.due
    assert "heldSettings" not in world.raw["status"]


@pytest.mark.parametrize(
    ("be", "to", "answers", "changes", "reason", "said"),
    [
        pytest.param(3, 0, {}, {}, "ScaleInRefused", "no backend would be left", id="to nothing"),
        pytest.param(
            5, 2, {"replication": 3}, {}, "ScaleInRefused", "replication_num 3", id="too few for the replicas"
        ),
        pytest.param(
            5, 3, {}, {"used_bytes": 80 * 2**30, "free_bytes": 20 * 2**30}, "ScaleInRefused", "160.0 GiB", id="disk"
        ),
        pytest.param(5, 3, {"settings": {SCHEDULING: "0"}}, {}, "ScaleInHeld", "is 0", id="scheduling is off"),
    ],
)
def test_what_stands_in_the_way_is_said_before_anything_moves(
    be: int, to: int, answers: dict[str, Any], changes: dict[str, Any], reason: str, said: str
) -> None:
    world = scaling_in(be=be, to=to)
    world.answers |= answers
    world.backends = [replace(row, **changes) for row in world.backends]
    world.look()
    decision = record(world)
    assert decision.step is None
    assert [finding.reason for finding in decision.findings] == [reason]
    assert said in decision.findings[0].message
    ready = world.raw["status"]["conditions"][0]
    assert (ready["type"], ready["status"], ready["reason"]) == ("Ready", "False", reason)


def test_the_dead_are_named_where_too_few_would_be_left() -> None:
    world = scaling_in(be=5, to=3)
    world.answers["replication"] = 3
    world.backends[1] = replace(world.backends[1], alive=False)
    world.look()
    said = record(world).findings[0].message
    assert "2 would be left alive (sample-be-1 is dead), and there are tables with replication_num 3. Bring" in said


def test_nobody_is_told_before_the_settings_are_known() -> None:
    world = scaling_in()
    world.answers = {}
    world.look()
    decision = record(world)
    assert decision.step is None
    assert "backend sample-be-4 is to leave: FE's settings have not been read yet" in decision.waits


def test_progress_is_told_with_rate_and_end() -> None:
    world = scaling_in(be=4)
    drain(world, 3, left=100)
    record(world)
    assert member(world, 3)["tabletsLeft"] == 100
    world.now = world.now.replace(minute=2)
    world.backends[3] = replace(world.backends[3], tablets=40)
    world.look()
    decision = record(world)
    told = member(world, 3)
    assert (told["tabletsLeft"], told["tabletsPerMinute"], told["state"]) == (40, 30, "draining")
    assert told["estimatedEnd"] == "2026-11-21T12:03:20Z"
    wait = "backend sample-be-3 is leaving: 40 tablets are left on it, about 30 go each minute, until about 12:03 UTC"
    assert decision.waits == (wait,)
    world.now = world.now.replace(minute=13)
    assert record(world).waits == ("backend sample-be-3 is leaving: 40 tablets are left on it",), "it stalls"


@pytest.mark.parametrize(
    ("bring_about", "said"),
    [
        (lambda world: world.answers.update(settings=HELD | {SCHEDULING: "0"}), f"{SCHEDULING} is 0"),
        (lambda world: world.answers.update(replication=4), "3 backends would be left"),
        (lambda world: world.backends.__setitem__(0, replace(world.backends[0], alive=False)), "sample-be-0 is dead"),
        (lambda world: world.backends.__setitem__(3, replace(world.backends[3], alive=False)), "it is dead itself"),
        (lambda world: world.answers.update(), "recycle bin"),
        (lambda world: world.answers.update(settings={AUTO_DROP: "false"}), "the cause is not known yet"),
    ],
)
def test_a_stall_is_said_with_its_cause_and_nothing_is_forced(bring_about: Any, said: str) -> None:
    world = scaling_in(be=4)
    drain(world, 3, left=7)
    record(world)
    bring_about(world)
    world.look()
    world.now = world.now.replace(minute=9)
    assert record(world).findings == ()
    world.now = world.now.replace(minute=11)
    decision = record(world)
    assert decision.step is None
    assert [finding.reason for finding in decision.findings] == ["ScaleInStalled"]
    assert said in decision.findings[0].message
    assert member(world, 3)["state"] == "stalled"
    assert {c["type"]: c["reason"] for c in world.raw["status"]["conditions"]}["Degraded"] == "ScaleInStalled"


def test_how_long_is_a_stall_is_the_owners_word() -> None:
    world = scaling_in(be=4)
    world.raw["metadata"]["annotations"] = {"starrocks.com/stall-seconds": "60"}
    drain(world, 3, left=7)
    record(world)
    world.now = world.now.replace(minute=1)
    assert [finding.reason for finding in record(world).findings] == ["ScaleInStalled"]


def test_a_leaving_compute_node_may_finish_its_queries_but_not_for_ever() -> None:
    world = World(cn=3)
    world.raw["spec"]["starRocksCnSpec"]["replicas"] = 2
    world.compute_nodes[2] = replace(world.compute_nodes[2], running_queries=4)
    world.answers = {"blacklists": {}}
    world.look()
    decision = record(world)
    assert decision.step is None
    assert "compute node sample-cn-2 is leaving: 4 queries still run on it" in decision.waits
    world.now = world.now.replace(minute=5)
    step = record(world).step
    assert step is not None
    assert step.kind == StepKind.SHRINK_STATEFUL_SET


def test_every_frontend_must_shut_off_a_leaving_compute_node() -> None:
    world = World(cn=3)
    world.raw["spec"]["starRocksCnSpec"]["replicas"] = 2
    world.look()
    assert "compute node sample-cn-2 is to leave: the frontends have not been asked" in record(world).waits[0]
    for lists in ({"sample-fe-0": [], "sample-fe-1": []}, {"sample-fe-0": ["20002"], "sample-fe-1": []}):
        world.answers = {"blacklists": {pod: frozenset(ids) for pod, ids in lists.items()}}
        world.look()
        step = record(world).step
        assert step is not None
        assert (step.kind, step.fact("id")) == (StepKind.BLACKLIST_COMPUTE_NODE, "20002")
    world.raw["spec"]["starRocksCnSpec"]["replicas"] = 3
    step = record(world).step
    assert step is not None
    assert (step.kind, step.fact("id")) == (StepKind.UNBLACKLIST_COMPUTE_NODE, "20002")


def test_a_compute_node_that_a_human_shut_off_stays_so() -> None:
    world = World(cn=3)
    world.answers = {"blacklists": {"sample-fe-0": frozenset(["20002"])}}
    world.look()
    assert not record(world).due


def test_backends_of_shared_data_go_without_a_decommission() -> None:
    world = World()
    world.configured({"fe": Configuration(properties={"run_mode": "shared_data"})})
    world.raw["spec"]["starRocksBeSpec"]["replicas"] = 2
    step = record(world).step
    assert step is not None
    assert step.kind == StepKind.SHRINK_STATEFUL_SET
    world.get("StatefulSet", "sample-be")["spec"]["replicas"] = 2
    world.remove("Pod", "sample-be-2")
    world.backends[2] = replace(world.backends[2], alive=False)
    world.look()
    step = record(world).step
    assert step is not None
    assert (step.kind, step.fact("alive")) == (StepKind.DROP_BACKEND, "false")


def test_two_digit_ordinals_go_by_number() -> None:
    world = scaling_in(be=12, to=9)
    step = record(world).step
    assert step is not None
    assert step.target.startswith("sample-be-11.")


def test_a_stateful_set_that_is_to_be_changed_otherwise_is_not_shrunk_in_the_same_breath() -> None:
    world = scaling_in(be=4)
    drain(world, 3, left=0)
    world.raw["spec"]["starRocksBeSpec"]["image"] = "starrocks/be-ubuntu:3.5.6"
    decision = world.decide()
    assert decision.step is None
    assert decision.waits[-1].startswith("nothing else about it may be open (StatefulSet/sample-be: ")


def test_a_backend_registered_twice_leaves_only_as_both() -> None:
    world = scaling_in(be=4)
    drain(world, 3, left=0)
    world.backends.append(replace(world.backends[3], id="999", decommissioned=False, tablets=4))
    world.look()
    decision = world.decide()
    assert decision.step is not None
    assert (decision.step.kind, decision.step.fact("id")) == (StepKind.DECOMMISSION_BACKEND, "999")


@pytest.mark.parametrize(("alive", "said"), [(False, "is dead"), (True, "has tablets")])
def test_a_backend_that_is_known_by_an_old_address_may_be_the_one_that_is_to_leave(alive: bool, said: str) -> None:
    """Its pod went, or came back with another address: FE counts tablets on it, and takes it for alive for a while."""
    world = scaling_in(be=4)
    world.backends[3] = replace(world.backends[3], host="10.0.0.9", alive=alive)
    world.remove("Pod", "sample-be-3")
    world.look()
    decision = world.decide()
    assert decision.step is None
    assert f"when 10.0.0.9, which {said}, is known not to be it" in " ".join(decision.waits)
    del world.backends[3]
    world.look()
    step = world.decide().step
    assert step is not None
    assert step.kind == StepKind.SHRINK_STATEFUL_SET


def test_a_living_backend_by_address_is_another_when_our_pod_has_long_been_running() -> None:
    world = scaling_in(be=4)
    world.backends[3] = replace(world.backends[3], host="10.0.0.9")
    world.look()
    step = world.decide().step
    assert step is not None
    assert step.kind == StepKind.SHRINK_STATEFUL_SET
