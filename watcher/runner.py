"""The pool of worker processes that run Ansible, and the translation of what a run brought back."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from datetime import UTC, datetime

from starrocks_operator.run_report import RunReport, StepOutcome
from watcher import play
from watcher.batch import broken
from watcher.job import Job, Result
from watcher.logs import logger
from watcher.play import HostRecord, Play, Record
from watcher.settings import Settings

log = logger(__name__)
LONGEST_MESSAGE = 600
FAILED_STEP = (StepOutcome.FAILED, StepOutcome.UNKNOWN)


class Runner:
    """Runs jobs in spawned processes, which are warmed at the start and used again."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._active = 0
        self._pool = self._new_pool()

    async def warm(self) -> None:
        """Start the workers now and not at the first run."""
        loop = asyncio.get_running_loop()
        asked = [loop.run_in_executor(self._pool, play.ready) for _ in range(self._settings.concurrency)]
        await asyncio.gather(*asked)

    async def run(self, jobs: Sequence[Job]) -> Mapping[str, Result]:
        """One run for all jobs; a result for each, by host."""
        settings = self._settings
        timeout = settings.run_timeout + 5.0 * len(jobs)
        task = Play(
            documents={job.host: job.document for job in jobs},
            playbook=str(settings.playbook),
            scratch=str(settings.scratch),
            kubeconfig=settings.kubeconfig,
            forks=min(settings.forks, len(jobs)) if not self._active else 1,  # forks are memory, and cores are few
            timeout=timeout,
        )
        self._active += 1
        loop = asyncio.get_running_loop()
        try:
            record = await asyncio.wait_for(loop.run_in_executor(self._pool, play.run, task), timeout + 30)
        except (BrokenProcessPool, TimeoutError) as error:
            log.error("a worker process was lost", clusters=len(jobs), error=type(error).__name__)
            self._replace_pool()
            return {job.host: broken(job, "RunnerCrashed", "The process that ran Ansible ended.") for job in jobs}
        finally:
            self._active -= 1
        if record.output:
            log.error("ansible ended before its first task", status=record.status, output=record.output)
        return {job.host: translate(job, record) for job in jobs}

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _new_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            max_workers=self._settings.concurrency,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=play.warm,
        )

    def _replace_pool(self) -> None:
        old, self._pool = self._pool, self._new_pool()
        for process in (getattr(old, "_processes", None) or {}).values():
            process.kill()
        old.shutdown(wait=False, cancel_futures=True)


def translate(job: Job, record: Record) -> Result:
    """What one host's record means for its cluster."""
    host = record.hosts[job.host]
    reason, message = _judge(host, record)
    report = RunReport(
        fingerprint=job.fingerprint,
        finished_at=datetime.now(UTC),
        succeeded=not reason,
        reason=reason,
        message=message[:LONGEST_MESSAGE],
        changed=tuple(f"{item['kind']}/{item['name']}" for item in host.objects if item.get("changed")),
        step=_outcome(host),
    )
    versions = {
        (str(item["kind"]), str(item["name"])): str(item["resourceVersion"])
        for item in host.objects
        if item.get("resourceVersion")
    }
    return Result(report=report, versions=versions, seconds=host.seconds)


def _judge(host: HostRecord, record: Record) -> tuple[str, str]:
    """The reason and the sentence; empty: it succeeded."""
    if _outcome(host) in FAILED_STEP:
        return "StepFailed", host.outcome_message or "The step failed, and FE did not say why."
    if host.errors:
        return "ApplyRefused", " ".join(host.errors)
    if record.status == "timeout":
        return "RunTimedOut", "The run took too long and was ended."
    if not host.finished:
        return "RunnerCrashed", f"Ansible ended ({record.status}) before it was done."
    return "", ""


def _outcome(host: HostRecord) -> StepOutcome:
    return StepOutcome(host.outcome) if host.outcome in set(StepOutcome) else StepOutcome.NONE
