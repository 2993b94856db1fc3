"""Which logins a cluster gives, in which order, out of which objects; and what the watcher remembers of them."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from starrocks_operator.decision import Context, Decision
from starrocks_operator.frontend.ladder import DEFAULT_ACCOUNT, Former, Ladder, holders_of, ladder
from starrocks_operator.frontend.tls import TlsMode
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects import references
from starrocks_operator.observed import Children, Login
from starrocks_operator.step import Step, StepKind
from tests.unit.membership_world import manifest
from tests.unit.watcher_fakes import KEY, Clock, FakeKube, cluster_raw, settings
from watcher.job import job
from watcher.references import PASSWORDS, Reader

NOW, BEFORE, OWN = "now-secret", "before-secret", "own-secret"
PEM = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n"
ROOT, ACCOUNT, CA = ("Secret", "root"), ("Secret", "own"), ("ConfigMap", "ca")


def cluster(*, password: bool = True, status: dict[str, Any] | None = None, **annotations: str) -> StarRocksCluster:
    raw = manifest(annotations={f"starrocks.com/{key.replace('_', '-')}": word for key, word in annotations.items()})
    if password:
        reference = {"secretKeyRef": {"name": "root", "key": "password"}}
        raw["spec"]["starRocksFeSpec"]["feEnvVars"] = [{"name": "MYSQL_PWD", "valueFrom": reference}]
    return StarRocksCluster.parse(raw | {"status": {"phase": "running", **(status or {})}})


def secret(version: str = "7", **data: str) -> dict[str, Any]:
    coded = {key.replace("_", "."): base64.b64encode(value.encode()).decode() for key, value in data.items()}
    return {"metadata": {"resourceVersion": version}, "data": coded}


def climb(of: StarRocksCluster, holders: dict[tuple[str, str], Any], **options: Any) -> Ladder:
    return ladder(of, references(of), holders, **options)


def rungs(climbed: Ladder) -> list[tuple[str, str, str]]:
    assert climbed.credentials is not None, climbed.problem
    return [(one.login, one.user, one.password) for one in (climbed.credentials, *climbed.credentials.others)]


def test_without_anything_root_has_no_password() -> None:
    climbed = climb(cluster(password=False), {})
    assert rungs(climbed) == [("given", "root", "")]
    assert climbed.accounts.root == ""


def test_as_long_as_fe_accepted_none_no_password_is_tried_too() -> None:
    holders = {ROOT: secret(password=NOW)}
    climbed = climb(cluster(), holders)
    assert rungs(climbed) == [("given", "root", NOW), ("empty", "root", "")]
    assert climbed.accounts.root == "Secret root@7"
    accepted = cluster(status={"accounts": {"root": "Secret root@3"}})
    assert rungs(climb(accepted, holders)) == [("given", "root", NOW)]


@pytest.mark.parametrize("known", ["remembered", "in the Secret"])
def test_the_password_before_comes_after_the_present_one(known: str) -> None:
    kept = {"password_previous": BEFORE} if known == "in the Secret" else {}
    former = Former(root=BEFORE if not kept else "")
    accepted = cluster(status={"accounts": {"root": "Secret root@3"}})
    climbed = climb(accepted, {ROOT: secret(password=NOW, **kept)}, former=former)
    assert rungs(climbed) == [("given", "root", NOW), ("former", "root", BEFORE)]
    same = climb(accepted, {ROOT: secret(password=NOW)}, former=Former(root=NOW))
    assert rungs(same) == [("given", "root", NOW)], "what has not changed is not tried twice"


def test_an_account_of_our_own_goes_first() -> None:
    of = cluster(operator_account="own")
    climbed = climb(of, {ROOT: secret(password=NOW), ACCOUNT: secret("9", password=OWN)}, former=Former(operator="x"))
    assert [(login, user) for login, user, _ in rungs(climbed)] == [
        (Login.ACCOUNT, DEFAULT_ACCOUNT),
        (Login.ACCOUNT_FORMER, DEFAULT_ACCOUNT),
        (Login.GIVEN, "root"),
        (Login.EMPTY, "root"),
    ]
    assert (climbed.accounts.operator, climbed.accounts.user) == ("Secret own@9", DEFAULT_ACCOUNT)


def test_with_an_account_of_our_own_roots_secret_may_be_missing() -> None:
    climbed = climb(cluster(operator_account="own"), {ROOT: None, ACCOUNT: secret(password=OWN)})
    assert [login for login, _, _ in rungs(climbed)] == [Login.ACCOUNT]
    assert climbed.problem == ""


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (None, "does not exist"),
        (secret(other="x"), "no key password"),
        (secret(password=""), "no key password"),
        (secret(password=OWN, username="root"), "is no name for it"),
        (secret(password=OWN, username="x' IDENTIFIED BY 'y"), "is no name for it"),
        ({"metadata": {}, "data": {"password": "/w=="}}, "no UTF-8"),
    ],
)
def test_an_account_that_cannot_be_used_is_explained_and_root_is_used(raw: Any, said: str) -> None:
    climbed = climb(cluster(operator_account="own"), {ROOT: secret(password=NOW), ACCOUNT: raw})
    assert said in climbed.accounts.problem
    assert OWN not in climbed.accounts.problem
    assert rungs(climbed)[0][0] == Login.GIVEN


def test_a_line_break_at_the_end_is_told() -> None:
    assert "user root" in climb(cluster(), {ROOT: secret(password=NOW + "\n")}).accounts.unusable


def test_nothing_that_is_told_or_compared_holds_a_password() -> None:
    of = cluster(operator_account="own")
    climbed = climb(of, {ROOT: secret(password=NOW), ACCOUNT: secret(password=OWN)}, former=Former(root=BEFORE))
    assert climbed.credentials is not None
    told = repr(climbed) + climbed.credentials.edition
    assert not [word for word in (NOW, OWN, BEFORE) if word in told]


def test_every_version_of_what_is_needed_is_another_edition() -> None:
    def edition(**versions: str) -> str:
        holders = {
            ROOT: secret(versions.get("root", "1"), password=NOW),
            ACCOUNT: secret(versions.get("own", "1"), password=OWN),
            CA: {"metadata": {"resourceVersion": versions.get("ca", "1")}, "data": {"ca.crt": PEM}},
        }
        of = cluster(operator_account="own", fe_ssl_mode="verify_ca", fe_ssl_ca="configmap/ca")
        assert set(holders_of(references(of))) == set(holders)
        found = climb(of, holders).credentials
        assert found is not None
        return found.edition

    assert len({edition(), edition(root="2"), edition(own="2"), edition(ca="2")}) == 4


@pytest.mark.parametrize(
    ("annotations", "default", "wanted"),
    [
        ({}, "PREFERRED", (TlsMode.PREFERRED, "")),
        ({"fe_ssl_mode": "Required"}, "DISABLED", (TlsMode.REQUIRED, "")),
        ({"fe_ssl_mode": "VERIFY_IDENTITY", "fe_ssl_ca": "configmap/ca/ca.crt"}, "", (TlsMode.VERIFY_IDENTITY, PEM)),
        ({"fe_ssl_mode": "perhaps"}, "DISABLED", "write one of"),
        ({"fe_ssl_ca": "ca"}, "DISABLED", "write secret/"),
        ({"fe_ssl_ca": "configmap/ca/other"}, "DISABLED", "has no PEM under other"),
        ({"fe_ssl_ca": "secret/absent"}, "DISABLED", "Secret absent has no PEM under ca.crt"),
    ],
)
def test_tls_by_annotation(annotations: dict[str, str], default: str, wanted: Any) -> None:
    holders = {CA: {"metadata": {}, "data": {"ca.crt": PEM}}}
    climbed = climb(cluster(password=False, **annotations), holders, default_tls=default)
    if isinstance(wanted, str):
        assert wanted in climbed.problem
        assert climbed.credentials is None
    else:
        assert climbed.credentials is not None
        assert (climbed.credentials.tls.mode, climbed.credentials.tls.ca) == wanted


async def test_the_reader_gets_passwords_again_and_remembers_the_one_that_fe_accepted() -> None:
    kube, clock, of = FakeKube(), Clock(), cluster()
    path = "/api/v1/namespaces/default/secrets/root"
    kube.store(path, secret(password=BEFORE))
    reader = Reader(kube, clock=clock)
    first = await reader.read(of, settled=True)
    reader.prove(of.key, Login.EMPTY)
    assert reader.former(of.key) == Former(), "an empty password is nobody's former one"
    reader.prove(of.key, Login.GIVEN)
    kube.store(path, secret(password=NOW))
    assert await reader.read(of, settled=True) is first
    assert reader.due(of.key) == PASSWORDS
    clock.forward(PASSWORDS)
    second = await reader.read(of, settled=True)
    assert second.credentials is not None
    assert second.accounts.root != first.accounts.root
    former = second.credentials.only(Login.FORMER)
    assert former is not None
    assert former.password == BEFORE
    reader.prove(of.key, Login.FORMER)
    assert reader.former(of.key) == Former(root=BEFORE), "until FE has accepted the present one"
    kube.store(path, secret(password="a third"))
    clock.forward(PASSWORDS)
    third = await reader.read(of, settled=True)
    assert third.credentials is not None
    assert third.credentials.only(Login.FORMER) == former, "changed twice before FE was told: it still has the first"
    reader.forget(of.key)
    assert reader.former(of.key) == Former()


async def test_a_cluster_without_passwords_is_not_read_for_their_sake() -> None:
    reader, of = Reader(FakeKube(), clock=Clock()), cluster(password=False)
    await reader.read(of, settled=True)
    assert reader.due(of.key) is None


@pytest.mark.parametrize(("kind", "handed_on"), [(StepKind.ROTATE_ROOT_PASSWORD, True), (StepKind.ADD_BACKEND, False)])
def test_only_a_step_on_an_account_is_handed_the_password_before(kind: StepKind, handed_on: bool) -> None:
    step = Step(kind=kind, target="x", reason="", reversible=True)
    context = Context(profile="safe", components=(), replicas={})
    made = job(
        KEY,
        cluster_raw(),
        Decision(context=context, step=step, fingerprint="f"),
        Children(),
        settings(),
        former=Former(root=BEFORE),
    )
    assert (BEFORE in json.dumps(made.document)) == handed_on
    assert BEFORE not in repr(made), "the document is a file of the run, and never shown"
