"""The worker processes that run Ansible: started early, used again and again, replaced when one is lost."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from watcher.batch import Done
from watcher.job import Job
from watcher.logs import logger
from watcher.play import HostRecord, Play
from watcher.scratch import Scratch
from watcher.settings import Settings
from watcher.verdict import broken, translate, unfinished
from watcher.workers import Nursery, Worker

log = logger(__name__)
GRACE = 30.0  # seconds beyond a run's own time limit until its worker counts as lost


class Runner:
    """Gives jobs to the workers."""

    def __init__(self, settings: Settings, scratch: Scratch | None = None) -> None:
        self._settings = settings
        self._scratch = scratch or Scratch(settings.scratch)
        self._idle: list[Worker] = []
        self._active = 0
        self._nursery = Nursery(environment(settings, self._scratch.path))

    async def warm(self) -> None:
        """Start the workers now and not at the first run."""
        self._scratch.prepare()
        while len(self._idle) + self._active < self._settings.concurrency:
            self._idle.append(await self._nursery.worker())

    async def run(self, jobs: Sequence[Job], done: Done, *, playbook: str = "") -> None:
        """One run for all jobs; `done` is called once for each. playbook: another one, beside the usual."""
        timeout = self._settings.run_timeout + 5.0 * len(jobs)
        by_host = {job.host: job for job in jobs}
        self._scratch.prepare()
        play = self._play(by_host, timeout, playbook)
        worker: Worker | None = None
        self._active += 1
        try:
            async with asyncio.timeout(timeout + GRACE):
                worker = self._idle.pop() if self._idle else await self._nursery.worker()
                ending = await worker.play(play, lambda host, record: self._finished(by_host, host, record, done))
            self._idle.append(worker)
        except (EOFError, TimeoutError, OSError, ValueError) as error:
            if worker is not None:
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

    async def close(self) -> None:
        """The workers end, and nothing of a run stays on disk."""
        for worker in self._idle:
            worker.dismiss()
        await self._nursery.close()
        self._scratch.remove()

    def _finished(self, waiting: dict[str, Job], host: str, record: HostRecord, done: Done) -> None:
        if (job := waiting.pop(host, None)) is not None:
            done(job, translate(job, record))

    def _play(self, jobs: dict[str, Job], timeout: float, playbook: str) -> Play:
        settings = self._settings
        return Play(
            documents={host: job.document for host, job in jobs.items()},
            playbook=str(settings.playbook.with_name(playbook) if playbook else settings.playbook),
            scratch=str(self._scratch.path),
            forks=min(settings.forks, len(jobs)) if not self._active else 1,  # forks are memory, and cores are few
            timeout=timeout,
        )


def environment(settings: Settings, scratch: Path) -> dict[str, str]:
    """Where Ansible finds itself, its settings, our collection and the API server."""
    root = settings.playbook.parent.parent
    found = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', '/usr/bin:/bin')}",
        "PYTHONPATH": ":".join(filter(None, [str(root), os.environ.get("PYTHONPATH", "")])),
        "ANSIBLE_CONFIG": str(root / "ansible.cfg"),
        "ANSIBLE_INVENTORY_ENABLED": "ansible.builtin.yaml",  # JSON is YAML; the other plugins need not be asked
        "ANSIBLE_LOCAL_TEMP": str(scratch),
        "ANSIBLE_NOCOLOR": "1",
        "STARROCKS_WARM_ANSIBLE": str(int(settings.ansible == "warm")),
    }
    if settings.kubeconfig:
        found["KUBECONFIG"] = settings.kubeconfig
    if (collections := root / ".cache" / "collections").exists():
        found["ANSIBLE_COLLECTIONS_PATH"] = str(collections)
    return found
