"""How FE lets us in x what the cluster names -> the step on an account: every cell."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import pytest

from starrocks_operator.decide import decide
from starrocks_operator.membership import accounts
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.observed import Accounts, FrontendAnswer, FrontendView, Login, Observed, Outcome
from starrocks_operator.status import status_of
from starrocks_operator.step import ACCOUNT_STEPS
from tests.unit.membership_world import NOW, World

ROOT_AT, OWN_AT = "Secret root@7", "Secret own@9"
SET, ROTATE = "SetRootPassword root", "RotateRootPassword root"
CREATE, ROTATE_OWN = "CreateOperatorAccount op", "RotateOperatorPassword op"
NONE = ""

# (named in the CR, how the leader let us in, how it lets root in if that was asked) -> step
CELLS: dict[tuple[str, str, str], str] = {
    ("nothing", "given", ""): NONE,
    ("root", "given", ""): NONE,
    ("root", "former", ""): ROTATE,
    ("root", "empty", ""): SET,
    ("own", "given", ""): CREATE,
    ("own", "account", ""): NONE,
    ("own", "account-former", ""): ROTATE_OWN,
    ("both", "given", ""): CREATE,
    ("both", "former", ""): ROTATE,
    ("both", "empty", ""): SET,
    ("both", "account", ""): NONE,
    ("both", "account", "given"): NONE,
    ("both", "account", "former"): ROTATE,
    ("both", "account", "empty"): SET,
    ("both", "account", "refused"): NONE,
    ("both", "account-former", ""): ROTATE_OWN,
    ("both", "account-former", "given"): ROTATE_OWN,
    ("both", "account-former", "former"): ROTATE,
    ("both", "account-former", "empty"): SET,
    ("both", "account-former", "refused"): ROTATE_OWN,
}
NAMED = {
    "nothing": Accounts(),
    "root": Accounts(root=ROOT_AT),
    "own": Accounts(operator=OWN_AT, user="op"),
    "both": Accounts(root=ROOT_AT, operator=OWN_AT, user="op"),
}


def world(named: str, login: str, root: str = "", **status: Any) -> tuple[StarRocksCluster, Observed]:
    made = World()
    made.raw["status"] |= status
    observed = made.observed
    assert observed.view is not None
    return made.cluster, replace(observed, view=replace(observed.view, login=login, root=root), accounts=NAMED[named])


def possible(named: str, login: str, root: str) -> bool:
    """A login is had only if it is named; root is asked about only beside an account of our own."""
    logins = {
        "nothing": {"given"},
        "root": {"given", "former", "empty"},
        "own": {"given", "account", "account-former"},
        "both": {"given", "former", "empty", "account", "account-former"},
    }
    return login in logins[named] and (not root or (named == "both" and login.startswith("account")))


@pytest.mark.parametrize(("cell", "wanted"), CELLS.items(), ids=lambda value: "-".join(value) or "none")
def test_each_cell(cell: tuple[str, str, str], wanted: str) -> None:
    step = accounts.plan(world(*cell)[1]).step
    assert (f"{step.kind} {step.target}" if step else NONE) == wanted


def test_no_cell_is_missing() -> None:
    roots = ("", "given", "former", "empty", "refused")
    logins = [str(login) for login in Login if login != Login.REFUSED]
    assert set(CELLS) == {cell for cell in itertools.product(NAMED, logins, roots) if possible(*cell)}


@pytest.mark.parametrize("login", ["empty", "former"])
def test_the_password_goes_before_the_members_and_into_nothing_that_is_recorded(login: str) -> None:
    """A pod needs it to join, so it comes first; and the step that is written to the status knows only where it is."""
    made = World(fe=3)
    made.frontends = made.frontends[:2]
    made.look()
    observed = made.observed
    assert observed.view is not None
    observed = replace(observed, view=replace(observed.view, login=login), accounts=NAMED["root"])
    decision = decide(made.cluster, observed)
    assert decision.step is not None
    assert decision.step.kind in ACCOUNT_STEPS
    status = status_of(made.cluster, observed, decision, last_run=None)
    assert status["nextStep"]["target"] == "root"
    assert ROOT_AT in json.dumps(decision.step.document())
    later = replace(observed, accounts=Accounts(root="Secret root@8"))
    again = decide(made.cluster, later).step
    assert again is not None
    assert again.hash != decision.step.hash, "a Secret that has changed since is another step"


def test_nothing_is_done_without_a_leader_or_before_anybody_let_us_in() -> None:
    _, observed = world("both", "empty")
    assert observed.view is not None
    leaderless = replace(observed, view=replace(observed.view, leader=None))
    unasked = replace(observed, view=replace(observed.view, login=""))
    for other in (leaderless, unasked, replace(observed, view=None)):
        assert accounts.plan(other).step is None


def test_what_fe_accepted_is_remembered_and_nothing_else() -> None:
    cluster, observed = world("both", "account", "given")
    assert accounts.record(cluster, observed) == {"root": ROOT_AT, "operator": OWN_AT}
    cluster, observed = world("both", "account", "refused")
    assert accounts.record(cluster, observed) == {"operator": OWN_AT}
    cluster, observed = world("root", "former")
    assert accounts.record(cluster, observed) == {}
    cluster, observed = world("root", "former", accounts={"root": "Secret root@1"})
    assert accounts.record(cluster, observed) == {"root": "Secret root@1"}, "not forgotten while it is changed"


def test_root_is_asked_about_once_per_version_of_its_secret() -> None:
    fresh, observed = world("both", "account")
    known, _ = world("both", "account", accounts={"root": ROOT_AT})
    older, _ = world("both", "account", accounts={"root": "Secret root@6"})
    assert accounts.wants_root(fresh, observed.accounts)
    assert accounts.wants_root(older, observed.accounts)
    assert not accounts.wants_root(known, observed.accounts)
    assert not accounts.wants_root(fresh, NAMED["root"]), "we log in as root anyway"


@pytest.mark.parametrize(
    ("named", "login", "root", "more", "reason"),
    [
        pytest.param("both", "account", "refused", {}, "RootPasswordDiffers", id="root's is another"),
        pytest.param("root", "empty", "", {"unusable": "It ends."}, "PasswordUnusable", id="a line break"),
        pytest.param("root", "given", "", {"problem": "No."}, "OperatorAccountUnavailable", id="no account"),
    ],
)
def test_what_a_person_should_know(named: str, login: str, root: str, more: dict[str, str], reason: str) -> None:
    _, observed = world(named, login, root)
    outlook = accounts.plan(replace(observed, accounts=replace(observed.accounts, **more)))
    assert [finding.reason for finding in outlook.findings] == [reason]
    assert outlook.step is None
    assert outlook.findings[0].blocks == "nothing"


def test_a_frontend_that_is_not_trusted_stops_every_step() -> None:
    cluster, observed = world("nothing", "given")
    answer = FrontendAnswer(pod="sample-fe-0", outcome=Outcome.UNTRUSTED, error="sample-fe-0 is not trusted: why")
    decision = decide(cluster, replace(observed, view=FrontendView(asked_at=NOW, answers=(answer,))))
    assert "TlsRefused" in [finding.reason for finding in decision.findings]
    assert decision.step is None
