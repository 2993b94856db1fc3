"""decide against the simulator in virtual time: start-up, lost volumes, scaling; and no careless deed on the way."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from lab.simulator.model import Done, Hang, Rows
from lab.simulator.stage import Stage
from starrocks_operator.frontend.rows import Record, backend_row, compute_node_row, frontend_row
from starrocks_operator.frontend.statements import (
    LOCAL_FRONTENDS,
    SHOW_BACKENDS,
    SHOW_COMPUTE_NODES,
    SHOW_FRONTENDS,
    statement_of,
)
from starrocks_operator.observed import FrontendAnswer, FrontendView, Outcome
from starrocks_operator.status import status_of
from tests.unit.membership_world import World, claim, pod

TICK = 5.0


class Theatre:
    """A cluster in the simulator, its objects as Kubernetes would show them, and an operator that looks every 5 s."""

    def __init__(self, *, fe: int = 3, be: int = 3, cn: int = 1, seed: int = 0, safe: bool = True) -> None:
        self.stage = Stage(seed=seed, **(self._safe() if safe else {}))
        if safe:
            self.stage.safe("sample")
        self.world = World(fe=fe, be=be, cn=cn)
        self.world.raw.pop("status")
        self.steps: list[str] = []
        self.world.objects = {
            key: raw for key, raw in self.world.objects.items() if key[0] not in ("Pod", "PersistentVolumeClaim")
        }
        marker = self.world.get("ConfigMap", "sample-fe-bootstrap")
        marker["data"]["cluster-id"], marker["metadata"]["resourceVersion"] = "", "empty"
        for component, count in (("fe", fe), ("be", be), ("cn", cn)):
            for ordinal in range(count):
                self.start(component, ordinal)

    @staticmethod
    def _safe() -> dict[str, Any]:
        return Stage().safe("sample")

    @property
    def now(self) -> datetime:
        return datetime.fromtimestamp(self.stage.world.wall(self.stage.world.now), UTC)

    def start(self, component: str, ordinal: int) -> None:
        name, since = f"sample-{component}-{ordinal}", self.now.isoformat()
        container = self.stage.pod(name)
        raw = self.world.put(pod(name, component, index=ordinal))
        raw["metadata"]["creationTimestamp"] = since
        raw["status"]["podIP"] = container.facts.address
        raw["status"]["containerStatuses"][0]["state"]["running"]["startedAt"] = since
        if component == "fe" and ("PersistentVolumeClaim", f"fe-meta-{name}") not in self.world.objects:
            self.world.put(claim(f"fe-meta-{name}"))["metadata"]["creationTimestamp"] = since

    def stop(self, component: str, ordinal: int, *, volume: bool = False) -> None:
        name = f"sample-{component}-{ordinal}"
        self.stage.delete_pod(name)
        self.world.remove("Pod", name)
        if volume:
            self.stage.delete_claim(name)
            self.world.objects.pop(("PersistentVolumeClaim", f"fe-meta-{name}"), None)

    def frontends(self) -> list[str]:
        return sorted(name for kind, name in self.world.objects if kind == "Pod" and "-fe-" in name)

    def records(self, name: str, statement: str) -> list[Record] | None:
        outcome = self.stage.sql(name, statement)
        if not isinstance(outcome, Rows):
            return None
        return [{column.lower(): value for column, value in row.items()} for row in outcome.as_dicts()]

    def look(self) -> FrontendView:
        answers, view = [], FrontendView(asked_at=self.now)
        for name in self.frontends():
            local = self.records(name, LOCAL_FRONTENDS)
            rows = tuple(map(frontend_row, local or ()))
            outcome = Outcome.REFUSED if local is None else Outcome.ANSWERED
            answers.append(FrontendAnswer(pod=name, outcome=outcome, rows=rows))
            if any(row.role == "LEADER" and row.host == self.stage.host(name) for row in rows):
                shown = [self.records(name, what) for what in (SHOW_FRONTENDS, SHOW_BACKENDS, SHOW_COMPUTE_NODES)]
                if shown[0] and shown[1] is not None and shown[2] is not None:
                    view = replace(
                        view,
                        leader=self.stage.host(name),
                        frontends=tuple(map(frontend_row, shown[0])),
                        backends=tuple(map(backend_row, shown[1])),
                        compute_nodes=tuple(map(compute_node_row, shown[2])),
                    )
        return replace(view, answers=tuple(answers))

    def operate(self) -> None:
        """One round: look, decide, record; take the step only if it was recorded before and is still the same."""
        self.world.now, self.world.view = self.now, self.look()
        decision = self.world.decide()
        recorded = (self.world.raw.get("status") or {}).get("nextStep", {}).get("hash")
        self.world.raw["status"] = status_of(self.world.cluster, self.world.observed, decision, last_run=None)
        if decision.step and decision.step.hash == recorded and self.world.view.leader:
            leader = self.world.view.leader.split(".")[0]
            outcome = self.stage.sql(leader, statement_of(decision.step))
            assert isinstance(outcome, Done | Hang), f"{decision.step.kind}: {outcome}"
            self.steps.append(f"{decision.step.kind} {decision.step.target.split('.')[0]}")
        self.world.settle()
        marker = self.world.get("ConfigMap", "sample-fe-bootstrap")["data"]
        self.stage.surroundings.markers["default", "sample"] = dict(marker)

    def until_ready(self, *, within: float = 900.0) -> None:
        until = self.stage.world.now + within
        while True:
            self.operate()
            if self.ready:
                return
            assert self.stage.world.now < until, self.world.raw["status"]
            self.stage.after(TICK)

    @property
    def ready(self) -> bool:
        return any(c["type"] == "Ready" and c["status"] == "True" for c in self.world.raw["status"]["conditions"])


@pytest.mark.parametrize("safe", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_a_new_cluster_comes_up_without_a_single_step(seed: int, safe: bool) -> None:
    """What the entrypoints register themselves, the operator does not."""
    theatre = Theatre(seed=seed, safe=safe)
    theatre.until_ready()
    assert theatre.steps == []
    assert theatre.stage.marks() == []
    assert len(theatre.stage.world.databases) == 1


@pytest.mark.parametrize("ordinal", [0, 1, 2])
@pytest.mark.parametrize("seed", range(2))
def test_a_frontend_that_lost_its_volume_comes_back(seed: int, ordinal: int) -> None:
    theatre = Theatre(seed=seed)
    theatre.until_ready()
    theatre.stage.after(60)
    theatre.stop("fe", ordinal, volume=True)
    theatre.start("fe", ordinal)
    theatre.stage.after(60)
    theatre.operate()
    assert not theatre.ready
    theatre.until_ready()
    assert theatre.steps[0] == f"DropFollower sample-fe-{ordinal}"
    assert theatre.stage.marks() == []
    assert len(theatre.stage.world.databases) == 1


def test_two_frontends_that_lost_their_volumes_are_not_dropped() -> None:
    theatre = Theatre()
    theatre.until_ready()
    theatre.stage.after(60)
    followers = [int(name[-1]) for name in theatre.stage.followers("sample")]
    for ordinal in followers:
        theatre.stop("fe", ordinal, volume=True)
        theatre.start("fe", ordinal)
    for _ in range(40):
        theatre.operate()
        theatre.stage.after(TICK)
    assert theatre.steps == []
    assert not theatre.ready
    assert theatre.stage.marks() == []
    assert len(theatre.stage.world.databases) == 1


def test_a_restart_of_any_pod_needs_no_step() -> None:
    theatre = Theatre()
    theatre.until_ready()
    for component, ordinal in (("fe", 0), ("be", 1), ("cn", 0), ("fe", 2)):
        theatre.stop(component, ordinal)
        theatre.stage.after(30)
        theatre.operate()
        theatre.start(component, ordinal)
        theatre.until_ready()
    assert theatre.steps == []
    assert theatre.stage.marks() == []


@pytest.mark.parametrize("component", ["be", "cn"])
def test_a_node_that_somebody_dropped_is_registered_again(component: str) -> None:
    theatre = Theatre()
    theatre.until_ready()
    word = {"be": "BACKEND", "cn": "COMPUTE NODE"}[component]
    host = theatre.stage.host(f"sample-{component}-0")
    theatre.stage.sql(theatre.stage.leader("sample"), f'ALTER SYSTEM DROP {word} "{host}:9050"')
    theatre.until_ready()
    assert [step.split()[1] for step in theatre.steps] == [f"sample-{component}-0"]


def test_a_second_cluster_freezes_membership_and_is_said() -> None:
    theatre = Theatre(safe=False)
    theatre.until_ready()
    theatre.stage.after(60)
    for ordinal in (1, 2):
        theatre.stage.fault(f"sample-fe-{ordinal}", "kill")
    theatre.stop("fe", 0, volume=True)
    theatre.start("fe", 0)
    for _ in range(30):
        theatre.operate()
        theatre.stage.after(TICK)
    assert len(theatre.stage.world.databases) == 2
    assert theatre.steps == []
    assert {c["type"]: c["reason"] for c in theatre.world.raw["status"]["conditions"]}["Ready"] == "SplitBrain"
