"""The quorum's arithmetic, cell by cell, and for any cluster one can think of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from starrocks_operator.membership import frontends
from starrocks_operator.membership.hosts import Group
from starrocks_operator.membership.pods import Pod
from starrocks_operator.membership.quorum import Order, Quorum, majority, objection_to_drop, removal_of
from starrocks_operator.membership.slots import roster
from starrocks_operator.observed import FrontendRow
from starrocks_operator.step import Step, StepKind
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


POD, DROP = Order.POD_FIRST, Order.DROP_FIRST


@pytest.mark.parametrize(
    ("registered", "alive", "leads", "order", "margin"),
    [
        (1, 1, True, None, 0),
        (2, 2, False, DROP, 0),
        (2, 2, True, None, 0),
        (2, 1, False, None, 0),
        (3, 3, False, POD, 0),
        (3, 3, True, POD, 0),
        (3, 2, False, None, 0),
        (4, 4, False, DROP, 1),  # pod first would leave none to spare
        (4, 4, True, POD, 0),  # a leader cannot be dropped
        (4, 3, False, DROP, 0),  # pod first would end it
        (4, 3, True, None, 0),
        (5, 5, False, POD, 1),
        (5, 5, True, POD, 1),
        (5, 4, False, POD, 0),
        (5, 3, False, None, 0),
        (6, 6, False, POD, 1),
        (6, 5, False, DROP, 1),
        (6, 5, True, POD, 0),
        (7, 7, False, POD, 2),
        (7, 7, True, POD, 2),
        (7, 5, False, POD, 0),
    ],
)
def test_the_order_in_which_a_live_frontend_leaves(
    registered: int, alive: int, leads: bool, order: Order | None, margin: int
) -> None:
    """The victim is alive; who else is dead does not matter."""
    rows = [frontend_row(ordinal, alive=ordinal < alive) for ordinal in range(registered)]
    victim = rows[0] if leads else rows[alive - 1] if alive > 1 else replace(rows[0], role="FOLLOWER")
    found = removal_of(victim, rows, leader=rows[0].host)
    assert (found.order, found.margin) == (order, margin)
    assert bool(found.objection) == (order is None)


@given(st.integers(1, 9), st.integers(0, 8), st.integers(0, 8))
def test_no_order_passes_below_the_majority_and_none_at_zero_if_another_does_not(
    registered: int, dead: int, victim: int
) -> None:
    rows = [frontend_row(ordinal, alive=ordinal < registered - dead) for ordinal in range(registered)]
    victim %= registered
    if not rows[victim].alive:
        return
    found = removal_of(rows[victim], rows, leader=rows[0].host)
    living = sum(row.alive for row in rows) - 1
    margins = {POD: living - majority(registered)}
    if victim:
        margins[DROP] = living - majority(registered - 1)
    if found.order is None:
        assert registered == 1 or max(margins.values()) < 0
    else:
        assert found.margin == margins[found.order] >= 0
        assert found.margin > 0 or max(margins.values()) <= 0


def test_nobody_leaves_without_a_leader() -> None:
    rows = [frontend_row(ordinal) for ordinal in range(3)]
    assert removal_of(rows[2], rows, leader=None).order is None


class Frontends:
    """Frontends as FE and Kubernetes have them, in no time: a step is done as soon as it is decided."""

    def __init__(self, count: int) -> None:
        self.wished = self.placed = count
        self.leading: int | None = 0
        self.births = 0
        self.rows = {ordinal: self.member(ordinal) for ordinal in range(count)}
        self.claims = set(range(count))
        self.young: set[int] = set()
        self.workload = World().get("StatefulSet", "sample-fe")

    def member(self, ordinal: int) -> FrontendRow:
        self.births += 1
        return frontend_row(ordinal, added=-80000 + self.births, role="FOLLOWER")

    def shown(self) -> list[FrontendRow]:
        return [replace(row, role="LEADER" if o == self.leading else "FOLLOWER") for o, row in self.rows.items()]

    @property
    def quorum(self) -> Quorum:
        return Quorum.of(self.rows.values())

    def elect(self, choice: int) -> None:
        """Whoever is alive may lead, if a majority is."""
        living = [ordinal for ordinal, row in sorted(self.rows.items()) if row.alive]
        if self.leading not in living:
            self.leading = living[choice % len(living)] if living and self.quorum.margin >= 0 else None

    def decide(self) -> Step | None:
        if self.leading is None:
            return None
        return frontends.plan(
            roster(
                component="fe",
                group=GROUP,
                replicas=self.wished,
                live=self.placed,
                port=9010,
                pods={f"sample-fe-{o}": self.pod(o) for o in range(self.placed)},
                rows=self.shown(),
            ),
            frontends.Ground(
                now=NOW,
                view=view_of(self.shown(), [], []),
                since=NOW - timedelta(days=1),
                known={f"sample-fe-{o}": frontend_row(o, added=-80000).name for o in range(9)},
                claims={f"fe-meta-sample-fe-{o}": claim(f"fe-meta-sample-fe-{o}") for o in self.claims},
                workload=self.workload,
            ),
        ).step

    def pod(self, ordinal: int) -> Pod:
        found = Pod.of(pod(f"sample-fe-{ordinal}", "fe"))
        return replace(found, created=NOW) if ordinal in self.young else found

    def take(self, step: Step) -> None:
        ordinal = int(step.target.split(".")[0].rpartition("-")[2]) if step.target[-1] != "e" else self.placed - 1
        match step.kind:
            case StepKind.DROP_FOLLOWER:
                del self.rows[ordinal]
            case StepKind.SHRINK_STATEFUL_SET:
                self.placed -= 1
                self.die(self.placed)
            case StepKind.ADD_FOLLOWER:
                self.rows[ordinal] = replace(self.member(ordinal), alive=False, joined=False)
            case StepKind.DELETE_META_VOLUME:
                self.claims.discard(ordinal)
            case other:
                assert other == StepKind.DELETE_POD
                self.young.add(ordinal)
                self.die(ordinal)

    def die(self, ordinal: int) -> None:
        if ordinal in self.rows:
            self.rows[ordinal] = replace(self.rows[ordinal], alive=False)

    def revive(self) -> None:
        """All that have a pod come back, or join; and Kubernetes makes the pods that are wished."""
        for ordinal in range(self.placed):
            if ordinal in self.rows:
                self.claims.add(ordinal)
                self.rows[ordinal] = replace(self.rows[ordinal], alive=True, joined=True)
        while self.placed < self.wished and (self.placed in self.rows or self.placed not in self.claims):
            self.placed += 1


events = st.one_of(
    st.tuples(st.just("step"), st.integers(1, 6)),
    st.tuples(st.just("wish"), st.integers(2, 7)),
    st.tuples(st.just("die"), st.integers(0, 6)),
    st.tuples(st.just("revive"), st.just(0)),
)


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 7), st.lists(events, max_size=25), st.integers(0, 6))
def test_no_sequence_of_steps_endangers_the_quorum(
    count: int, happenings: Sequence[tuple[str, int]], choice: int
) -> None:
    """I1, with deaths, returns and changed wishes between any two steps. At the end, what was wished is there."""
    group = Frontends(count)
    for name, number in happenings:
        match name:
            case "wish":
                group.wished = number
            case "die":
                group.die(number)
            case "revive":
                group.revive()
            case _:
                for _ in range(number):
                    one_step(group)
        group.elect(choice)
    for _ in range(80):
        group.revive()
        group.elect(choice)
        one_step(group)
    assert sorted(group.rows) == list(range(group.wished))
    assert group.placed == group.wished
    assert group.decide() is None


def one_step(group: Frontends) -> None:
    step, before, leading = group.decide(), group.quorum, group.leading
    if step is None:
        return
    target = group.rows.get(leading if leading is not None else -1)
    group.take(step)
    after = group.quorum
    assert after.alive >= before.alive or after.margin >= 0, f"{step} left {after} of {before}"
    if step.kind == StepKind.DROP_FOLLOWER:
        assert after.margin >= 0
        assert target is not None
        assert step.target != target.target, "the leader was dropped"
    group.elect(3)
