"""How often frontends are asked while nodes leave: as their progress allows, and with a light look."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from starrocks_operator.frontend import Credentials, Endpoint
from starrocks_operator.membership.drain import IDLE, PATIENT
from starrocks_operator.model import Key
from starrocks_operator.observed import FrontendView, Questions
from watcher.looks import Looks

KEY = Key("default", "sample")
PLACES = (Endpoint(pod="sample-fe-0", host="h", address="127.0.0.9", port=1),)
HELD = Questions(settings=("drop_backend_after_decommission",))


class Watch:
    """A clock that stands still until it is told the time, and looks that are noted with it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.asked: list[tuple[float, bool, Questions]] = []
        self.news: asyncio.Queue[Key] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        self.looks = Looks(
            self._look,
            threads=ThreadPoolExecutor(1),
            news=lambda key: loop.call_soon_threadsafe(self.news.put_nowait, key) and None,
            interval=1.0,
            settled_interval=60.0,
            clock=lambda: self.now,
            jitter=lambda: 0.0,
        )

    def _look(
        self, where: Sequence[Endpoint], who: Credentials, last: FrontendView | None, questions: Questions
    ) -> FrontendView:
        self.asked.append((self.now, last is None, questions))
        return FrontendView(asked_at=datetime.now(UTC), leader=where[0].host)

    def plan(self, questions: Questions = HELD) -> None:
        self.looks.plan(KEY, PLACES, Credentials(), settled=False, questions=questions)

    async def at(self, now: float) -> None:
        """The time is `now`: whatever is due is asked."""
        self.now = now
        self.looks.settle(KEY, settled=False)
        self.looks._wake.set()
        await self.news.get()


async def test_while_nodes_leave_frontends_are_asked_at_the_pace_of_their_progress() -> None:
    watch = Watch()
    running = asyncio.create_task(watch.looks.run())
    try:
        watch.plan()
        await watch.at(0.5)
        watch.looks.pace(KEY, PATIENT)
        assert watch.looks._schedule.next_due() == 0.5 + PATIENT
        await watch.at(0.5 + PATIENT)
        assert [thorough for _, thorough, _ in watch.asked] == [True, False], "the first thoroughly, the next lightly"
        watch.looks.hasten(KEY)
        await watch.at(40.0)
        assert watch.asked[-1] == (40.0, True, HELD), "something happened: what followers said before counts no more"
    finally:
        running.cancel()


async def test_a_new_question_is_asked_soon() -> None:
    watch = Watch()
    running = asyncio.create_task(watch.looks.run())
    try:
        watch.plan(Questions())
        await watch.at(0.5)
        watch.looks.pace(KEY, PATIENT)
        watch.plan()
        assert watch.looks._schedule.next_due() < 2.0
        watch.plan()
        await watch.at(2.0)
        assert watch.asked[-1][2] == HELD
    finally:
        running.cancel()


def test_at_that_pace_fe_answers_less_than_twelve_statements_a_minute() -> None:
    """The leader: its own view, its members in three questions, the setting that is held; one other: its own view.
    Where a person has to act, also: a second setting, the most replicas, and a little to spare."""
    assert 6 * 60 / PATIENT < 12
    assert 9 * 60 / IDLE < 12
