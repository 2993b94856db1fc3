"""Passwords and accounts, set over real sockets in the simulator; every login, and how often one is refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab.simulator.model.grammar import redacted
from starrocks_operator.frontend.account_act import perform_account
from starrocks_operator.frontend.connection import FrontendConnection, FrontendError
from starrocks_operator.frontend.endpoints import Credentials
from starrocks_operator.frontend.logins import FIRST_PAUSE, LONGEST_PAUSE, Logins
from starrocks_operator.frontend.statements import native_hash
from starrocks_operator.observed import FrontendView, Login, Outcome, Questions
from starrocks_operator.run_report import StepOutcome
from starrocks_operator.step import Step, StepKind
from tests.unit.frontend_stage import FrontendStage
from tests.unit.watcher_fakes import Clock

OLD, NEW, OWN = "old-horse", 'it\'s \\ a "new" 密码', "own-secret"


@pytest.fixture
def stage() -> Iterator[FrontendStage]:
    one = FrontendStage()
    try:
        one.start("fe", 0)
        one.look_until(lambda view: view.leader, 0)
        yield one
    finally:
        one.close()


def root(password: str, login: Login = Login.GIVEN) -> Credentials:
    return Credentials(password=password, login=login)


def own(password: str, login: Login = Login.ACCOUNT) -> Credentials:
    return Credentials(user="sr_op", password=password, login=login)


def ladder(first: Credentials, *others: Credentials, edition: str = "") -> Credentials:
    return Credentials(user=first.user, password=first.password, login=first.login, others=others, edition=edition)


EMPTY = root("", Login.EMPTY)


def take(stage: FrontendStage, kind: StepKind, who: Credentials, login: str, target: str = "root") -> tuple[str, str]:
    step = Step(kind=kind, target=target, reason="", reversible=True, expects=(("login", login),))
    return perform_account(step, leader=stage.endpoint(0), credentials=who, pool=stage.pool)


def set_root(stage: FrontendStage, password: str) -> None:
    outcome, said = take(stage, StepKind.SET_ROOT_PASSWORD, ladder(root(password), EMPTY), "empty")
    assert outcome == StepOutcome.DONE, said


def failed_logins(stage: FrontendStage) -> int:
    return stage.do(lambda: sum(stage.simulator.world.refused_logins.values()))


def test_the_first_password_is_set_and_verified_and_nobody_is_told_it(stage: FrontendStage) -> None:
    logged: list[str] = []
    stage.do(lambda: setattr(stage.simulator.world, "on_statement", lambda *said: logged.append(redacted(said[2]))))
    view = stage.look(0, credentials=ladder(root(NEW), EMPTY))
    assert view.login == Login.EMPTY
    outcome, said = take(stage, StepKind.SET_ROOT_PASSWORD, ladder(root(NEW), EMPTY), "empty")
    assert outcome == StepOutcome.DONE, said
    assert stage.look(0, credentials=root(NEW)).login == Login.GIVEN
    assert stage.look(0, credentials=EMPTY).answers[0].outcome == Outcome.DENIED
    told = said + repr(stage.statements) + repr(logged)
    assert "SET PASSWORD = " in told
    assert NEW not in told
    assert native_hash(NEW) not in told
    assert native_hash(NEW)[1:].lower() not in told


def test_a_changed_password_follows_by_the_former_one(stage: FrontendStage) -> None:
    set_root(stage, OLD)
    who = ladder(root(NEW), root(OLD, Login.FORMER))
    assert stage.look(0, credentials=who).login == Login.FORMER
    assert take(stage, StepKind.ROTATE_ROOT_PASSWORD, who, "former")[0] == StepOutcome.DONE
    assert stage.look(0, credentials=who).login == Login.GIVEN
    assert take(stage, StepKind.ROTATE_ROOT_PASSWORD, who, "former")[0] == StepOutcome.FAILED, "the former is gone"
    assert take(stage, StepKind.ROTATE_ROOT_PASSWORD, root(NEW), "former")[0] == StepOutcome.STALE


def test_the_operators_own_account_works_alone_whatever_root_does(stage: FrontendStage) -> None:
    set_root(stage, OLD)
    who = ladder(own(OWN), root(OLD))
    assert stage.look(0, credentials=who).login == Login.GIVEN
    for _ in range(2):  # it may be interrupted anywhere and is said again
        assert take(stage, StepKind.CREATE_OPERATOR_ACCOUNT, who, "given", "sr_op")[0] == StepOutcome.DONE
    view = stage.look(0, credentials=who, questions=Questions(root=True))
    assert (view.login, view.root) == (Login.ACCOUNT, Login.GIVEN)
    assert take(stage, StepKind.ROTATE_ROOT_PASSWORD, ladder(root(NEW), root(OLD, Login.FORMER)), "former")[0] == "done"
    view = stage.look(0, credentials=who, questions=Questions(root=True))
    assert (view.login, view.root, bool(view.leader)) == (Login.ACCOUNT, Login.REFUSED, True)
    assert view.backends is not None
    renewed = ladder(own("another"), own(OWN, Login.ACCOUNT_FORMER))
    assert stage.look(0, credentials=renewed).login == Login.ACCOUNT_FORMER
    outcome, said = take(stage, StepKind.ROTATE_OPERATOR_PASSWORD, renewed, "account-former", "sr_op")
    assert outcome == StepOutcome.DONE, said
    assert stage.look(0, credentials=own("another")).login == Login.ACCOUNT


def test_the_operators_own_account_may_all_that_scaling_in_asks_of_it_but_sees_no_table() -> None:
    stage = FrontendStage(version="4.0.2")
    try:
        stage.start("fe", 0)
        stage.look_until(lambda view: view.leader, 0)
        set_root(stage, OLD)
        who = ladder(own(OWN), root(OLD))
        assert take(stage, StepKind.CREATE_OPERATOR_ACCOUNT, who, "given", "sr_op")[0] == StepOutcome.DONE
        asked = Questions(settings=("drop_backend_after_decommission",), replication=True, blacklists=True)
        view = stage.look(0, credentials=own(OWN), questions=asked)
        assert (view.login, view.settings) == (Login.ACCOUNT, {"drop_backend_after_decommission": "true"})
        assert view.blacklists == {"sample-fe-0": frozenset()}
        assert view.replication is None
        with FrontendConnection(stage.endpoint(0), own(OWN)) as connection:
            connection.ask("ADD COMPUTE NODE BLACKLIST 10001")
            connection.ask('ADMIN SET FRONTEND CONFIG ("drop_backend_after_decommission" = "false")')
    finally:
        stage.close()


@pytest.mark.parametrize("done", [True, False], ids=["carried out", "not carried out"])
def test_a_lost_reply_is_resolved_by_a_login(stage: FrontendStage, done: bool) -> None:
    stage.fault("sample-fe-0", "lose-reply" if done else "lose-request", value=1)
    outcome, said = take(stage, StepKind.SET_ROOT_PASSWORD, ladder(root(NEW), EMPTY), "empty")
    assert outcome == (StepOutcome.DONE if done else StepOutcome.UNKNOWN), said
    assert stage.look(0, credentials=ladder(root(NEW), EMPTY)).login == (Login.GIVEN if done else Login.EMPTY)


def test_a_wrong_password_is_tried_once_and_then_not_for_a_while(stage: FrontendStage) -> None:
    """However often FE is looked at: an account that is locked after some failures is not locked by us."""
    set_root(stage, OLD)
    before = failed_logins(stage)
    wrong = ladder(root("wrong"), root("wronger", Login.FORMER), edition="a cluster, version 1")
    views = [stage.look(0, credentials=wrong) for _ in range(20)]
    assert {view.answers[0].outcome for view in views} == {Outcome.DENIED}
    assert len({view.answers[0].error for view in views}) == 1, "the status says one thing and keeps quiet"
    assert failed_logins(stage) - before == 2
    right = ladder(root(OLD), edition="a cluster, version 2")
    assert stage.look(0, credentials=right).login == Login.GIVEN, "a Secret that changed is tried at once"


def test_what_served_last_is_tried_first(stage: FrontendStage) -> None:
    set_root(stage, OLD)
    before = failed_logins(stage)
    who = ladder(root(NEW), root(OLD, Login.FORMER), edition="a cluster, version 1")
    for _ in range(5):
        assert stage.look(0, credentials=who).login == Login.FORMER
    assert failed_logins(stage) - before == 1


def test_the_pause_after_a_refusal_grows_to_ten_minutes(stage: FrontendStage) -> None:
    clock = Clock()
    logins, place, who = Logins(clock=clock), stage.endpoint(0), ladder(root("wrong"), edition="one")
    pauses = []
    for _ in range(8):
        logins.refused(place, who, FrontendError(Outcome.DENIED, "no"))
        before = clock.now
        while logins.refusal(place, who):
            clock.forward(1)
        pauses.append(clock.now - before)
    assert pauses[0] == FIRST_PAUSE
    assert pauses[1] == 2 * FIRST_PAUSE
    assert pauses[-1] == LONGEST_PAUSE


def test_missing_rights_are_no_wrong_password(stage: FrontendStage) -> None:
    with FrontendConnection(stage.endpoint(0), root("")) as connection:
        connection.ask("CREATE USER 'poor'@'%' IDENTIFIED BY 'x'")
    who = ladder(Credentials(user="poor", password="x", login=Login.ACCOUNT), root(""), edition="one")
    view: FrontendView = stage.look(0, credentials=who)
    assert view.answers[0].outcome == Outcome.DENIED
    assert "5203" in view.answers[0].error or "Access denied" in view.answers[0].error
