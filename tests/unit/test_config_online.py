"""Parameters that frontends can change while they run: set at once, asserted again after a restart, quiet otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from starrocks_operator.config import parameters_asked, settled_of
from starrocks_operator.observed import Parameter
from starrocks_operator.status import status_of
from starrocks_operator.step import StepKind
from tests.unit.membership_world import World
from tests.unit.test_config_decided import FE, findings, world_with

PODS = [f"sample-fe-{ordinal}" for ordinal in range(3)]


def changed(**config: str) -> World:
    world = world_with(fe={"sys_log_level": "INFO"})
    world.raw["spec"][FE]["config"] = {"sys_log_level": "INFO", **config}
    return world


def tell(world: World, values: dict[str, list[str]], *, mutable: bool = True) -> None:
    """What each frontend answers."""
    world.answers["parameters"] = {
        pod: {key: Parameter(each[index], mutable) for key, each in values.items()} for index, pod in enumerate(PODS)
    }
    world.look()


def asked(world: World) -> tuple[str, ...]:
    children = world.observed.children
    return parameters_asked(world.cluster, settled_of(world.cluster, children, {}), world.view)


def note(world: World) -> Any:
    """Write the status, as the watcher does."""
    decision = world.decide()
    world.raw["status"] = status_of(world.cluster, world.observed, decision, last_run=None)
    return decision


def test_until_they_have_said_which_may_change_pods_stay() -> None:
    world = changed(qe_max_connection="512")
    decision = world.decide()
    assert not decision.due
    assert decision.waits == ("the frontends are being asked which changed parameters can be set online",)
    assert asked(world) == ("qe_max_connection",)


def test_it_is_set_and_then_all_is_quiet() -> None:
    world = changed(qe_max_connection="512")
    tell(world, {"qe_max_connection": ["4096", "4096", "4096"]})
    decision = note(world)
    assert not decision.apply
    assert decision.step is not None
    assert (decision.step.kind, decision.step.target) == (StepKind.SET_FRONTEND_CONFIG, "qe_max_connection")
    assert decision.step.fact("to") == "512"
    assert "512" not in decision.step.reason
    tell(world, {"qe_max_connection": ["512", "512", "512"]})
    decision = note(world)
    assert not decision.due
    assert not decision.waits
    assert "qe_max_connection" in findings(decision)["ConfigurationSetOnline"]
    assert asked(world) == ()
    world.answers.clear()
    world.look()
    before = dict(world.raw["status"])
    decision = note(world)
    assert (decision.due, decision.waits) == (False, ())
    assert world.raw["status"] == before


def test_a_frontend_that_started_again_is_told_again() -> None:
    world = changed(qe_max_connection="512")
    tell(world, {"qe_max_connection": ["512", "512", "512"]})
    note(world)
    world.frontends[2] = type(world.frontends[2])(**{**vars(world.frontends[2]), "start_time": "2026-11-21 11:59:00"})
    world.answers.clear()
    world.look()
    assert asked(world) == ("qe_max_connection",)
    assert world.decide().waits
    tell(world, {"qe_max_connection": ["512", "512", "4096"]})
    step = world.decide().step
    assert step is not None
    assert step.fact("pods") == "sample-fe-2"


def test_without_a_leader_what_was_set_online_stays_so_and_what_was_not_is_rolled_out() -> None:
    world = changed(qe_max_connection="512")
    tell(world, {"qe_max_connection": ["512", "512", "512"]})
    note(world)
    world.view = None
    assert not world.decide().apply
    fresh = changed(qe_max_connection="512")
    fresh.view = None
    assert "fe" in fresh.decide().apply


def test_one_that_cannot_change_restarts_and_so_does_one_that_no_release_knows() -> None:
    world = changed(sys_log_dir="/x")
    tell(world, {"sys_log_dir": ["/opt", "/opt", "/opt"]}, mutable=False)
    assert "fe" in world.decide().apply


@pytest.mark.parametrize(
    "config",
    [{"quoted": 'a"b'}, {"some_password": "x"}, {"aws_s3_secret_key": "x"}],
)
def test_what_is_in_no_statement_restarts(config: dict[str, str]) -> None:
    world = changed(**config)
    assert asked(world) == ()
    assert "fe" in world.decide().apply


def test_one_that_is_left_out_restarts() -> None:
    world = world_with(fe={"qe_max_connection": "512", "sys_log_level": "INFO"})
    world.raw["spec"][FE]["config"] = {"sys_log_level": "INFO"}
    assert asked(world) == ()
    assert "fe" in world.decide().apply


def test_with_another_change_of_the_template_it_goes_into_the_file() -> None:
    world = changed(qe_max_connection="512")
    tell(world, {"qe_max_connection": ["4096", "4096", "4096"]})
    world.raw["spec"][FE]["podLabels"] = {"round": "2"}
    decision = world.decide()
    names = [item["metadata"]["name"] for item in decision.apply["fe"] if item["kind"] == "ConfigMap"]
    assert any("config" in name for name in names)
    assert decision.online == ""


def test_a_roll_that_has_begun_goes_on() -> None:
    world = changed(sys_log_dir="/x")
    tell(world, {"sys_log_dir": ["/opt", "/opt", "/opt"]}, mutable=False)
    wanted = world.decide().context.configurations["fe"]
    volume = {"name": "starrocks-configuration", "configMap": {"name": wanted}}
    world.get("Pod", "sample-fe-2")["spec"]["volumes"] = [volume]
    world.answers.clear()
    world.look()
    assert asked(world) == ()
    assert world.decide().context.configurations["fe"] == wanted
