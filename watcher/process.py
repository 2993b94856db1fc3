"""The process from start to end: step aside for others, hold the Lease, work, and leave nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

from starrocks_operator import __version__
from watcher.domain import Domain, real
from watcher.family import adopt_orphans, kill_descendants
from watcher.groups import groups
from watcher.kube import ApiError, Kube, connect
from watcher.lease import Lease
from watcher.logs import logger
from watcher.metrics import BUILD, INDEXED, QUEUE_DEPTH, QUEUE_OVERDUE
from watcher.probes import Probes
from watcher.realm import GROUPS
from watcher.rival import Rival
from watcher.runner import Runner
from watcher.scratch import Scratch, ScratchError
from watcher.settings import Settings
from watcher.work import Work

log = logger(__name__)
GRACE = 5.0  # seconds that runs under way get after a SIGTERM
RIVAL_PAUSE = 5.0

STOPPED, FAILED, LOST = 0, 1, 3


class Process:
    """One run of the program; `run` returns its exit code."""

    def __init__(self, settings: Settings, kube: Kube, domain: Domain, scratch: Scratch) -> None:
        self._settings, self._kube = settings, kube
        self._stop = asyncio.Event()
        self._runner = Runner(settings, scratch)
        self._lease = Lease(
            kube,
            namespace=settings.lease_namespace,
            name=settings.lease_name,
            identity=settings.identity,
            seconds=settings.lease_seconds,
            clock=time.monotonic,
        )
        kube.may_write = self._lease.lasts
        self._rival = Rival(
            kube, name=settings.rival_lease, namespaces=(settings.lease_namespace, *settings.namespaces)
        )
        self._work = Work(settings, kube, domain, self._runner, clock=time.monotonic, jitter=random.random)
        self._groups = Work(
            settings, kube, groups(settings), self._runner, clock=time.monotonic, jitter=random.random, realm=GROUPS
        )
        self._probes = Probes(
            healthy=lambda: self._work.trouble() or self._groups.trouble(),
            ready=self._unready,
            refresh=self._refresh_metrics,
        )

    async def run(self) -> int:
        loop = asyncio.get_running_loop()
        BUILD.labels(version=__version__).set(1)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        address = self._settings.http_address
        try:
            await self._probes.start(address, self._settings.metrics_address or address)
        except OSError as error:
            log.error(f"Cannot listen ({error.strerror}): choose another --http-address or --metrics-address.")
            return FAILED
        warming = asyncio.create_task(self._runner.warm())
        try:
            if await self._first(self._take_over()) is None:
                return STOPPED
            return await self._serve()
        finally:
            warming.cancel()
            await self._end()

    async def _take_over(self) -> bool:
        """Wait for the official operator to be gone, then for the Lease."""
        while (await self._rival.look()).active:
            await asyncio.sleep(RIVAL_PAUSE)
        await self._lease.acquire()
        return True

    async def _serve(self) -> int:
        """Work until asked to stop, or until the Lease is lost."""
        lost = asyncio.create_task(self._lease.hold())
        work = asyncio.create_task(self._work.run())
        others = asyncio.create_task(self._groups.run())
        rival = asyncio.create_task(self._watch_rival())
        stop = asyncio.create_task(self._stop.wait())
        everything: tuple[asyncio.Task[Any], ...] = (lost, work, others, rival, stop)
        await asyncio.wait(everything, return_when=asyncio.FIRST_COMPLETED)
        if lost.done():
            kill_descendants()  # another may be at work any moment: what we began must not go on
            return LOST
        code = STOPPED
        if not stop.done():
            code = FAILED
            for task in (work, others, rival):
                if task.done() and (error := task.exception()) is not None:
                    log.error("a part of the operator ended", error=type(error).__name__, exc_info=error)
        await asyncio.gather(self._work.finish(GRACE), self._groups.finish(GRACE))
        for task in everything:
            task.cancel()
        return code

    async def _watch_rival(self) -> None:
        """The official operator may be started at any time."""
        while True:
            active = self._rival.message != ""
            await asyncio.sleep(RIVAL_PAUSE if active else self._settings.rival_seconds)
            sighting = await self._rival.look()
            if sighting.active != active:
                for work in (self._work, self._groups):
                    (work.pause if sighting.active else work.resume)()

    async def _first(self, wanted: Awaitable[bool]) -> bool | None:
        """What `wanted` gives; None: we were asked to stop before."""
        task, stop = asyncio.ensure_future(wanted), asyncio.create_task(self._stop.wait())
        await asyncio.wait((task, stop), return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if task.done():
            return task.result()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        return None

    async def _end(self) -> None:
        """The children first, then the Lease: whoever takes it finds nobody at work."""
        self._work.stop_watching()
        self._groups.stop_watching()
        killed = kill_descendants()
        await self._runner.close()
        await self._lease.release()
        await self._probes.stop()
        await self._kube.close()
        log.info("ended", processes_ended=killed)

    def _refresh_metrics(self) -> None:
        depths, overdue, indexed = zip(self._work.figures, self._groups.figures, strict=True)
        QUEUE_DEPTH.set(sum(depths))
        QUEUE_OVERDUE.set(max(overdue))
        INDEXED.set(sum(indexed))

    def _unready(self) -> str:
        if self._rival.message:
            return self._rival.message
        if not self._lease.held:
            return "another process holds the Lease"
        return "" if self._work.filled else "the index is not filled yet"


def main(settings: Settings, *, domain: Callable[[Settings], Domain] = real) -> NoReturn:
    """Run to the end, and leave without ceremony: threads that wait for a hung frontend must not keep us."""
    adopt_orphans()
    if settings.kubeconfig:
        os.environ["KUBECONFIG"] = settings.kubeconfig  # kopf and Ansible read it there

    scratch = Scratch(settings.scratch)

    async def run() -> int:
        try:
            scratch.take_temporary_files()
            kube = await connect(settings.kubeconfig)
            return await Process(settings, kube, domain(settings), scratch).run()
        except (ApiError, ScratchError) as error:
            log.error(str(error))
        except Exception:
            log.exception("the operator broke down")
        return FAILED

    async def leave() -> None:
        code = await run()
        scratch.remove()
        sys.stderr.flush()
        os._exit(code)

    asyncio.run(leave())
    raise AssertionError("unreachable")
