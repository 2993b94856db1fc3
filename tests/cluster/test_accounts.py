"""Passwords on the lab: the first one, its rotation, the operator's own account, and what happens when it is wrong."""

from __future__ import annotations

from typing import Any

import pymysql
import pytest

from lab.question import ask
from lab.space import Space
from tests.cluster.clusters import cluster
from tests.cluster.conftest import PACE

FIRST, SECOND, OWN = "correct-horse-battery", "staple-of-another-kind", "the-operators-own"
WRONG_PASSWORD = 1045
ACCOUNT = "starrocks.com/operator-account"


def with_password(name: str = "one", **options: Any) -> dict[str, Any]:
    """A cluster whose pods have root's password from the Secret `root`."""
    document = cluster(name, volumes=True, **options)
    entry = {"name": "MYSQL_PWD", "valueFrom": {"secretKeyRef": {"name": "root", "key": "password"}}}
    for kind in ("fe", "be"):
        if spec := document["spec"].get(f"starRocks{kind.capitalize()}Spec"):
            spec[f"{kind}EnvVars"] = [entry]
    return document


def secret(space: Space, name: str = "root", **data: str) -> None:
    if "password" in data and "_previous" in data:
        data["password.previous"] = data.pop("_previous")
    space.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data})


def lets_in(space: Space, password: str, *, pod: str = "one-fe-0", user: str = "root") -> bool:
    try:
        return bool(ask(space.address(pod), "SHOW FRONTENDS", user=user, password=password))
    except pymysql.err.OperationalError as refusal:
        if refusal.args[0] != WRONG_PASSWORD:
            raise
        return False


def lives(space: Space) -> dict[str, tuple[str, int]]:
    """Each pod's identity and restarts."""
    return {
        pod["metadata"]["name"]: (
            pod["metadata"]["uid"],
            sum(status.get("restartCount", 0) for status in pod["status"].get("containerStatuses", ())),
        )
        for pod in space.all("Pod")
    }


def refused_logins(space: Space) -> int:
    found = space.simulator("GET", "/state")["refused_logins"]
    return sum(count for name, count in found.items() if f" at {space.namespace}/" in name)


def test_the_first_password_is_set_before_anything_else_and_nobody_restarts_for_it(space: Space) -> None:
    secret(space, password=FIRST)
    space.apply(with_password(fe=3, be=3))
    space.wait_ready("one", patience=240)
    assert lets_in(space, FIRST)
    assert not lets_in(space, "")
    assert space.status("one")["accounts"]["root"].startswith("Secret root@")
    told = [one["statement"] for one in space.stack.witness.statements() if one["user"] == "root"]
    assert any(statement.startswith("SET PASSWORD") for statement in told)
    assert space.stack.witness.testify(secrets=(FIRST,)) == []


def test_a_changed_secret_becomes_the_password_and_a_restarted_pod_joins(space: Space) -> None:
    secret(space, password=FIRST)
    space.apply(with_password(fe=3, be=3))
    space.wait_ready("one", patience=240)
    before = lives(space)
    secret(space, password=SECOND)
    space.wait(lambda: lets_in(space, SECOND), "one", "to have the second password", patience=240)
    assert not lets_in(space, FIRST)
    space.wait_ready("one", patience=240)
    assert lives(space) == before, "pods take the new password at their next start, not for its sake"
    for pod in ("one-be-1", "one-fe-2"):
        space.delete("Pod", pod, wait=False)
        space.wait(lambda pod=pod: lives(space).get(pod, before[pod]) != before[pod], "one", f"a new {pod}")  # type: ignore[misc]
        space.wait_ready("one", patience=240)
    assert space.stack.witness.testify(secrets=(FIRST, SECOND)) == []


def test_a_secret_changed_while_nobody_was_there_to_see_it(space: Space) -> None:
    """Nobody knows the former password: said in words, without trying it again and again; and there is a way out."""
    secret(space, password=FIRST)
    space.apply(with_password(be=1))
    space.wait_ready("one", patience=240)
    space.stack.end("operator")
    secret(space, password=SECOND)
    space.stack.operate(arguments=PACE)
    space.wait(
        lambda: "PasswordRefused" in space.reasons("one"), "one", "to say that the password is refused", patience=240
    )
    assert ".previous" in space.condition("one", "Degraded")["message"]
    before = refused_logins(space)
    space.patch("StarRocksCluster", "one", {"metadata": {"labels": {"touched": "1"}}})
    space.patch("StarRocksCluster", "one", {"metadata": {"labels": {"touched": "2"}}})
    assert refused_logins(space) - before <= 2
    secret(space, password=SECOND, _previous=FIRST)
    space.wait_ready("one", patience=240)
    assert lets_in(space, SECOND)
    assert space.stack.witness.testify(secrets=(FIRST, SECOND)) == []


def test_an_account_of_its_own_makes_the_operator_independent_of_root(space: Space) -> None:
    secret(space, password=FIRST)
    secret(space, "own", password=OWN)
    document = with_password(be=1)
    document["metadata"]["annotations"] = {ACCOUNT: "own"}
    space.apply(document)
    space.wait_ready("one", patience=240)
    space.wait(
        lambda: "operator" in space.status("one").get("accounts", {}), "one", "to use its own account", patience=240
    )
    ask(space.address("one-fe-0"), "SET PASSWORD = PASSWORD('mine')", password=FIRST)
    space.patch(
        "StarRocksCluster", "one", {"spec": {"starRocksCnSpec": {"image": "starrocks/cn-ubuntu:3.3.9", "replicas": 1}}}
    )
    space.wait(lambda: len(space.status("one")["members"]) >= 3, "one", "a member that root did not add", patience=240)
    assert lets_in(space, OWN, user="starrocks_operator")
    secret(space, "own", password="another")
    space.wait(
        lambda: lets_in(space, "another", user="starrocks_operator"), "one", "a new password of its own", patience=240
    )
    assert space.stack.witness.testify(secrets=(FIRST, OWN)) == []


@pytest.mark.parametrize("order", ["before it is said", "after it is said"])
def test_dying_mid_rotation(space: Space, order: str) -> None:
    """The Secret still has the former password beside the new one: whoever comes next finishes it."""
    secret(space, password=FIRST)
    space.apply(with_password(be=1))
    space.wait_ready("one", patience=240)
    space.stack.kill("operator")
    secret(space, password=SECOND, _previous=FIRST)
    if order.startswith("after"):
        ask(space.address("one-fe-0"), f"SET PASSWORD = PASSWORD('{SECOND}')", password=FIRST)
    space.delete("Pod", "one-be-0", wait=False)
    space.stack.operate(arguments=PACE)
    space.wait(lambda: lets_in(space, SECOND), "one", "to have the second password", patience=240)
    space.wait_ready("one", patience=240)
    assert space.stack.witness.testify(secrets=(FIRST, SECOND)) == []
