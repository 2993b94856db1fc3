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
from starrocks_operator.observed import ComputeRow, FrontendRow, FrontendView, Outcome, Questions
from watcher.domain import Look
from watcher.logs import logger
from watcher.metrics import FAILURES, LOOK_SECONDS, LOOKS
from watcher.queue import Jitter, Schedule

log = logger(__name__)
SLOWEST = 15.0  # seconds between looks at a cluster that waits for something that does not come
SOON = 0.2
NO_QUESTIONS = Questions()


@dataclass
class _Subject:
    endpoints: tuple[Endpoint, ...] = ()
    credentials: Credentials | None = None
    questions: Questions = NO_QUESTIONS
    settled: bool = False
    pace: float | None = None
    interval: float = 0.0
    view: FrontendView | None = None
    digest: int = 0
    asking: bool = False
    again: bool = False
    last: float = field(default=-math.inf)


class Looks:
    """`news(key)` is called when a look is over that the cluster should be decided on again, `over(key)` after each."""

    def __init__(
        self,
        look: Look,
        *,
        threads: Executor,
        news: Callable[[Key], None],
        over: Callable[[Key], None] = lambda _: None,
        interval: float,
        settled_interval: float,
        clock: Callable[[], float],
        jitter: Jitter,
    ) -> None:
        self._look, self._threads, self._news, self._over = look, threads, news, over
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

    def plan(
        self,
        key: Key,
        endpoints: Sequence[Endpoint],
        credentials: Credentials,
        *,
        settled: bool,
        questions: Questions = NO_QUESTIONS,
    ) -> None:
        """Go on asking these frontends; a first look, one at other frontends or for more, comes soon."""
        subject = self._subjects.setdefault(key, _Subject(interval=self._interval))
        where = tuple(endpoints)
        more = set(questions.settings) - set(subject.questions.settings)
        more |= {"root"} if questions.root > subject.questions.root else set()
        more |= {"http"} if questions.http_port != subject.questions.http_port else set()
        more |= {"blacklists"} if questions.blacklists > subject.questions.blacklists else set()
        more |= {"lists"} if questions.backend_blacklists > subject.questions.backend_blacklists else set()
        more |= set(questions.parameters) - set(subject.questions.parameters)
        more |= {"health"} if questions.health > subject.questions.health else set()
        changed = (subject.endpoints, subject.credentials) != (where, credentials) or bool(more)
        subject.endpoints, subject.credentials, subject.questions = where, credentials, questions
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

    def pace(self, key: Key, seconds: float | None) -> None:
        """What is waited for takes so long that the next look is worth while only then, and a light one is enough."""
        if (subject := self._subjects.get(key)) is None:
            return
        subject.pace = seconds
        if seconds is not None and not subject.asking and not subject.again:
            self._schedule.move(key, max(self._clock(), subject.last + seconds))
            self._wake.set()

    def hasten(self, key: Key) -> None:
        """Something happened: look soon and at everybody, though not twice within the interval's half."""
        if (subject := self._subjects.get(key)) is None:
            return
        subject.interval, subject.again, subject.pace = self._interval, True, None
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
        last = subject.view if subject.settled or subject.pace is not None else None
        try:
            with LOOK_SECONDS.time():
                view = await loop.run_in_executor(
                    self._threads, self._look, subject.endpoints, credentials, last, subject.questions
                )
            LOOKS.labels(outcome=_outcome(view)).inc()
            self._over(key)
        except Exception as error:  # a look must never end the polling
            FAILURES.labels(reason="LookFailed").inc()
            log.error("could not look", cluster=str(key), error=type(error).__name__, exc_info=True)
            view = FrontendView(asked_at=datetime.now(UTC))
        finally:
            subject.asking, subject.last = False, begun
        view = dataclasses.replace(view, edition=credentials.edition)
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
        pause = subject.interval if subject.pace is None else subject.pace
        if subject.settled:
            pause = self._settled_interval * (1 + self._jitter() / 5)
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
        None if rows is None else tuple(_still_node(row) for row in rows)
        for rows in (view.backends, view.compute_nodes)
    )
    settings = None if view.settings is None else tuple(sorted(view.settings.items()))
    lists = tuple(
        None if found is None else tuple(sorted(found.items())) for found in (view.blacklists, view.backend_blacklists)
    )
    accounts = (view.login, view.root, view.edition, view.features, view.health)
    parameters = None if view.parameters is None else repr(sorted(view.parameters.items()))
    return hash((parameters, answers, view.leader, frontends, nodes, settings, view.replication, lists, accounts))


def _still(row: FrontendRow) -> FrontendRow:
    return dataclasses.replace(row, replayed_journal_id=0)


def _still_node(row: ComputeRow) -> ComputeRow:
    return dataclasses.replace(row, running_queries=None, used_bytes=None, free_bytes=None)


def _outcome(view: FrontendView) -> str:
    outcomes = {answer.outcome for answer in view.answers}
    if view.leader:
        return "answered"
    return str(min(outcomes - {Outcome.ANSWERED}, default=Outcome.FAILED)) if outcomes else "nobody"
