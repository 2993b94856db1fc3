"""Steps on the API server: the write that does one, bound to what was read, and resolved by looking."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from starrocks_operator.deed import Deed, deed_of, is_done
from starrocks_operator.run_report import StepOutcome
from starrocks_operator.step import Step, StepKind
from tests.unit.membership_world import World, applied


def module(name: str) -> ModuleType:
    """A module of the collection, which is no package for Python."""
    path = Path(__file__).parents[2] / "plugins" / "module_utils" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"collection_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


hands = module("hands")


def shrinking() -> tuple[World, Step]:
    """A third compute node that runs nothing and is not wanted."""
    world = World(cn=3)
    world.answers = {"blacklists": {}}
    world.raw["spec"]["starRocksCnSpec"]["replicas"] = 2
    world.look()
    step = world.decide().step
    assert step is not None
    assert step.kind == StepKind.SHRINK_STATEFUL_SET
    return world, step


def deed(world: World, step: Step) -> Deed:
    found = deed_of(step, cluster=world.cluster, observed=world.observed, decision=world.decide())
    assert found is not None
    return found


def test_shrinking_leaves_nothing_for_the_next_apply() -> None:
    world, step = shrinking()
    before = world.get("StatefulSet", "sample-cn")
    done = deed(world, step)
    assert done.manifest is not None
    assert (done.verb, done.uid) == ("apply", before["metadata"]["uid"])
    assert done.manifest["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
    assert done.manifest["spec"]["replicas"] == 2
    assert not is_done(step, before)
    world.put(applied(done.manifest))
    assert is_done(step, world.get("StatefulSet", "sample-cn"))
    decision = world.decide()
    assert not decision.apply
    assert decision.step is None, "its pod is still there"


def test_nothing_is_done_to_an_object_that_is_gone_or_another_one() -> None:
    world, step = shrinking()
    decision = world.decide()
    world.remove("StatefulSet", "sample-cn")
    assert deed_of(step, cluster=world.cluster, observed=world.observed, decision=decision) is None
    pod = Step(
        kind=StepKind.DELETE_POD, target="sample-fe-2", reason="", reversible=False, expects=(("uid", "another"),)
    )
    assert deed_of(pod, cluster=world.cluster, observed=world.observed, decision=decision) is None
    same = replace(pod, expects=(("uid", "uid-sample-fe-2"),))
    assert deed(world, same) == Deed(
        verb="delete", kind="Pod", namespace="default", name="sample-fe-2", uid="uid-sample-fe-2"
    )


class Api:
    """Answers one write, and what is found afterwards."""

    def __init__(self, status: int, found: Any = None, **document: Any) -> None:
        self.status, self.found, self.document = status, found, document
        self.written: list[tuple[str, str, Any]] = []

    def request(self, method: str, path: str, body: Any = None, content_type: str = "") -> tuple[int, dict[str, Any]]:
        self.written.append((method, path, body))
        return self.status, self.document

    def get(self, path: str) -> Any:
        return self.found


@pytest.mark.parametrize(
    ("api", "outcome", "said"),
    [
        (Api(200, metadata={"resourceVersion": "77"}), StepOutcome.DONE, "done."),
        (Api(409), StepOutcome.STALE, "has changed since it was read"),
        (Api(404), StepOutcome.STALE, "has changed since it was read"),
        (Api(422, message="no such field"), StepOutcome.FAILED, "no such field"),
        (Api(0, {"spec": {"replicas": 2}}, message="reset"), StepOutcome.DONE, "looking again showed it"),
        (Api(0, {"spec": {"replicas": 3}}, message="reset"), StepOutcome.UNKNOWN, "shows at the next look"),
    ],
)
def test_what_became_of_a_write(api: Api, outcome: StepOutcome, said: str) -> None:
    world, step = shrinking()
    lent = hands.Hands(api, lambda: "")
    found, message = lent.do(step, deed(world, step))
    assert (found, said in message) == (outcome, True)
    method, path, body = api.written[0]
    assert (method, path.split("?")[0]) == ("PATCH", "/apis/apps/v1/namespaces/default/statefulsets/sample-cn")
    assert body["metadata"]["uid"] == "uid-sample-cn"
    assert [item["resourceVersion"] for item in lent.written] == (["77"] if api.status == 200 else [])


def test_without_the_lease_nothing_is_written() -> None:
    world, step = shrinking()
    api = Api(200)
    outcome, message = hands.Hands(api, lambda: "another operator holds the Lease").do(step, deed(world, step))
    assert (outcome, api.written) == (StepOutcome.STALE, [])
    assert "another operator" in message


def test_a_delete_names_the_very_object() -> None:
    world, _ = shrinking()
    step = Step(
        kind=StepKind.DELETE_META_VOLUME,
        target="fe-meta-sample-fe-2",
        reason="",
        reversible=False,
        expects=(("uid", "uid-fe-meta-sample-fe-2"),),
    )
    api = Api(200)
    assert hands.Hands(api, lambda: "").do(step, deed(world, step))[0] == StepOutcome.DONE
    method, path, body = api.written[0]
    assert (method, path) == ("DELETE", "/api/v1/namespaces/default/persistentvolumeclaims/fe-meta-sample-fe-2")
    assert body["preconditions"] == {"uid": "uid-fe-meta-sample-fe-2"}
