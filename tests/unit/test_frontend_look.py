"""Looking at, and acting on, frontends over real sockets: everything they do to a careless client."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from starrocks_operator.frontend import Credentials, Endpoint, FrontendPool, Timeouts, look, perform
from starrocks_operator.frontend.act import perform_everywhere
from starrocks_operator.observed import FrontendView, Outcome, Questions
from starrocks_operator.run_report import StepOutcome
from starrocks_operator.step import Step, StepKind
from tests.unit.frontend_stage import ROOT, FrontendStage

SECRET = "hunter2-very-secret"


@pytest.fixture
def stage() -> Iterator[FrontendStage]:
    stage = FrontendStage()
    yield stage
    stage.close()


def members(view: FrontendView) -> int:
    return sum(row.alive for row in view.frontends or ())


def started(stage: FrontendStage, *, frontends: int = 3, backends: int = 0) -> FrontendView:
    for ordinal in range(frontends):
        stage.start("fe", ordinal)
    for ordinal in range(backends):
        stage.start("be", ordinal)
    everyone = range(frontends)

    def complete(view: FrontendView) -> bool:
        answered = all(answer.outcome == Outcome.ANSWERED for answer in view.answers)
        alive = sum(row.alive for row in view.backends or ())
        return members(view) == frontends and answered and alive == backends

    return stage.look_until(complete, *everyone)


def outcomes(view: FrontendView) -> dict[str, Outcome]:
    return {answer.pod: answer.outcome for answer in view.answers}


def test_a_whole_cluster_is_seen_through_its_leader(stage: FrontendStage) -> None:
    view = started(stage, backends=2)
    assert view.leader == stage.endpoint(0).host
    assert [row.role for row in view.frontends or ()].count("LEADER") == 1
    assert {row.target for row in view.backends or ()} == {
        f"sample-be-{ordinal}.sample-be-search.default.svc.cluster.local:9050" for ordinal in range(2)
    }
    assert view.compute_nodes == ()
    assert len({row.cluster_id for row in view.frontends or ()}) == 1


def test_nobody_listens_before_the_founding(stage: FrontendStage) -> None:
    view = stage.look(0, 1)
    assert set(outcomes(view).values()) == {Outcome.REFUSED}
    assert view.leader is None
    assert view.frontends is None


def test_a_cluster_without_a_majority_has_no_leader_and_does_not_hold_us_up(stage: FrontendStage) -> None:
    started(stage)
    for pod in ("sample-fe-1", "sample-fe-2"):
        stage.fault(pod, "kill")
    view = stage.look_until(lambda view: view.leader is None, 0, 1, 2)
    assert view.frontends is None
    assert view.backends is None


def test_a_hung_frontend_is_told_apart_and_costs_the_others_nothing(stage: FrontendStage) -> None:
    started(stage)
    stage.fault("sample-fe-2", "hang")
    view = stage.look(0, 1, 2)
    assert outcomes(view)["sample-fe-2"] == Outcome.HUNG
    assert view.leader == stage.endpoint(0).host


def test_a_wrong_password_is_denied_and_never_told(stage: FrontendStage) -> None:
    started(stage, frontends=1)
    view = stage.look(0, credentials=Credentials(password=SECRET))
    assert outcomes(view) == {"sample-fe-0": Outcome.DENIED}
    assert SECRET not in repr(view)
    assert SECRET not in repr(Credentials(password=SECRET))


def test_a_second_cluster_is_seen_and_the_larger_one_leads(stage: FrontendStage) -> None:
    before = started(stage)
    stray = stage.facts("fe", 8, name="stray-fe-0", cluster_name="stray")
    stage.do(lambda: stage.simulator.pod_started(stray))
    outsider = Endpoint(pod="sample-fe-3", host=stray.host, address=stray.address, port=9030)

    def everyone() -> FrontendView:
        return look([*map(stage.endpoint, range(3)), outsider], ROOT, pool=stage.pool)

    stage.wait_for(lambda: outcomes(everyone())["sample-fe-3"] == Outcome.ANSWERED)
    view = everyone()
    assert len({row.cluster_id for answer in view.answers for row in answer.rows}) == 2
    assert view.leader == before.leader


def test_a_quiet_look_asks_the_leader_and_one_other(stage: FrontendStage) -> None:
    view = started(stage)
    stage.statements.clear()
    quiet = stage.look(0, 1, 2, thorough=False, last=view)
    assert len(stage.statements) == 5
    assert len({pod for pod, _ in stage.statements}) == 2
    assert outcomes(quiet) == outcomes(view)
    assert quiet.leader == view.leader


def test_a_quiet_look_becomes_thorough_when_the_leader_is_gone(stage: FrontendStage) -> None:
    view = started(stage)
    stage.fault("sample-fe-0", "kill")
    new = stage.look_until(lambda new: new.leader not in (None, view.leader), 0, 1, 2, thorough=False, last=view)
    assert outcomes(new)["sample-fe-0"] == Outcome.REFUSED


def adding(ordinal: int) -> Step:
    return Step(
        kind=StepKind.ADD_BACKEND,
        target=f"sample-be-{ordinal}.sample-be-search.default.svc.cluster.local:9050",
        reason="",
        reversible=True,
        expects=(("role", "absent"),),
    )


def test_a_step_is_taken_once_and_found_done_after_that(stage: FrontendStage) -> None:
    started(stage, frontends=1)
    leader = stage.endpoint(0)
    stage.start("be", 7)  # only so that the leader can resolve its name
    stage.fault("sample-be-7", "kill")
    assert perform(adding(7), leader=leader, credentials=ROOT, pool=stage.pool)[0] == StepOutcome.DONE
    outcome, message = perform(adding(7), leader=leader, credentials=ROOT, pool=stage.pool)
    assert outcome == StepOutcome.DONE
    assert "already" in message
    assert len(stage.look(0).backends or ()) == 1


@pytest.mark.parametrize("fault", ["lose-reply", "lose-request"])
def test_a_lost_reply_is_resolved_by_looking(stage: FrontendStage, fault: str) -> None:
    started(stage, frontends=1)
    stage.fault("sample-fe-0", fault, value=2)  # the first statement of a step is its look
    outcome, _ = perform(adding(1), leader=stage.endpoint(0), credentials=ROOT, pool=stage.pool)
    done = bool(stage.look(0).backends)
    assert outcome == (StepOutcome.DONE if done else StepOutcome.UNKNOWN)
    assert done == (fault == "lose-reply")


def test_a_refused_step_says_why(stage: FrontendStage) -> None:
    started(stage, frontends=1)
    stage.fault("sample-fe-0", "error", code=1064, text="Failed to acquire globalStateMgr lock. Try again", count=1)
    outcome, message = perform(adding(1), leader=stage.endpoint(0), credentials=ROOT, pool=stage.pool)
    assert outcome == StepOutcome.FAILED
    assert "Try again" in message


def test_a_member_that_was_added_anew_is_not_dropped(stage: FrontendStage) -> None:
    view = started(stage)
    row = next(row for row in view.frontends or () if row.role == "FOLLOWER")
    step = Step(
        kind=StepKind.DROP_FOLLOWER,
        target=row.target,
        reason="",
        reversible=False,
        expects=(("name", "an older member"), ("alive", "false"), ("role", "FOLLOWER")),
    )
    ordinal = next(ordinal for ordinal in range(3) if stage.endpoint(ordinal).host == view.leader)
    outcome, _ = perform(step, leader=stage.endpoint(ordinal), credentials=ROOT, pool=stage.pool)
    assert outcome == StepOutcome.DONE  # the older member is gone, which is all that was wanted
    assert members(stage.look(0, 1, 2)) == 3


class Silence:
    """Something that accepts connections and never says a word."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.endpoint = Endpoint(pod="mute", host="mute", address="127.0.0.1", port=self._socket.getsockname()[1])

    def close(self) -> None:
        self._socket.close()


def test_hung_frontends_hold_a_fixed_number_of_threads() -> None:
    silences = [Silence() for _ in range(6)]
    pool = FrontendPool(threads=2, timeouts=Timeouts(connect=1, answer=1), patience=0.3)
    before = threading.active_count()
    begun = time.monotonic()
    view = look([silence.endpoint for silence in silences], ROOT, pool=pool)
    again = look([silences[0].endpoint], ROOT, pool=pool)
    assert threading.active_count() <= before + 2
    assert {answer.outcome for answer in view.answers} <= {Outcome.HUNG, Outcome.FAILED}
    assert again.answers[0].outcome == Outcome.HUNG
    assert "earlier question" in again.answers[0].error
    assert time.monotonic() - begun < 30
    pool.close()
    for silence in silences:
        silence.close()


def test_the_leader_is_asked_more_only_while_somebody_leaves(stage: FrontendStage) -> None:
    view = started(stage, frontends=1, backends=1)
    assert (view.settings, view.replication, view.blacklists) == (None, None, None)
    assert stage.look(0, questions=Questions(replication=True)).replication == 0, "there are no tables yet"
    stage.do(
        lambda: next(iter(stage.simulator.world.databases.values())).tablets.create_table(
            "db", "t", replication=1, tablets=1
        )
    )
    auto_drop = "drop_backend_after_decommission"
    asked = stage.look(
        0, questions=Questions(settings=(auto_drop, "no_such_setting"), replication=True, blacklists=True)
    )
    assert asked.settings == {auto_drop: "true"}
    assert asked.replication == 1
    assert asked.blacklists == {}, "this release has no such lists"
    assert stage.look(0, questions=Questions(settings=("no_such_setting",))).settings == {}, "asked, and there is none"


def test_a_setting_is_changed_and_looked_at(stage: FrontendStage) -> None:
    started(stage, frontends=1)
    key = "drop_backend_after_decommission"
    hold = Step(
        kind=StepKind.HOLD_AUTO_DROP,
        target=key,
        reason="",
        reversible=True,
        expects=(("value", "true"), ("to", "false")),
    )
    for said in ("done.", "it was so already."):
        outcome, message = perform(hold, leader=stage.endpoint(0), credentials=ROOT, pool=stage.pool)
        assert (outcome, said in message) == (StepOutcome.DONE, True)
    assert stage.look(0, questions=Questions(settings=(key,))).settings == {key: "false"}


def test_every_frontend_is_told_of_a_compute_node_without_queries() -> None:
    stage = FrontendStage(version="4.0.1")
    try:
        started(stage, frontends=2)
        shut = Step(
            kind=StepKind.BLACKLIST_COMPUTE_NODE, target="cn:9050", reason="", reversible=True, expects=(("id", "7"),)
        )
        places = [stage.endpoint(ordinal) for ordinal in range(2)]
        outcome, _ = perform_everywhere(shut, places=places, credentials=ROOT, pool=stage.pool)
        assert outcome == StepOutcome.DONE
        shown = stage.look(0, 1, questions=Questions(blacklists=True)).blacklists
        assert shown == {"sample-fe-0": frozenset({"7"}), "sample-fe-1": frozenset({"7"})}
    finally:
        stage.close()
