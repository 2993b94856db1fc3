"""The worker processes that run Ansible: started early, used again and again, replaced when one is lost."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from watcher.batch import Done
from watcher.job import Job
from watcher.logs import logger
from watcher.play import Ending, HostRecord, Play
from watcher.settings import ROOT, Settings
from watcher.verdict import broken, translate, unfinished

log = logger(__name__)
LINE = 64 * 1024 * 1024  # the longest answer; a host's objects, not the fleet's
PREFIX = "starrocks-operator-"
GRACE = 30.0  # seconds beyond a run's own time limit until its worker counts as lost


class Worker:
    """One process of `python -m watcher.worker`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls) -> Worker:
        return cls(
            await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "watcher.worker",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                cwd=ROOT,
                limit=LINE,
            )
        )

    async def play(self, play: Play, tell: Callable[[str, HostRecord], None]) -> Ending:
        """Run it; `tell` is called for each host that finishes. EOFError: the process has died."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(dataclasses.asdict(play)).encode() + b"\n")
        await self._process.stdin.drain()
        while line := await self._process.stdout.readline():
            answer = json.loads(line)
            if "ending" in answer:
                return Ending(**answer["ending"])
            tell(answer["host"], HostRecord(**answer["record"]))
        raise EOFError

    def kill(self) -> None:
        """Ask it to end with everything below it (it does so on SIGTERM)."""
        if self._process.returncode is None:
            self._process.terminate()


class Runner:
    """Gives jobs to the workers."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._idle: list[Worker] = []
        self._active = 0
        self._scratch = settings.scratch / f"{PREFIX}{os.getpid()}"
        self._prepared = False

    async def warm(self) -> None:
        """Start the workers now and not at the first run."""
        self._prepare()
        while len(self._idle) + self._active < self._settings.concurrency:
            self._idle.append(await Worker.start())

    async def run(self, jobs: Sequence[Job], done: Done) -> None:
        """One run for all jobs; `done` is called once for each."""
        timeout = self._settings.run_timeout + 5.0 * len(jobs)
        by_host = {job.host: job for job in jobs}
        self._prepare()
        worker = self._idle.pop() if self._idle else await Worker.start()
        play = self._play(by_host, timeout)
        self._active += 1
        try:
            async with asyncio.timeout(timeout + GRACE):
                ending = await worker.play(play, lambda host, record: self._finished(by_host, host, record, done))
            self._idle.append(worker)
        except (EOFError, TimeoutError, OSError, ValueError) as error:
            worker.kill()
            log.error("a worker process was lost", clusters=len(jobs), error=type(error).__name__)
            for job in by_host.values():
                done(job, broken(job, "RunnerCrashed", "The process that ran Ansible ended."))
            return
        finally:
            self._active -= 1
        if ending.output:
            log.error("ansible ended before its first task", status=ending.status, output=ending.output)
        for job in by_host.values():
            done(job, unfinished(job, ending))

    def clean(self) -> None:
        """Nothing of a run stays on disk."""
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _finished(self, waiting: dict[str, Job], host: str, record: HostRecord, done: Done) -> None:
        if (job := waiting.pop(host, None)) is not None:
            done(job, translate(job, record))

    def _play(self, jobs: dict[str, Job], timeout: float) -> Play:
        settings = self._settings
        return Play(
            documents={host: job.document for host, job in jobs.items()},
            playbook=str(settings.playbook),
            scratch=str(self._scratch),
            kubeconfig=settings.kubeconfig,
            forks=min(settings.forks, len(jobs)) if not self._active else 1,  # forks are memory, and cores are few
            timeout=timeout,
        )

    def _prepare(self) -> None:
        """A directory of our own, and none of operators that died without a chance to clean up."""
        if self._prepared and self._scratch.exists():
            return
        self._prepared = True
        for left in self._settings.scratch.glob(f"{PREFIX}*"):
            ours = left == self._scratch  # in a container every operator has the same process id
            if ours or (left.name.removeprefix(PREFIX).isdigit() and not _alive(left)):
                shutil.rmtree(left, ignore_errors=True)
        self._scratch.mkdir(mode=0o700, parents=True)


def _alive(directory: Path) -> bool:
    """Whether the operator of that process id runs; one that only waits to be reaped does not."""
    try:
        state = Path(f"/proc/{directory.name.removeprefix(PREFIX)}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
