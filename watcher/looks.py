"""When each cluster's frontends are asked, and what they said last.

While a cluster changes it is asked about every second, more and more rarely if the answers stay the same; a settled
one once a minute. Looks run in a bounded pool of threads, at most one per cluster, and nobody waits for them: an
answer that says something new puts the cluster into the queue.
"""

from __future__ import annotations

import asyncio
import dataclasses
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from datetime import UTC, datetime

from starrocks_operator.frontend.endpoints import Credentials, Endpoint
from starrocks_operator.model import Key
from starrocks_operator.observed import FrontendRow, FrontendView, Outcome
from watcher.domain import Look
from watcher.logs import logger
from watcher.metrics import FAILURES, LOOK_SECONDS, LOOKS
from watcher.queue import Jitter, Schedule

log = logger(__name__)
SLOWEST = 15.0  # seconds between looks at a cluster that waits for something that does not come
SOON = 0.2


@dataclass
class _Subject:
    endpoints: tuple[Endpoint, ...] = ()
    credentials: Credentials | None = None
    settled: bool = False
    interval: float = 0.0
    view: FrontendView | None = None
    digest: int = 0
    asking: bool = False
    again: bool = False
    last: float = field(default=-math.inf)


class Looks:
    """`news(key)` is called when a look is over that the cluster should be decided on again."""

    def __init__(
        self,
        look: Look,
        *,
        threads: Executor,
        news: Callable[[Key], None],
        interval: float,
        settled_interval: float,
        clock: Callable[[], float],
        jitter: Jitter,
    ) -> None:
        self._look, self._threads, self._news = look, threads, news
        self._interval, self._settled_interval = interval, settled_interval
        self._clock, self._jitter = clock, jitter
        self._subjects: dict[Key, _Subject] = {}
        self._schedule: Schedule[Key] = Schedule()
        self._wake = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    def view(self, key: Key) -> FrontendView | None:
        subject = self._subjects.get(key)
        return subject.view if subject else None

    def digest(self, key: Key) -> int:
        """Equal as long as the frontends say the same."""
        subject = self._subjects.get(key)
        return subject.digest if subject else 0

    def asked(self, key: Key) -> float:
        """When the look began that the view is of, by the clock that we were given."""
        subject = self._subjects.get(key)
        return subject.last if subject else -math.inf

    def plan(self, key: Key, endpoints: Sequence[Endpoint], credentials: Credentials, *, settled: bool) -> None:
        """Go on asking these frontends; a first look, or one at other frontends, comes soon."""
        subject = self._subjects.setdefault(key, _Subject(interval=self._interval))
        where = tuple(endpoints)
        changed = (subject.endpoints, subject.credentials) != (where, credentials)
        subject.endpoints, subject.credentials = where, credentials
        self.settle(key, settled=settled)
        if changed:
            subject.interval = self._interval
            self.hasten(key)
        elif key not in self._schedule and not subject.asking:
            self._next(key, subject)
        self._wake.set()

    def settle(self, key: Key, *, settled: bool) -> None:
        """Whether the cluster is as it should be, and can be asked rarely."""
        if (subject := self._subjects.get(key)) is None or subject.settled == settled:
            return
        subject.settled = settled
        if settled and not subject.asking and not subject.again:
            self._schedule.move(key, self._clock() + self._settled_interval * (1 + self._jitter() / 5))
        elif not settled:
            subject.interval = self._interval
            self._schedule.add(key, self._clock() + self._interval)
        self._wake.set()

    def hasten(self, key: Key) -> None:
        """Something happened: look soon, though not twice within the interval's half."""
        if (subject := self._subjects.get(key)) is None:
            return
        subject.interval, subject.again = self._interval, True
        if not subject.asking:
            self._schedule.add(key, max(self._clock() + SOON, subject.last + self._interval / 2))
        self._wake.set()

    def blank(self, key: Key) -> None:
        """Nobody to ask: what was said before is no longer worth anything."""
        if (subject := self._subjects.get(key)) is not None:
            subject.view, subject.digest, subject.endpoints = None, 0, ()
            self._schedule.forget(key)

    def forget(self, key: Key) -> None:
        self._subjects.pop(key, None)
        self._schedule.forget(key)

    async def run(self) -> None:
        while True:
            self._wake.clear()
            now = self._clock()
            while (key := self._schedule.pop(now)) is not None:
                if (subject := self._subjects.get(key)) and subject.endpoints and not subject.asking:
                    task = asyncio.create_task(self._ask(key, subject), name=f"look at {key}")
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
            pause = self._schedule.next_due() - self._clock()
            try:
                await asyncio.wait_for(self._wake.wait(), None if math.isinf(pause) else max(0.0, pause))
            except TimeoutError:
                continue

    async def _ask(self, key: Key, subject: _Subject) -> None:
        subject.asking, subject.again, before = True, False, subject.digest
        credentials = subject.credentials or Credentials()
        loop, begun = asyncio.get_running_loop(), self._clock()
        try:
            with LOOK_SECONDS.time():
                view = await loop.run_in_executor(
                    self._threads, self._look, subject.endpoints, credentials, subject.view if subject.settled else None
                )
            LOOKS.labels(outcome=_outcome(view)).inc()
        except Exception as error:  # a look must never end the polling
            FAILURES.labels(reason="LookFailed").inc()
            log.error("could not look", cluster=str(key), error=type(error).__name__, exc_info=True)
            view = FrontendView(asked_at=datetime.now(UTC))
        finally:
            subject.asking, subject.last = False, begun
        if self._subjects.get(key) is not subject or not subject.endpoints:
            return
        subject.view, subject.digest = view, digest(view)
        changed = subject.digest != before
        subject.interval = self._interval if changed else min(SLOWEST, subject.interval * 1.5)
        if subject.again:
            self.hasten(key)
        else:
            self._next(key, subject)
        if changed or not subject.settled:
            self._news(key)

    def _next(self, key: Key, subject: _Subject) -> None:
        pause = self._settled_interval * (1 + self._jitter() / 5) if subject.settled else subject.interval
        self._schedule.add(key, self._clock() + pause)
        self._wake.set()


def digest(view: FrontendView) -> int:
    """A number for what a view says, without what moves by itself: clocks, journals, running queries."""
    answers = tuple(
        (answer.pod, answer.outcome, answer.error, tuple(_still(row) for row in answer.rows))
        for answer in sorted(view.answers, key=lambda answer: answer.pod)
    )
    frontends = None if view.frontends is None else tuple(_still(row) for row in view.frontends)
    nodes = tuple(
        None if rows is None else tuple(dataclasses.replace(row, running_queries=None) for row in rows)
        for rows in (view.backends, view.compute_nodes)
    )
    return hash((answers, view.leader, frontends, nodes))


def _still(row: FrontendRow) -> FrontendRow:
    return dataclasses.replace(row, replayed_journal_id=0)


def _outcome(view: FrontendView) -> str:
    outcomes = {answer.outcome for answer in view.answers}
    if view.leader:
        return "answered"
    return str(min(outcomes - {Outcome.ANSWERED}, default=Outcome.FAILED)) if outcomes else "nobody"
