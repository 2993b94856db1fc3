"""The quorum's arithmetic, cell by cell, and for any cluster one can think of."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starrocks_operator.membership import frontends
from starrocks_operator.membership.hosts import Group
from starrocks_operator.membership.pods import Pod
from starrocks_operator.membership.quorum import Quorum, majority, objection_to_drop
from starrocks_operator.membership.slots import roster
from starrocks_operator.observed import FrontendRow
from starrocks_operator.step import StepKind
from tests.unit.membership_world import NOW, World, claim, frontend_row, pod, view_of

GROUP = Group(namespace="default", stateful_set="sample-fe", service="sample-fe-search")


@pytest.mark.parametrize(("members", "needed"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3), (6, 4), (7, 4)])
def test_majority(members: int, needed: int) -> None:
    assert majority(members) == needed


@pytest.mark.parametrize(
    ("registered", "alive", "margin"), [(1, 1, 0), (2, 2, 0), (3, 3, 1), (3, 2, 0), (3, 1, -1), (4, 4, 1), (5, 5, 2)]
)
def test_margin(registered: int, alive: int, margin: int) -> None:
    assert Quorum(registered, alive).margin == margin


def test_observers_do_not_vote() -> None:
    rows = [frontend_row(0), frontend_row(1, role="OBSERVER"), frontend_row(2, alive=False)]
    assert Quorum.of(rows) == Quorum(2, 1)


@pytest.mark.parametrize(
    ("alive", "victim", "said"),
    [
        pytest.param((True, True, False), 2, "", id="a dead one of three"),
        pytest.param((True, True, True), 2, "", id="a live one of three: two live of two stay"),
        pytest.param((True, True, False), 1, "it would leave 1 alive of 2", id="a live one while another is dead"),
        pytest.param((True, False, False), 2, "which is no majority", id="no majority anyway"),
        pytest.param((True, True, False), 0, "it leads", id="the leader"),
        pytest.param((True, False), 1, "which is no majority", id="one of two is alive"),
        pytest.param((True,), 0, "it leads", id="the only one"),
        pytest.param((True, True, True, False, False), 4, "", id="a dead one of five"),
        pytest.param((True, True, True, False, False), 2, "it would leave 2 alive of 4", id="a live one of five"),
    ],
)
def test_what_may_be_dropped(alive: tuple[bool, ...], victim: int, said: str) -> None:
    rows = [frontend_row(ordinal, alive=lives) for ordinal, lives in enumerate(alive)]
    objection = objection_to_drop(rows[victim], rows, leader=rows[0].host)
    assert (said in objection) if said else objection == ""


def test_nothing_is_dropped_without_a_leader() -> None:
    rows = [frontend_row(ordinal) for ordinal in range(3)]
    assert "no frontend leads" in objection_to_drop(rows[2], rows, leader=None)


rows_of_clusters = st.integers(1, 7).flatmap(
    lambda count: st.tuples(
        st.integers(0, count - 1),
        st.lists(
            st.tuples(st.booleans(), st.booleans(), st.sampled_from(["FOLLOWER", "FOLLOWER", "OBSERVER"])),
            min_size=count,
            max_size=count,
        ),
    )
)


@given(rows_of_clusters, st.integers(0, 7), st.lists(st.booleans(), min_size=7, max_size=7))
def test_no_step_on_a_frontend_ever_endangers_the_quorum(
    cluster: tuple[int, list[tuple[bool, bool, str]]], replicas: int, fresh: list[bool]
) -> None:
    """Whatever is dead, lost or new: a drop leaves a majority alive, and is never the leader's or a live one's."""
    leading, states = cluster
    rows = [
        replace(
            frontend_row(ordinal, alive=alive, joined=joined),
            role="LEADER" if ordinal == leading else role,
        )
        for ordinal, (alive, joined, role) in enumerate(states)
    ]
    rows[leading] = replace(rows[leading], alive=True, joined=True)
    world = World()
    step = frontends.plan(
        roster(
            component="fe",
            group=GROUP,
            replicas=replicas,
            port=9010,
            pods={f"sample-fe-{o}": Pod.of(pod(f"sample-fe-{o}", "fe")) for o in range(max(replicas, len(rows)))},
            rows=rows,
        ),
        frontends.Ground(
            now=NOW,
            view=view_of(rows, [], []),
            since=NOW - timedelta(days=1),
            claims={
                f"fe-meta-sample-fe-{o}": claim(f"fe-meta-sample-fe-{o}", created=-10 if young else -90000)
                for o, young in enumerate(fresh)
            },
            workload=world.get("StatefulSet", "sample-fe"),
        ),
    ).step
    if step is None or step.kind != StepKind.DROP_FOLLOWER:
        return
    victim = next(row for row in rows if row.target == step.target)
    after = Quorum.of([row for row in rows if row != victim])
    assert victim.role == "FOLLOWER"
    assert not victim.alive
    assert after.alive >= majority(after.registered)
    assert after.alive == Quorum.of(rows).alive
    assert ordinal_of(victim) < replicas


def ordinal_of(row: FrontendRow) -> int:
    ordinal = GROUP.ordinal_of_host(row.host)
    assert ordinal is not None
    return ordinal
