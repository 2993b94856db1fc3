"""One run for many clusters: whatever is waiting when a runner gets free goes into the next run, together.

A cluster that failed or was slow last time runs alone, so that it holds nobody else up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from starrocks_operator.model import Key
from watcher.job import Job, Result
from watcher.logs import logger
from watcher.metrics import RUN_HOSTS, RUN_SECONDS, RUNS, RUNS_ACTIVE
from watcher.verdict import broken

log = logger(__name__)
Done = Callable[[Job, Result], None]
Run = Callable[[Sequence[Job], Done], Awaitable[None]]  # calls `Done` once for each job, as soon as it can
SLOW = 10.0  # seconds of its own that make a cluster slow
GATHER = 0.25  # while others run, a burst is probably under way: wait this long for company


class Batch:
    """Hands jobs to `run`, at most `slots` runs at a time and `size` jobs in each."""

    def __init__(self, run: Run, *, slots: int, size: int, gather: float = GATHER) -> None:
        self._run, self._slots, self._size, self._gather = run, slots, size, gather
        self._waiting: dict[Key, tuple[Job, asyncio.Future[Result]]] = {}
        self._alone: set[Key] = set()
        self._wake = asyncio.Event()
        self._active = 0

    @property
    def active(self) -> int:
        return self._active

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    async def submit(self, job: Job) -> Result | None:
        """The job's result; None: it was abandoned before it began."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting[job.key] = (job, future)
        self._wake.set()
        try:
            return await future
        except asyncio.CancelledError:
            if future.cancelled() and not _being_cancelled():
                return None
            raise
        finally:
            self._waiting.pop(job.key, None)

    def abandon(self, key: Key) -> None:
        """The cluster is gone: if its job has not begun, it never will."""
        if (waiting := self._waiting.pop(key, None)) is not None:
            waiting[1].cancel()
        self._alone.discard(key)

    async def serve(self) -> None:
        """Run for ever; ends, with everything under way, when cancelled."""
        async with asyncio.TaskGroup() as slots:
            for _ in range(self._slots):
                slots.create_task(self._slot())

    async def _slot(self) -> None:
        while True:
            while not self._waiting:
                self._wake.clear()
                await self._wake.wait()
            if self._active:
                await asyncio.sleep(self._gather)
            if taken := self._take():
                await self._execute(taken)

    def _take(self) -> list[tuple[Job, asyncio.Future[Result]]]:
        """The oldest job if it must run alone; else as many as may run together."""
        if not self._waiting:
            return []
        first = next(iter(self._waiting))
        if first in self._alone:
            return [self._waiting.pop(first)]
        together = [key for key in self._waiting if key not in self._alone][: self._size]
        return [self._waiting.pop(key) for key in together]

    async def _execute(self, taken: list[tuple[Job, asyncio.Future[Result]]]) -> None:
        futures = {job.key: future for job, future in taken}
        results: dict[Key, Result] = {}

        def done(job: Job, result: Result) -> None:
            results[job.key] = result
            self._settle(job, result, futures[job.key])

        self._active += 1
        RUNS_ACTIVE.set(self._active)
        try:
            with RUN_SECONDS.time():
                await self._run([job for job, _ in taken], done)
        except Exception as error:
            log.exception("a run broke down", clusters=len(taken))
            for job, _ in taken:
                if job.key not in results:
                    done(job, broken(job, "RunnerCrashed", f"The run broke down: {type(error).__name__}."))
        finally:
            self._active -= 1
            RUNS_ACTIVE.set(self._active)
        failed = any(not result.report.succeeded for result in results.values())
        RUNS.labels(result="failed" if failed else "succeeded").inc()

    def _settle(self, job: Job, result: Result, future: asyncio.Future[Result]) -> None:
        RUN_HOSTS.labels(reason=result.report.reason or "none").inc()
        bad = not result.report.succeeded or result.seconds > SLOW
        (self._alone.add if bad else self._alone.discard)(job.key)
        if not future.done():
            future.set_result(result)


def _being_cancelled() -> bool:
    task = asyncio.current_task()
    return bool(task and task.cancelling())
