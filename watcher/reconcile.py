"""One look at one cluster: observe, decide, say so in status, and run Ansible if there is anything to do.

In the normal case nothing changed, and that is found out by comparing a few numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from starrocks_operator.decision import Decision, Finding
from starrocks_operator.model import Key, StarRocksCluster
from starrocks_operator.run_report import RunReport
from watcher.attempts import Attempts
from watcher.batch import Batch
from watcher.domain import Domain
from watcher.events import Events
from watcher.fleet import Fleet
from watcher.index import Index
from watcher.job import Job, Result, job
from watcher.kube import ApiError
from watcher.logs import logger
from watcher.metrics import FAILURES, RECONCILE_SECONDS, RECONCILES, SKIPS
from watcher.observe import Observer, Sight
from watcher.poisoned import explain, status_of_poisoned
from watcher.protection import pause_of
from watcher.queue import WorkQueue
from watcher.settings import Settings
from watcher.status_writer import GoneError, StatusWriter
from watcher.trim import Raw

log = logger(__name__)
IGNORED = "starrocks.com/ignored"
BEHIND_PAUSE = 0.5
ROUNDS = 4  # of writing a status that changes the decision that changes the status


@dataclass
class _Memory:
    """What is remembered of a cluster between two looks."""

    uid: str
    settled: bool = False
    revision: int = -1
    inputs: tuple[object, ...] = ()
    last_run: RunReport | None = None
    trouble: str = ""


@dataclass(kw_only=True)
class Reconciler:
    """`process(key)` is what the queue calls; it never raises."""

    settings: Settings
    domain: Domain
    index: Index
    queue: WorkQueue[Key]
    observer: Observer
    batch: Batch
    writer: StatusWriter
    events: Events
    attempts: Attempts
    fleet: Fleet
    finalizer: str = ""
    _memories: dict[Key, _Memory] = field(default_factory=dict)

    async def process(self, key: Key) -> None:
        try:
            result = await self._process(key)
        except GoneError:
            result = "gone"
        except ApiError as error:
            result, delay = "api-error", self.queue.fail(key)
            FAILURES.labels(reason="ApiError").inc()
            log.warning("the API server refused", cluster=str(key), error=str(error), again_in=round(delay, 1))
        except Exception as error:
            result = await self._isolate(key, error)
        RECONCILES.labels(result=result).inc()

    def forget(self, key: Key) -> None:
        """The cluster is gone, or not ours to touch."""
        self._memories.pop(key, None)
        self.observer.forget(key)
        self.attempts.forget(key)
        self.batch.abandon(key)
        self.queue.forget(key)
        self.fleet.forget(key)
        self.index.forget([key])

    def _left_alone(self, key: Key, raw: Raw) -> bool:
        """Whether the cluster's owner, or the operator's, told operators to keep off."""
        return _ignored(raw) or not self.settings.in_scope(key.namespace)

    def _is_going(self, raw: Raw) -> bool:
        """Whether it is being deleted, and nothing is left for us to do before it goes."""
        metadata = raw["metadata"]
        held = self.finalizer and self.finalizer in (metadata.get("finalizers") or ())
        return bool(metadata.get("deletionTimestamp")) and not held

    async def _process(self, key: Key) -> str:
        raw = self.index.cluster(key)
        if raw is None or self._is_going(raw) or self._left_alone(key, raw):
            self.forget(key)
            return "gone" if raw is None else "left-alone"
        memory = self._memory(key, raw)
        if self.finalizer and (held := await self.writer.hold(raw)) is not None:
            self.index.put(raw := held)
        if self.observer.behind(key):
            self.queue.add(key, delay=BEHIND_PAUSE)
            return "behind"
        cluster = self.domain.parse(raw)
        sight = await self.observer.observe(cluster, settled=memory.settled)
        if (delay := self.observer.again(key)) is not None:
            self.queue.add(key, delay=delay)
        if sight is None:
            return "looking"
        if sight.observed.protection is not None:  # nobody tells us when policies come or go
            self.queue.add(key, delay=pause_of(sight.observed.protection))
        if memory.settled and (memory.revision, memory.inputs) == (sight.revision, sight.inputs):
            self.queue.succeed(key)
            SKIPS.labels(why="unchanged").inc()
            return "unchanged"
        return await self._decide(key, raw, cluster, sight, memory)

    async def _decide(self, key: Key, raw: Raw, cluster: StarRocksCluster, sight: Sight, memory: _Memory) -> str:
        """Decide and write status until the two agree, then act."""
        memory.settled, memory.trouble = False, ""
        revision = sight.revision
        for _ in range(ROUNDS):
            with RECONCILE_SECONDS.time():
                decision = self.domain.decide(cluster, sight.observed, default_profile=self.settings.default_profile)
                status = self.domain.status_of(cluster, sight.observed, decision, last_run=memory.last_run)
            status = cluster.written_status(status)
            written = await self.writer.write(raw, status)
            if written is None:
                break
            revision = self._take_in(key, written, revision)
            await self._tell(raw, written, status)
            raw = written
            cluster = self.domain.parse(raw)
        self.fleet.set(key, status, kind=raw["kind"], findings=[finding.reason for finding in decision.findings])
        self.queue.succeed(key)
        if decision.released:
            await self.writer.release(raw)
            return "released"
        if decision.due:
            return await self._run(key, raw, cluster, decision, memory)
        memory.settled = not decision.waits and not any(map(_unsettles, decision.findings))
        memory.revision, memory.inputs = revision, sight.inputs
        self.observer.settle(key, settled=memory.settled, pace=decision.pace)
        if self.index.revision(key) != revision:
            self.queue.add(key)
        elif not memory.settled and sight.observed.view is None:
            self.queue.add(key, delay=self.settings.poll_interval)
        return "settled" if memory.settled else "waiting"

    def _take_in(self, key: Key, written: Raw, revision: int) -> int:
        """Our own write is no news. Returns the revision that was judged: not the index's if anything else changed."""
        undisturbed = self.index.revision(key) == revision
        self.index.put(written)
        return self.index.revision(key) if undisturbed else revision

    async def _tell(self, before: Raw, after: Raw, status: Mapping[str, object]) -> None:
        transitions = self.domain.transitions(before.get("status") or {}, status)
        for transition in transitions:
            log.info("transition", cluster=_label(after), reason=transition.reason, note=transition.message)
        await self.events.post(after, transitions)

    async def _run(self, key: Key, raw: Raw, cluster: StarRocksCluster, decision: Decision, memory: _Memory) -> str:
        pause = self.attempts.pause(key, decision.fingerprint, generation=cluster.generation)
        if pause > 0:
            SKIPS.labels(why="backoff").inc()
            self.queue.add(key, delay=pause)
            return "backoff"
        log.info("run", cluster=str(key), changes=decision.changes, step=decision.step and str(decision.step.kind))
        result = await self.batch.submit(self._job(key, raw, decision))
        if result is None or not self._still_there(key, memory.uid):
            return "gone"
        self._learn(key, decision, result, memory)
        told = self.observer.departures.learn(key, decision.step, result.report)
        await self.events.post(raw, told)
        return "ran" if result.report.succeeded else "failed"

    def _job(self, key: Key, raw: Raw, decision: Decision) -> Job:
        former = self.observer.former(key)
        return job(key, raw, decision, self.index.children(key), self.settings, former=former)

    def _learn(self, key: Key, decision: Decision, result: Result, memory: _Memory) -> None:
        report = memory.last_run = result.report.after(memory.last_run)
        self.attempts.count(key, decision.fingerprint)
        self.observer.expect(key, result.versions, step=decision.step is not None)
        self.queue.add(key, delay=0.0)
        if report.succeeded:
            outcome = {"step": str(report.step), "said": report.said}
            log.info("ran", cluster=str(key), changed=report.changed, seconds=result.seconds, **outcome)
            return
        FAILURES.labels(reason=report.reason).inc()
        log.warning("run failed", cluster=str(key), reason=report.reason, message=report.message)

    async def _isolate(self, key: Key, error: Exception) -> str:
        """A cluster that cannot be processed harms only itself."""
        reason, message = explain(error)
        FAILURES.labels(reason=reason).inc()
        delay, raw = self.queue.fail(key), self.index.cluster(key)
        if raw is None:
            return "gone"
        memory = self._memory(key, raw)
        memory.settled = False
        if memory.trouble != (trouble := f"{reason} {message} {raw['metadata'].get('generation')}"):
            memory.trouble = trouble
            trace = error if reason == "InternalError" else None
            log.error("left alone", cluster=str(key), reason=reason, message=message, again_in=delay, exc_info=trace)
        status = status_of_poisoned(raw, reason, message, now=datetime.now(UTC))
        self.fleet.set(key, status, kind=raw["kind"], findings=[reason])
        try:
            if (written := await self.writer.write(raw, status)) is not None:
                await self._tell(raw, written, status)
        except (ApiError, GoneError) as refusal:
            log.debug("could not say so in status", cluster=str(key), error=str(refusal))
        return "poisoned"

    def _memory(self, key: Key, raw: Raw) -> _Memory:
        """The cluster's memory; another object of the same name starts with none."""
        uid = raw["metadata"]["uid"]
        if key in self._memories and self._memories[key].uid != uid:
            self.forget(key)
        return self._memories.setdefault(key, _Memory(uid))

    def _still_there(self, key: Key, uid: str) -> bool:
        raw = self.index.cluster(key)
        return raw is not None and raw["metadata"]["uid"] == uid


def _unsettles(finding: Finding) -> bool:
    """Whether FE or the pods may show at any moment that it is over. A remark is not about them."""
    return finding.degraded and not finding.remark


def _ignored(raw: Raw) -> bool:
    return str((raw["metadata"].get("annotations") or {}).get(IGNORED)).lower() == "true"


def _label(raw: Raw) -> str:
    return f"{raw['metadata']['namespace']}/{raw['metadata']['name']}"
