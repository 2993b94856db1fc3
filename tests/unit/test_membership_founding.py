"""The founding is recorded once; a second cluster id, a password refused or a leader missing stop every step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from starrocks_operator.observed import FrontendAnswer, FrontendView, Outcome
from starrocks_operator.status import status_of
from tests.unit.membership_world import CLUSTER_ID, NOW, World, frontend_row

STRANGER = "999"


def unrecorded() -> World:
    world = World()
    del world.raw["status"]["bootstrap"]
    marker = world.get("ConfigMap", "sample-fe-bootstrap")
    marker["data"]["cluster-id"] = ""
    marker["metadata"]["resourceVersion"] = "of the empty marker"
    return world


def with_stray(world: World) -> None:
    """sample-fe-2 founded a cluster of its own."""
    stray = frontend_row(2, role="LEADER", cluster_id=STRANGER)
    assert world.view is not None
    answers = (*world.view.answers[:2], FrontendAnswer(pod="sample-fe-2", outcome=Outcome.ANSWERED, rows=(stray,)))
    world.view = replace(world.view, answers=answers)


def reasons(world: World) -> list[str]:
    return [finding.reason for finding in world.decide().findings]


def missing_backend(world: World) -> None:
    del world.backends[0]
    world.look()


def test_the_first_id_that_all_agree_on_is_recorded_in_marker_and_status() -> None:
    world = unrecorded()
    decision = world.decide()
    assert decision.context.cluster_id == CLUSTER_ID
    marker = next(item for item in decision.apply["fe"] if item["metadata"]["name"] == "sample-fe-bootstrap")
    assert marker["data"] == {"cluster-id": CLUSTER_ID, "owner-uid": "uid-1"}
    status = status_of(world.cluster, world.observed, decision, last_run=None)
    assert status["bootstrap"] == {"clusterId": CLUSTER_ID, "at": "2026-11-21T12:00:00Z"}


def test_nothing_is_recorded_without_a_leader_or_without_agreement() -> None:
    world = unrecorded()
    with_stray(world)
    assert world.decide().context.cluster_id == ""
    assert reasons(world) == ["SplitBrain"]
    world.view = FrontendView(asked_at=NOW, answers=())
    assert world.decide().context.cluster_id == ""


def test_the_record_survives_a_lost_status_by_the_marker() -> None:
    world = World()
    del world.raw["status"]["bootstrap"]
    world.view = None
    assert world.decide().context.cluster_id == CLUSTER_ID


def test_a_namesakes_marker_counts_for_nothing() -> None:
    world = unrecorded()
    world.get("ConfigMap", "sample-fe-bootstrap")["data"] = {"cluster-id": STRANGER, "owner-uid": "uid-of-another"}
    assert world.decide().context.cluster_id == CLUSTER_ID


def test_the_record_is_never_overwritten_by_what_frontends_say() -> None:
    world = World()
    world.frontends = [replace(row, cluster_id=STRANGER) for row in world.frontends]
    world.look()
    assert world.decide().context.cluster_id == CLUSTER_ID
    assert reasons(world) == ["SplitBrain"]


def test_two_records_that_differ_are_split_brain_too() -> None:
    world = World()
    world.raw["status"]["bootstrap"]["clusterId"] = STRANGER
    assert "SplitBrain" in reasons(world)


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        pytest.param(with_stray, "SplitBrain", id="split brain"),
        pytest.param(
            lambda world: setattr(world, "view", FrontendView(asked_at=NOW, answers=())),
            "LeaderMissing",
            id="no leader",
        ),
        pytest.param(
            lambda world: world.observed_extras.update(credentials_problem="Secret root does not exist."),
            "PasswordUnavailable",
            id="no password",
        ),
        pytest.param(
            lambda world: setattr(
                world,
                "view",
                replace(
                    world.view,
                    answers=(
                        *world.view.answers[:2],
                        FrontendAnswer(pod="sample-fe-2", outcome=Outcome.DENIED, error="Access denied"),
                    ),
                ),
            ),
            "PasswordRefused",
            id="password refused",
        ),
        pytest.param(
            lambda world: world.raw["metadata"].update(annotations={"starrocks.com/ignored": "true"}), "", id="ignored"
        ),
        pytest.param(
            lambda world: world.raw["metadata"].update(deletionTimestamp="2026-11-21T12:00:00Z"), "", id="deleted"
        ),
        pytest.param(
            lambda world: world.raw["spec"]["starRocksFeSpec"].update(replicas=0), "InvalidSpec", id="invalid"
        ),
    ],
)
def test_what_stops_every_step(trouble: Callable[[World], None], reason: str) -> None:
    world = World()
    missing_backend(world)
    assert world.decide().step is not None
    trouble(world)
    assert world.decide().step is None
    assert reasons(world) == ([reason] if reason else [])


def test_before_the_founding_a_missing_leader_is_only_waited_for() -> None:
    world = unrecorded()
    world.view = FrontendView(asked_at=NOW, answers=())
    assert reasons(world) == []
    assert world.decide().waits
