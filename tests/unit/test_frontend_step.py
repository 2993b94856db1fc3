"""Taking the recorded step: only if everything read afresh still says so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from starrocks_operator.frontend.password import PasswordError, credentials_of, password_holder
from starrocks_operator.frontend.take import take
from starrocks_operator.lease import lease_objection
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects import references
from starrocks_operator.observed import Outcome
from starrocks_operator.run_report import StepOutcome
from starrocks_operator.step import Step
from tests.unit.frontend_stage import ROOT, FrontendStage
from tests.unit.membership_world import NOW, World, manifest


class Scene:
    """One frontend that leads, one backend that runs and that nobody registered."""

    def __init__(self) -> None:
        self.stage = FrontendStage()
        self.stage.start("fe", 0)
        view = self.stage.look_until(lambda view: view.leader, 0)
        assert view.answers[0].outcome == Outcome.ANSWERED
        self.stage.start("be", 0)
        self.stage.fault("sample-be-0", "kill")
        self.world = World(fe=1, be=1, cn=None)
        self.world.get("Pod", "sample-fe-0")["status"]["podIP"] = self.stage.endpoint(0).address
        found = (view.frontends or ())[0].cluster_id
        self.world.raw["status"]["bootstrap"]["clusterId"] = found
        marker = self.world.get("ConfigMap", "sample-fe-bootstrap")
        marker["data"]["cluster-id"] = found
        self.forget()
        self.world.view = self.stage.look(0)
        step = self.world.decide().step
        assert step is not None
        self.step = step
        self.world.raw["status"]["nextStep"] = {"hash": step.hash, "kind": str(step.kind), "target": step.target}

    def forget(self) -> None:
        """Drop what the backend's own start registered."""
        host = "sample-be-0.sample-be-search.default.svc.cluster.local"
        statement = f'ALTER SYSTEM DROP BACKEND "{host}:9050"'
        self.stage.do(lambda: self.stage.simulator.world.execute("default/sample-fe-0", statement))

    def take(self, step: Step | None = None, **options: Any) -> tuple[StepOutcome, str]:
        observed = replace(self.world.observed, view=None)
        return take(
            step or self.step,
            cluster=self.world.cluster,
            observed=observed,
            credentials=ROOT,
            pool=self.stage.pool,
            default_profile="safe",
            **options,
        )

    @property
    def backends(self) -> int:
        return len(self.stage.look(0).backends or ())


@pytest.fixture
def scene() -> Iterator[Scene]:
    scene = Scene()
    yield scene
    scene.stage.close()


def test_the_recorded_step_is_taken_once(scene: Scene) -> None:
    assert scene.take()[0] == StepOutcome.DONE
    assert scene.backends == 1
    assert scene.take()[0] == StepOutcome.STALE


def test_a_dry_run_says_what_it_would_do(scene: Scene) -> None:
    outcome, message = scene.take(dry_run=True)
    assert outcome == StepOutcome.NONE
    assert "would be taken" in message
    assert scene.backends == 0


def test_a_step_that_is_not_recorded_is_not_taken(scene: Scene) -> None:
    scene.world.raw["status"]["nextStep"]["hash"] = "another"
    assert scene.take()[0] == StepOutcome.STALE
    del scene.world.raw["status"]["nextStep"]
    assert scene.take()[0] == StepOutcome.STALE
    assert scene.backends == 0


def test_a_step_that_is_no_longer_the_one_to_take_is_not_taken(scene: Scene) -> None:
    scene.world.remove("Pod", "sample-be-0")
    outcome, message = scene.take()
    assert outcome == StepOutcome.STALE
    assert "none is to be taken" in message
    assert scene.backends == 0


def test_split_brain_seen_at_the_last_moment_stops_the_step(scene: Scene) -> None:
    scene.world.raw["status"]["bootstrap"]["clusterId"] = "999"
    assert scene.take()[0] == StepOutcome.STALE
    assert scene.backends == 0


def test_a_leader_that_does_not_answer_stops_the_step(scene: Scene) -> None:
    scene.stage.fault("sample-fe-0", "hang")
    assert scene.take()[0] == StepOutcome.STALE


@pytest.mark.parametrize(
    ("holder", "renewed", "said"),
    [
        ("me", -3, ""),
        ("me", -14, ""),
        ("me", -16, "not renewed"),
        ("other", -3, "another operator holds"),
        ("", -3, "nobody does"),
        ("me", None, "not renewed"),
    ],
)
def test_only_the_holder_of_a_fresh_lease_acts(holder: str, renewed: float | None, said: str) -> None:
    spec: dict[str, Any] = {"holderIdentity": holder, "leaseDurationSeconds": 15}
    if renewed is not None:
        spec["renewTime"] = (NOW + timedelta(seconds=renewed)).isoformat()
    objection = lease_objection({"spec": spec}, identity="me", now=NOW)
    assert (said in objection) if said else objection == ""


def test_without_a_lease_nobody_acts() -> None:
    assert "does not exist" in lease_objection(None, identity="me", now=NOW)


def with_password(**source: Any) -> StarRocksCluster:
    raw = manifest()
    raw["spec"]["starRocksFeSpec"]["feEnvVars"] = [{"name": "MYSQL_PWD", **source}]
    return StarRocksCluster.parse(raw)


def secret(**more: Any) -> StarRocksCluster:
    return with_password(valueFrom={"secretKeyRef": {"name": "root", "key": "password", **more}})


@pytest.mark.parametrize(
    ("cluster", "holder", "password"),
    [
        (StarRocksCluster.parse(manifest()), None, ""),
        (with_password(value="plain"), None, "plain"),
        (secret(), {"data": {"password": "c2VjcmV0"}}, "secret"),
        (secret(optional=True), None, ""),
        (with_password(valueFrom={"configMapKeyRef": {"name": "m", "key": "k"}}), {"data": {"k": "v"}}, "v"),
    ],
)
def test_where_the_password_is(cluster: StarRocksCluster, holder: dict[str, Any] | None, password: str) -> None:
    assert credentials_of(references(cluster), holder).password == password


@pytest.mark.parametrize(
    ("holder", "said"),
    [
        (None, "does not exist"),
        ({"data": {}}, "has no key password"),
        ({"data": {"password": "/w=="}}, "no UTF-8 text"),
    ],
)
def test_a_password_that_cannot_be_read_is_said_in_words(holder: dict[str, Any] | None, said: str) -> None:
    wanted = references(secret())
    assert password_holder(wanted) == ("Secret", "root")
    with pytest.raises(PasswordError, match=said):
        credentials_of(wanted, holder)
