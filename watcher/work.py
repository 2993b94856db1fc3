"""What the holder of the Lease does: watches, index, queue, looks and runs, put together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from starrocks_operator.model import KIND, WAREHOUSE_KIND, Key
from watcher.attempts import Attempts
from watcher.batch import Batch
from watcher.domain import Domain
from watcher.events import Events
from watcher.fleet import Fleet
from watcher.groups import GroupReader
from watcher.index import Index
from watcher.keys import key_of
from watcher.kube import ApiError, Kube
from watcher.latecomers import Latecomers
from watcher.logs import logger
from watcher.looks import Looks
from watcher.mentions import Mentions
from watcher.metrics import EVENTS
from watcher.observe import Observer
from watcher.queue import Jitter, WorkQueue
from watcher.realm import CLUSTERS, Realm
from watcher.reconcile import Reconciler
from watcher.references import PASSWORDS, Reader
from watcher.resync import Resync
from watcher.revisions import Revisions
from watcher.runner import Runner
from watcher.settings import Settings
from watcher.status_writer import StatusWriter
from watcher.storage_classes import StorageClasses
from watcher.stream import Stream
from watcher.trim import Raw

log = logger(__name__)
DEBOUNCE = 0.15
STUCK = 60.0  # seconds of a due cluster without attention that make us unhealthy
AFTER_RELIST = 2.0  # a watch that lists anew may have missed a deletion: compare this soon


class Work:
    """Everything that must not run in two processes at once."""

    def __init__(
        self,
        settings: Settings,
        kube: Kube,
        domain: Domain,
        runner: Runner,
        *,
        clock: Callable[[], float],
        jitter: Jitter,
        realm: Realm = CLUSTERS,
    ) -> None:
        self._settings, self._clock, self._realm = settings, clock, realm
        usual = realm is CLUSTERS
        self._index = Index(realm)
        self._queue: WorkQueue[Key] = WorkQueue(debounce=DEBOUNCE, jitter=jitter, clock=clock)
        self._fleet = Fleet()
        self._threads = ThreadPoolExecutor(settings.looks, thread_name_prefix="look")
        self._looks = Looks(
            domain.look,
            threads=self._threads,
            news=lambda key: self._queue.add(key, delay=0.0),
            over=self._fleet.looked,
            interval=settings.poll_interval,
            settled_interval=settings.settled_interval,
            clock=clock,
            jitter=jitter,
        )
        self._batch = Batch(
            partial(runner.run, playbook=realm.playbook) if realm.playbook else runner.run,
            slots=settings.concurrency if usual else 1,
            size=settings.batch_size,
        )
        reader = (Reader if usual else GroupReader)(
            kube,
            clock=clock,
            tls=settings.fe_ssl_mode,
            passwords=min(PASSWORDS, settings.settled_interval / 2),
            files=settings.settled_interval,
        )
        self._observer = Observer(
            index=self._index,
            reader=reader,
            looks=self._looks,
            domain=domain,
            revisions=Revisions(kube),
            classes=StorageClasses(kube, clock=clock),
            mentions=Mentions(kube),
            clock=clock,
        )
        self._reconciler = Reconciler(
            settings=settings,
            domain=domain,
            index=self._index,
            queue=self._queue,
            observer=self._observer,
            batch=self._batch,
            writer=StatusWriter(kube, realm),
            events=Events(kube, identity=settings.identity, clock=clock),
            attempts=Attempts(clock=clock),
            fleet=self._fleet,
            finalizer=realm.finalizer,
        )
        self._resync = Resync(kube, self._index, settings, realm)
        self._latecomers = Latecomers(kube, settings, realm)
        self._relisted = asyncio.Event()
        self._stream: Stream | None = None

    @property
    def filled(self) -> bool:
        return self._resync.filled

    async def run(self) -> None:
        """Never returns of itself."""
        await self._resync.wait_for_crd()
        await self._latecomers.begin()
        self._stream = Stream(self._settings, self.intake, loop=asyncio.get_running_loop(), realm=self._realm)
        self._stream.start()
        await self._resync.wait_until_filled()
        for key in self._index.clusters():
            self._queue.add(key)
        self._queue.open()
        async with asyncio.TaskGroup() as parts:
            parts.create_task(self._queue.run(self._reconciler.process), name="queue")
            parts.create_task(self._looks.run(), name="looks")
            parts.create_task(self._batch.serve(), name="batch")
            parts.create_task(self._keep_in_step(), name="resync")
            parts.create_task(self._latecomers.watch(self._stream.renew), name="latecomers")

    def intake(self, event: str | None, raw: Raw) -> None:
        """One watch event. event None: the object was listed, at the start or because a watch began anew."""
        known = self._index.known(raw)
        if event is None and self._resync.filled:
            self._relisted.set()
        key = self._index.drop(raw) if event == "DELETED" else self._index.put(raw)
        EVENTS.labels(kind=raw["kind"], news=str(key is not None).lower()).inc()
        if key is None:
            return
        resource = raw["kind"] in self._realm.resources
        if resource and event == "DELETED":
            self._batch.abandon(key)
        elif resource and _differ(known, raw, "uid", "generation"):
            self._queue.succeed(key)  # a new spec is tried at once, whatever failed before
        elif raw["kind"] == "Pod" and _lives_otherwise(known, raw, event):
            self._looks.hasten(key)
        self._queue.add(key)
        for other in self._concerned(key, event, raw):
            self._queue.add(other)

    def _concerned(self, key: Key, event: str | None, raw: Raw) -> Iterator[Key]:
        """A warehouse stands on its cluster's frontends; and its cluster has FE forget it when it is gone."""
        if raw["kind"] == WAREHOUSE_KIND and event == "DELETED":
            host = Key(key.namespace, raw["spec"].get("starRocksCluster", ""))
            if self._index.cluster(host) is not None:
                self._observer.departures.add(host, raw["metadata"]["name"])
        if event == "DELETED":
            yield from self._observer.departures.waiting(key.namespace)
        if raw["kind"] in (KIND, "Pod"):
            yield from filter(None, map(key_of, self._index.warehouses(key)))

    def pause(self) -> None:
        self._queue.close()

    def resume(self) -> None:
        self._queue.open()

    async def finish(self, grace: float) -> None:
        """Begin nothing new, and give runs under way a moment to end."""
        self._queue.close()
        until = self._clock() + grace
        while self._batch.active and self._clock() < until:
            await asyncio.sleep(0.05)

    def stop_watching(self) -> None:
        if self._stream is not None:
            self._stream.stop()

    def trouble(self) -> str:
        """What a restart would cure; empty: nothing."""
        if (seconds := self._queue.overdue()) > STUCK:
            return f"a cluster has been waiting for {seconds:.0f} s"
        if self._stream is not None and not self._stream.alive:
            return "the watches have ended"
        return ""

    @property
    def figures(self) -> tuple[int, float, int]:
        """How many wait, since when the oldest of them is due, and how many objects are known."""
        return self._queue.depth, self._queue.overdue(), len(self._index)

    async def _keep_in_step(self) -> None:
        """Compare index and API now and then, and soon after a watch had to begin anew."""
        while True:
            try:
                async with asyncio.timeout(self._settings.resync_interval):
                    await self._relisted.wait()
                await asyncio.sleep(AFTER_RELIST)
            except TimeoutError:
                pass
            self._relisted.clear()
            try:
                gone, _ = await self._resync.compare()
            except ApiError as error:
                log.warning("cannot compare index and API", error=str(error))
                continue
            for key in gone:
                self._queue.add(key)


def _differ(before: Raw | None, after: Raw, *fields: str) -> bool:
    return before is None or any(before["metadata"].get(name) != after["metadata"].get(name) for name in fields)


def _lives_otherwise(before: Raw | None, after: Raw, event: str | None) -> bool:
    """Whether something happened to a pod that the frontends may have noticed."""
    if before is None or event == "DELETED" or before.get("status") != after.get("status"):
        return True
    return _differ(before, after, "uid", "deletionTimestamp")
