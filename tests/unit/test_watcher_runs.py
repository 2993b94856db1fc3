"""Runs: which jobs go together, what a play brings back, how often the same thing is tried, what is left on disk."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from starrocks_operator.decision import Context, Decision
from starrocks_operator.model import Key
from starrocks_operator.objects.metadata import APPLIED_HASH
from starrocks_operator.observed import Children, ObjectKey
from starrocks_operator.run_report import RunReport, StepOutcome
from starrocks_operator.step import Step, StepKind
from tests.unit.watcher_fakes import KEY, Clock, child_raw, cluster_raw, settings, until
from watcher import play
from watcher.attempts import Attempts
from watcher.batch import SLOW, Batch, Done
from watcher.job import Job, Result, job
from watcher.play import Collector, Ending, HostRecord
from watcher.verdict import translate, unfinished


def a_job(name: str) -> Job:
    return Job(key=Key("ns", name), fingerprint="f", document={})


def a_result(*, succeeded: bool = True, seconds: float = 0.1) -> Result:
    report = RunReport(fingerprint="f", finished_at=datetime.now(UTC), succeeded=succeeded)
    return Result(report=report, seconds=seconds)


class Plays:
    """Runs that end when they are told to."""

    def __init__(self) -> None:
        self.begun: list[list[str]] = []
        self.results: dict[str, Result] = {}
        self.go = asyncio.Event()

    async def run(self, jobs: Sequence[Job], done: Done) -> None:
        self.begun.append([job.key.name for job in jobs])
        await self.go.wait()
        for each in jobs:
            done(each, self.results.get(each.key.name, a_result()))


async def test_what_waits_goes_together_and_the_size_is_bounded() -> None:
    plays = Plays()
    batch = Batch(plays.run, slots=1, size=3, gather=0.0)
    serving = asyncio.create_task(batch.serve())
    first = asyncio.create_task(batch.submit(a_job("a")))
    await until(lambda: plays.begun == [["a"]])
    rest = [asyncio.create_task(batch.submit(a_job(name))) for name in "bcde"]
    await until(lambda: batch.waiting == 4)
    plays.go.set()
    await asyncio.gather(first, *rest)
    assert plays.begun == [["a"], ["b", "c", "d"], ["e"]]
    serving.cancel()


@pytest.mark.parametrize("bad", [a_result(succeeded=False), a_result(seconds=SLOW + 1)])
async def test_a_failed_or_slow_cluster_runs_alone_until_it_is_well(bad: Result) -> None:
    plays = Plays()
    plays.go.set()
    plays.results["b"] = bad
    batch = Batch(plays.run, slots=1, size=9, gather=0.0)

    async def all_three() -> list[list[str]]:
        plays.begun.clear()
        together = [asyncio.create_task(batch.submit(a_job(name))) for name in "abc"]
        await until(lambda: batch.waiting == 3)
        serving = asyncio.create_task(batch.serve())
        await asyncio.gather(*together)
        serving.cancel()
        return list(plays.begun)

    assert await all_three() == [["a", "b", "c"]]
    del plays.results["b"]
    assert sorted(await all_three()) == [["a", "c"], ["b"]]
    assert await all_three() == [["a", "b", "c"]]


async def test_never_more_runs_than_slots() -> None:
    plays = Plays()
    batch = Batch(plays.run, slots=2, size=1, gather=0.0)
    serving = asyncio.create_task(batch.serve())
    jobs = [asyncio.create_task(batch.submit(a_job(name))) for name in "abcd"]
    await until(lambda: len(plays.begun) == 2)
    for _ in range(50):
        await asyncio.sleep(0)
    assert batch.active == 2
    assert len(plays.begun) == 2
    plays.go.set()
    await asyncio.gather(*jobs)
    serving.cancel()


async def test_a_run_that_breaks_down_fails_its_jobs_and_no_others() -> None:
    async def run(jobs: Sequence[Job], done: Done) -> None:
        raise OSError("no space left")

    batch = Batch(run, slots=1, size=9)
    serving = asyncio.create_task(batch.serve())
    result = await batch.submit(a_job("a"))
    assert result is not None
    assert result.report.reason == "RunnerCrashed"
    assert not serving.done()
    serving.cancel()


async def test_a_job_whose_cluster_is_deleted_never_begins() -> None:
    plays = Plays()
    batch = Batch(plays.run, slots=1, size=9)
    waiting = asyncio.create_task(batch.submit(a_job("a")))
    await until(lambda: batch.waiting == 1)
    batch.abandon(Key("ns", "a"))
    assert await waiting is None
    assert plays.begun == []


def test_the_same_thing_is_tried_more_and_more_rarely() -> None:
    clock = Clock()
    attempts = Attempts(clock=clock)
    pauses = [attempts.pause(KEY, "f", generation=1)]
    for _ in range(4):
        attempts.count(KEY, "f")
        pauses.append(attempts.pause(KEY, "f", generation=1))
    assert pauses == [0.0, 1.0, 2.0, 4.0, 8.0]
    assert attempts.pause(KEY, "other", generation=1) == 0.0
    clock.forward(5)
    assert attempts.pause(KEY, "f", generation=1) == 3.0
    assert attempts.pause(KEY, "f", generation=2) == 0.0, "a new spec is tried at once"


def test_two_things_that_undo_each_other_slow_down() -> None:
    clock = Clock()
    attempts = Attempts(clock=clock)
    waited = 0.0
    for turn in range(12):
        pause = attempts.pause(KEY, "ab"[turn % 2], generation=1)
        waited += pause
        clock.forward(pause + 0.5)
        attempts.count(KEY, "ab"[turn % 2])
    assert waited > 20


def test_what_happened_long_ago_is_forgotten() -> None:
    clock = Clock()
    attempts = Attempts(clock=clock)
    attempts.pause(KEY, "f", generation=1)
    attempts.count(KEY, "f")
    clock.forward(61)
    attempts.count(KEY, "f")
    assert attempts.pause(KEY, "f", generation=1) == 1.0


def applied_raw(kind: str, name: str) -> Any:
    """A child that was applied by us, and not made by another operator."""
    raw = child_raw(kind, name, "sample")
    return {**raw, "metadata": {**raw["metadata"], "annotations": {APPLIED_HASH: "h"}}}


def test_a_job_carries_what_the_play_needs_and_nothing_else() -> None:
    step = Step(kind=StepKind.ADD_FOLLOWER, target="h:9010", reason="r", reversible=True)
    decision = Decision(
        context=Context(profile="safe", components=("fe",), replicas={"fe": 3}),
        apply={"fe": ({"kind": "Service"},), "be": ()},
        prune=(ObjectKey("Service", "old"),),
        step=step,
        fingerprint="f",
    )
    document = job(
        KEY,
        cluster_raw(),
        decision,
        Children.of([applied_raw("Service", "s"), child_raw("Service", "adopted", "sample")]),
        settings("--lease-namespace", "op", "--dns-domain", "lake.example"),
    ).document
    assert document["due"] == ["fe"]
    assert document["prune"] == [{"kind": "Service", "name": "old"}]
    assert document["step"]["hash"] == step.hash
    assert document["operator"]["lease"] == {"namespace": "op", "name": "starrocks-operator"}
    assert document["operator"]["identity"].startswith("test_")
    assert document["operator"]["dns_domain"] == "lake.example"
    assert document["known"] == {"Service/s": "1"}
    assert "password" not in json.dumps(document)


def event(kind: str, host: str = "ns.sample", **data: Any) -> dict[str, Any]:
    return {"event": kind, "event_data": {"host": host, **data}}


WRITTEN = {"kind": "Service", "name": "s", "changed": True, "resourceVersion": "7"}
CONFIRMED = {"kind": "ConfigMap", "name": "c", "changed": False, "resourceVersion": "3"}
STATS = {"event": "playbook_on_stats", "event_data": {"processed": {"ns.sample": 1}}}


DOCUMENT = {"due": ["fe", "be"], "prune": [], "step": None}


def told(*events: dict[str, Any], document: dict[str, Any] | None = None) -> dict[str, HostRecord]:
    """The hosts that were told about, and what was seen of them."""
    records: dict[str, HostRecord] = {}
    collector = Collector({"ns.sample": document or DOCUMENT}, records.__setitem__)
    for item in events:
        assert collector(item) is False, "nothing may be written to disk"
    return records


def translated(*events: dict[str, Any]) -> Result:
    return translate(a_job("sample"), told(*events, STATS)["ns.sample"])


def applied(component: str) -> dict[str, Any]:
    return event("runner_on_ok", role=f"starrocks.operator.{component}", res={"objects": []})


@pytest.mark.parametrize(
    ("document", "events", "finished"),
    [
        ({"due": ["fe", "be"]}, [applied("fe")], False),
        ({"due": ["be"]}, [applied("fe")], False),
        ({"due": ["be"]}, [applied("fe"), applied("be")], True),
        ({"due": ["fe"], "prune": [{}]}, [applied("fe")], False),
        ({"due": ["fe"], "prune": [{}]}, [applied("fe"), event("runner_on_ok", res={"objects": []})], True),
        ({"due": [], "step": {"kind": "x"}}, [event("runner_on_ok", res={"outcome": "done"})], True),
        ({"due": ["fe", "be"]}, [event("runner_on_failed", res={"msg": "no"})], True),
        ({"due": ["fe"]}, [event("runner_on_skipped", res={})], False),
    ],
)
def test_a_host_is_told_about_as_soon_as_it_is_finished(
    document: dict[str, Any], events: list[dict[str, Any]], finished: bool
) -> None:
    assert ("ns.sample" in told(*events, document=document)) is finished


def test_a_run_that_went_well() -> None:
    result = translated(event("runner_on_ok", res={"objects": [WRITTEN, CONFIRMED]}, duration=0.5))
    assert result.report.succeeded
    assert result.report.changed == ("Service/s",)
    assert result.versions == {("Service", "s"): "7", ("ConfigMap", "c"): "3"}
    assert result.seconds == 0.5


@pytest.mark.parametrize(
    ("seen", "reason", "said"),
    [
        (event("runner_on_failed", res={"msg": "Service s was refused."}), "ApplyRefused", "refused"),
        (event("runner_on_ok", res={"outcome": "failed", "message": "FE said no."}), "StepFailed", "no"),
        (event("runner_on_ok", res={"outcome": "unknown", "message": "lost"}), "StepFailed", "lost"),
        (event("runner_on_unreachable", res={}), "ApplyRefused", "no message"),
    ],
)
def test_a_run_that_did_not(seen: dict[str, Any], reason: str, said: str) -> None:
    report = translated(seen).report
    assert not report.succeeded
    assert report.reason == reason
    assert said in report.message


@pytest.mark.parametrize(("status", "reason"), [("timeout", "RunTimedOut"), ("failed", "RunnerCrashed")])
def test_a_run_that_never_got_there(status: str, reason: str) -> None:
    assert unfinished(a_job("sample"), Ending(status=status)).report.reason == reason


def test_a_stale_step_is_no_failure() -> None:
    report = translated(event("runner_on_ok", res={"outcome": "stale", "message": "m"})).report
    assert report.succeeded
    assert report.step == StepOutcome.STALE


def test_another_hosts_trouble_is_not_ours() -> None:
    result = translated(event("runner_on_failed", host="ns.other", res={"msg": "bad"}))
    assert result.report.succeeded


def test_the_files_of_a_run_are_private(tmp_path: Path) -> None:
    before = play.os.umask(0o077)
    try:
        inventory = play._inventory(tmp_path, {"ns.sample": {"cluster": "secret"}})
    finally:
        play.os.umask(before)
    variables = json.loads(inventory.read_text())["all"]["hosts"]["ns.sample"]
    assert sorted(variables) == ["cluster_file", "only_objects"], "values of the resource never become variables"
    file = Path(variables["cluster_file"])
    assert json.loads(file.read_text()) == {"cluster": "secret"}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
