"""A restore that somebody asked for: nothing is founded in its place, and one that was begun is not disturbed."""

from __future__ import annotations

from typing import Any

import pytest

from starrocks_operator.decide import decide
from starrocks_operator.observed import Children, Configuration
from starrocks_operator.status import status_of
from tests.unit.membership_world import World

SHARED = {"fe": Configuration(properties={"run_mode": "shared_data"})}
NOTHING = {"fe": Configuration(properties={"run_mode": "shared_nothing"})}
ASKED = {"enabled": True, "generation": 2}


def world(wish: dict[str, Any], told: dict[str, Any] | None, *, configurations: Any = SHARED) -> World:
    made = World()
    made.raw["spec"] |= {"disasterRecovery": wish}
    if told is not None:
        made.raw["status"]["disasterRecoveryStatus"] = told
    made.configured(configurations)
    return made


# wish, what the status says, how the cluster stores, and what is said: of a cluster that lives, of one to be founded
TABLE: tuple[tuple[dict[str, Any], dict[str, Any] | None, Any, str, str], ...] = (
    ({"enabled": False, "generation": 2}, None, SHARED, "", ""),
    ({"enabled": False, "generation": 2}, {"phase": "doing", "observedGeneration": 2}, SHARED, "", ""),
    (ASKED, None, SHARED, "FieldNotActedUpon", "RestoreNotSupported"),
    (ASKED, None, NOTHING, "FieldNotActedUpon", "FieldNotActedUpon"),
    (ASKED, None, {}, "FieldNotActedUpon", "FieldNotActedUpon"),
    (ASKED, {"phase": "todo", "observedGeneration": 2}, SHARED, "RestoreUnderWay", "RestoreUnderWay"),
    (ASKED, {"phase": "doing", "observedGeneration": 2}, SHARED, "RestoreUnderWay", "RestoreUnderWay"),
    (ASKED, {"phase": "done", "observedGeneration": 2}, SHARED, "", ""),
    (ASKED, {"phase": "done", "observedGeneration": 1}, SHARED, "FieldNotActedUpon", "RestoreNotSupported"),
    ({"enabled": True}, None, SHARED, "FieldNotActedUpon", "RestoreNotSupported"),
)


@pytest.mark.parametrize(("wish", "told", "configurations", "living", "new"), TABLE)
def test_what_is_said_and_held(
    wish: dict[str, Any], told: dict[str, Any] | None, configurations: Any, living: str, new: str
) -> None:
    stage = world(wish, told, configurations=configurations)
    decision = stage.decide()
    assert [finding.reason for finding in decision.findings] == ([living] if living else [])
    status = status_of(stage.cluster, stage.observed, decision, last_run=None)
    assert status.get("disasterRecoveryStatus") == told  # it is its author's
    assert status["conditions"][0]["status"] == ("False" if living == "RestoreUnderWay" else "True")

    stage.raw["status"].pop("bootstrap")
    observed = stage.observed
    alone = decide(stage.cluster, type(observed)(now=observed.now, children=Children.of([]), **stage.observed_extras))
    assert [finding.reason for finding in alone.findings] == ([new] if new else [])
    assert any(alone.apply.values()) == (not new.startswith("Restore"))


def test_nothing_is_touched_while_another_operator_restores() -> None:
    stage = world(ASKED, {"phase": "doing", "observedGeneration": 2})
    stage.get("StatefulSet", "sample-be")["spec"]["replicas"] = 1
    stage.get("StatefulSet", "sample-be")["metadata"] |= {"annotations": {}, "resourceVersion": "theirs"}
    decision = stage.decide()
    assert not decision.due
    assert decision.context.components == ()


def test_one_that_lost_its_objects_is_known_by_what_was_recorded() -> None:
    stage = world(ASKED, None)
    stage.remove("StatefulSet", "sample-fe")
    assert [finding.reason for finding in stage.decide().findings] == ["FieldNotActedUpon"]
