"""One look at one cluster, with the real reconciler, queue and index, and a domain made up for the test."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from prometheus_client import REGISTRY

from starrocks_operator.decision import Context, Decision
from starrocks_operator.frontend.endpoints import Credentials, Endpoint
from starrocks_operator.model import Key, StarRocksCluster
from starrocks_operator.observed import FrontendAnswer, FrontendView, Outcome, Questions
from starrocks_operator.run_report import RunReport
from tests.unit.watcher_fakes import (
    KEY,
    Clock,
    FakeKube,
    child_raw,
    cluster_path,
    cluster_raw,
    pod_raw,
    settings,
    until,
)
from watcher.attempts import Attempts
from watcher.batch import Batch, Done
from watcher.domain import Domain
from watcher.events import Events
from watcher.fleet import Fleet
from watcher.index import Index
from watcher.job import Job, Result
from watcher.looks import Looks, digest
from watcher.mentions import Mentions
from watcher.observe import Observer
from watcher.queue import WorkQueue
from watcher.reconcile import Reconciler
from watcher.references import Reader
from watcher.revisions import Revisions
from watcher.status_writer import StatusWriter
from watcher.storage_classes import StorageClasses
from watcher.trim import trim

NOTHING = Context(profile="safe", components=("fe",), replicas={})
IDLE = Decision(context=NOTHING, fingerprint="idle")


def due(fingerprint: str = "apply") -> Decision:
    return Decision(context=NOTHING, apply={"fe": ({"kind": "Service"},)}, fingerprint=fingerprint)


class World:
    """The reconciler with everything around it; `decide` is whatever the test says."""

    def __init__(self) -> None:
        self.kube, self.index, self.clock = FakeKube(), Index(), Clock()
        self.decide: Callable[[StarRocksCluster], Decision] = lambda cluster: IDLE
        self.status: Callable[[StarRocksCluster, RunReport | None], dict[str, Any]] = lambda c, r: {"phase": "running"}
        self.decisions = 0
        self.looks_made = 0
        self.view = FrontendView(asked_at=datetime.now(UTC), leader="a")
        self.jobs: list[list[Job]] = []
        self.report = RunReport(fingerprint="apply", finished_at=datetime.now(UTC), succeeded=True)
        self.versions: dict[tuple[str, str], str] = {}
        self.queue: WorkQueue[Key] = WorkQueue(debounce=0.0, jitter=lambda: 0.0, clock=time.monotonic)
        self.batch = Batch(self._play, slots=1, size=9, gather=0.0)
        domain = Domain(
            parse=StarRocksCluster.parse,
            endpoints=self._endpoints,
            look=self._look,
            decide=self._decide,
            status_of=lambda cluster, observed, decision, *, last_run: self.status(cluster, last_run),
            transitions=lambda before, after: (),
        )
        self.looks = Looks(
            domain.look,
            threads=ThreadPoolExecutor(2),
            news=lambda key: self.queue.add(key, delay=0.0),
            interval=0.01,
            settled_interval=3600.0,
            clock=time.monotonic,
            jitter=lambda: 0.0,
        )
        self.reconciler = Reconciler(
            settings=settings(),
            domain=domain,
            index=self.index,
            queue=self.queue,
            observer=Observer(
                index=self.index,
                reader=Reader(self.kube, clock=time.monotonic),
                looks=self.looks,
                domain=domain,
                revisions=Revisions(self.kube),
                classes=StorageClasses(self.kube, clock=time.monotonic),
                mentions=Mentions(self.kube),
                clock=time.monotonic,
            ),
            batch=self.batch,
            writer=StatusWriter(self.kube),
            events=Events(self.kube, identity="me", clock=time.monotonic),
            attempts=Attempts(clock=self.clock),
            fleet=Fleet(),
        )

    def _decide(self, cluster: StarRocksCluster, observed: object, *, default_profile: str) -> Decision:
        self.decisions += 1
        return self.decide(cluster)

    def _endpoints(self, cluster: StarRocksCluster, children: Any, properties: Any) -> tuple[Endpoint, ...]:
        pods = children.of_kind("Pod")
        return tuple(Endpoint(pod=p["metadata"]["name"], host="h", address="127.0.0.9", port=1) for p in pods)

    def _look(
        self, where: Sequence[Endpoint], who: Credentials, last: FrontendView | None, questions: Questions
    ) -> FrontendView:
        self.looks_made += 1
        return self.view

    async def _play(self, jobs: Sequence[Job], done: Done) -> None:
        self.jobs.append(list(jobs))
        for job in jobs:
            done(job, Result(report=self.report, versions=self.versions))

    def appears(self, key: Key = KEY, **options: Any) -> None:
        raw = cluster_raw(key, **options)
        self.kube.store(cluster_path(key), raw)
        self.index.put(trim(raw))
        self.queue.add(key)

    @property
    def status_writes(self) -> list[dict[str, Any]]:
        return [body[-1]["value"] for method, path, body in self.kube.writes if path.endswith("/status")]


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    parts = (world.queue.run(world.reconciler.process), world.looks.run(), world.batch.serve())
    tasks = [asyncio.create_task(part) for part in parts]
    world.queue.open()
    yield world
    for task in tasks:
        assert not task.done()
        task.cancel()


async def idle(world: World) -> None:
    await until(lambda: world.queue.active == 0 and world.queue.depth == 0)


async def test_from_the_event_to_the_run_to_the_status(world: World) -> None:
    world.decide = lambda cluster: IDLE if world.jobs else due()
    world.status = lambda cluster, run: {"phase": "running" if run else "reconciling"}
    world.appears()
    await until(lambda: len(world.jobs) == 1)
    assert world.status_writes == [{"phase": "reconciling"}], "status comes before the run"
    assert world.jobs[0][0].document["cluster"]["status"] == {"phase": "reconciling"}
    await until(lambda: len(world.status_writes) == 2)
    await idle(world)
    assert world.status_writes[1] == {"phase": "running"}
    assert len(world.jobs) == 1


async def test_a_settled_cluster_costs_no_decision_and_no_write(world: World) -> None:
    world.appears()
    await until(lambda: world.status_writes)
    await idle(world)
    decisions, writes = world.decisions, len(world.kube.writes)
    for _ in range(5):
        world.queue.add(KEY)
        await idle(world)
    assert world.decisions == decisions
    assert len(world.kube.writes) == writes
    assert world.jobs == []


async def test_our_own_status_write_wakes_nobody(world: World) -> None:
    world.appears()
    await until(lambda: world.status_writes)
    await idle(world)
    echo = trim(world.kube.objects[cluster_path()])
    assert world.index.put(echo) is None


async def test_what_happens_while_status_is_written_is_judged(world: World) -> None:
    """A pod that gets ready in that moment must not count as seen."""

    def status(cluster: StarRocksCluster, run: RunReport | None) -> dict[str, Any]:
        if world.decisions == 1:
            assert world.index.put(child_raw("Service", "sample-fe-service", "sample")) == KEY
            world.queue.add(KEY)
        return {"phase": "running"}

    world.status = status
    world.appears()
    await until(lambda: world.status_writes)
    await idle(world)
    assert world.decisions == 3, "one, one for the status that was written, and one for what happened meanwhile"


async def test_a_status_that_somebody_else_changed_is_put_right(world: World) -> None:
    world.appears()
    await until(lambda: world.status_writes)
    await idle(world)
    world.kube.store(cluster_path(), {**world.kube.objects[cluster_path()], "status": {"phase": "nonsense"}})
    assert world.index.put(trim(world.kube.objects[cluster_path()])) == KEY
    world.queue.add(KEY)
    await until(lambda: len(world.status_writes) == 2)


async def test_a_step_that_the_new_status_makes_obsolete_is_not_taken(world: World) -> None:
    """The decision is made again with the status that it led to."""
    world.decide = lambda cluster: due() if cluster.status is None or not cluster.status.phase else IDLE
    world.appears()
    await until(lambda: world.status_writes)
    await idle(world)
    assert world.jobs == []


async def test_one_poisoned_cluster_beside_healthy_ones(world: World) -> None:
    poisoned = Key("ns", "poisoned")

    def decide(cluster: StarRocksCluster) -> Decision:
        if cluster.name == "poisoned":
            raise ZeroDivisionError("s3cret")
        return IDLE

    world.decide = decide
    world.appears(poisoned)
    world.appears()
    await until(lambda: len(world.status_writes) == 2)
    await until(lambda: world.queue.active == 0)
    statuses = {path: raw["status"] for path, raw in world.kube.objects.items()}
    assert statuses[cluster_path()] == {"phase": "running"}
    conditions = {item["type"]: item for item in statuses[cluster_path(poisoned)]["conditions"]}
    assert conditions["Degraded"]["reason"] == "InternalError"
    assert "s3cret" not in str(statuses)
    about = {"kind": "StarRocksCluster", "namespace": "ns", "name": "poisoned", "reason": "InternalError"}
    assert REGISTRY.get_sample_value("starrocks_operator_resource_finding", about) == 1
    decisions = world.decisions
    world.queue.add(poisoned)
    for _ in range(50):
        await asyncio.sleep(0)
    assert world.decisions == decisions, "events do not shorten its back-off"


@pytest.mark.parametrize("status", [0, 409, 429, 500])
async def test_an_api_server_that_refuses_is_asked_again_later(world: World, status: int) -> None:
    world.kube.fail("PATCH", "/status", status)
    world.appears()
    await until(lambda: not world.kube.faults)
    await until(lambda: world.queue.active == 0)
    assert world.queue.depth == 1
    assert world.status_writes == []
    world.queue.succeed(KEY)
    world.queue.add(KEY, delay=0.0)
    await until(lambda: world.status_writes)


async def test_a_cluster_deleted_during_its_run_is_forgotten_in_silence(world: World) -> None:
    async def play(jobs: Sequence[Job], done: Done) -> None:
        world.index.drop(cluster_raw())
        del world.kube.objects[cluster_path()]
        failed = RunReport(fingerprint="apply", finished_at=datetime.now(UTC), succeeded=False, reason="ApplyRefused")
        for job in jobs:
            done(job, Result(report=failed))

    world.batch._run = play
    world.decide = lambda cluster: due()
    world.appears()
    await until(lambda: world.kube.objects == {})
    await idle(world)
    assert len(world.status_writes) == 1


@pytest.mark.parametrize("mark", ["deletionTimestamp", "annotations"])
async def test_what_is_being_deleted_or_ignored_is_not_touched(world: World, mark: str) -> None:
    raw = cluster_raw()
    raw["metadata"][mark] = "now" if mark == "deletionTimestamp" else {"starrocks.com/ignored": "true"}
    world.decide = lambda cluster: due()
    world.index.put(trim(raw))
    world.queue.add(KEY)
    await idle(world)
    assert world.kube.writes == []
    assert world.jobs == []


async def test_a_namespace_of_the_deny_list_is_left_alone(world: World) -> None:
    world.reconciler.settings = settings("--deny-list", f"other, {KEY.namespace}")
    world.decide = lambda cluster: due()
    world.appears()
    await idle(world)
    assert world.status_writes == []
    assert world.jobs == []


async def test_a_run_that_does_not_help_is_repeated_ever_more_rarely(world: World) -> None:
    world.decide = lambda cluster: due()
    world.appears()
    await until(lambda: len(world.jobs) == 1)
    await until(lambda: world.queue.active == 0)
    assert len(world.jobs) == 1, "the second time has to wait"
    world.clock.forward(1.0)
    world.queue.add(KEY)
    await until(lambda: len(world.jobs) == 2)
    await until(lambda: world.queue.active == 0)
    world.clock.forward(1.0)
    world.queue.add(KEY, delay=0.0)
    await until(lambda: world.queue.active == 0)
    assert len(world.jobs) == 2


async def test_nothing_is_decided_until_the_watch_shows_what_was_written(world: World) -> None:
    world.decide = lambda cluster: IDLE if world.jobs else due()
    world.versions = {("Service", "sample-fe-service"): "50"}
    world.appears()
    await until(lambda: len(world.jobs) == 1)
    await until(lambda: world.queue.active == 0)
    decisions = world.decisions
    assert world.reconciler.observer.behind(KEY)
    world.index.put(child_raw("Service", "sample-fe-service", "sample", version=50))
    world.queue.add(KEY)
    await until(lambda: world.decisions > decisions)


async def test_the_frontends_are_asked_before_the_first_decision(world: World) -> None:
    world.index.put(pod_raw("sample-fe-0", "sample-fe", "fe"))
    world.appears()
    while world.decisions == 0:
        await asyncio.sleep(0.001)
    assert world.looks_made >= 1
    seen = world.looks.view(KEY)
    assert seen is not None
    assert replace(seen, edition="") == world.view


def test_a_views_digest_ignores_what_moves_by_itself() -> None:
    def answer(pod: str, error: str = "") -> FrontendAnswer:
        return FrontendAnswer(pod=pod, outcome=Outcome.ANSWERED, error=error)

    def view(*answers: FrontendAnswer) -> FrontendView:
        return FrontendView(asked_at=datetime.now(UTC), answers=answers, leader="a")

    assert digest(view(answer("a"), answer("b"))) == digest(view(answer("b"), answer("a")))
    assert digest(view(answer("a"))) != digest(view(answer("a", "no")))
