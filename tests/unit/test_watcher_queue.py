"""Each cluster at most once in the queue, never twice in hand, and not before its time."""

from __future__ import annotations

import asyncio
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.watcher_fakes import until
from watcher.queue import Backoff, Schedule, WorkQueue


def test_the_earliest_wish_wins() -> None:
    schedule: Schedule[str] = Schedule()
    schedule.add("a", 5.0)
    schedule.add("a", 3.0)
    schedule.add("a", 9.0)
    assert len(schedule) == 1
    assert schedule.pop(2.9) is None
    assert schedule.pop(3.0) == "a"
    assert schedule.pop(100.0) is None


def test_a_held_key_waits_whoever_asks() -> None:
    schedule: Schedule[str] = Schedule()
    schedule.add("a", 1.0)
    schedule.hold("a", 10.0)
    schedule.add("a", 2.0)
    assert schedule.pop(9.9) is None
    schedule.release("a")
    schedule.add("a", 4.0)
    assert schedule.pop(4.0) == "a"


def test_moved_later_and_forgotten() -> None:
    schedule: Schedule[str] = Schedule()
    schedule.add("a", 1.0)
    schedule.move("a", 7.0)
    assert schedule.next_due() == 7.0
    schedule.forget("a")
    assert schedule.next_due() == math.inf
    assert "a" not in schedule


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.integers(0, 50)), max_size=60))
def test_what_is_popped_is_due_and_each_key_comes_once(wishes: list[tuple[str, int]]) -> None:
    schedule: Schedule[str] = Schedule()
    earliest: dict[str, int] = {}
    for key, when in wishes:
        schedule.add(key, float(when))
        earliest[key] = min(when, earliest.get(key, 1000))
    popped = []
    for now in range(51):
        while (key := schedule.pop(float(now))) is not None:
            assert earliest[key] == now
            popped.append(key)
    assert sorted(popped) == sorted(earliest)


def test_backoff_doubles_up_to_five_minutes_and_is_forgotten() -> None:
    backoff: Backoff[str] = Backoff(jitter=lambda: 0.0)
    assert [backoff.fail("a") for _ in range(10)] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]
    assert backoff.fail("b") == 1
    backoff.reset("a")
    assert backoff.fail("a") == 1
    assert Backoff[str](jitter=lambda: 1.0).fail("a") == 1.25


@pytest.fixture
def queue() -> WorkQueue[str]:
    return WorkQueue(debounce=0.0, jitter=lambda: 0.0, clock=time.monotonic)


async def test_many_keys_at_a_time_but_never_one_twice(queue: WorkQueue[str]) -> None:
    inside: list[str] = []
    most = 0
    seen: list[str] = []
    gates = {key: asyncio.Event() for key in "abc"}

    async def process(key: str) -> None:
        nonlocal most
        assert key not in inside
        inside.append(key)
        most = max(most, len(inside))
        seen.append(key)
        await gates[key].wait()
        inside.remove(key)

    serving = asyncio.create_task(queue.run(process))
    for key in "abc":
        queue.add(key)
    queue.open()
    await until(lambda: len(inside) == 3)
    queue.add("a")
    queue.add("a")
    assert most == 3
    for gate in gates.values():
        gate.set()
    await until(lambda: seen.count("a") == 2)
    await until(lambda: queue.active == 0)
    assert sorted(seen) == ["a", "a", "b", "c"]
    serving.cancel()


async def test_nothing_begins_while_it_is_closed(queue: WorkQueue[str]) -> None:
    seen: list[str] = []

    async def process(key: str) -> None:
        seen.append(key)

    serving = asyncio.create_task(queue.run(process))
    queue.add("a")
    for _ in range(50):
        await asyncio.sleep(0)
    assert seen == []
    assert queue.depth == 1
    queue.open()
    await until(lambda: seen == ["a"])
    serving.cancel()


async def test_a_failed_key_is_held_and_a_new_spec_releases_it(queue: WorkQueue[str]) -> None:
    seen: list[str] = []

    async def process(key: str) -> None:
        seen.append(key)
        if len(seen) == 1:
            queue.fail(key)

    serving = asyncio.create_task(queue.run(process))
    queue.add("a")
    queue.open()
    await until(lambda: seen == ["a"] and queue.active == 0)
    queue.add("a")
    for _ in range(50):
        await asyncio.sleep(0)
    assert seen == ["a"], "an event must not shorten the back-off"
    queue.succeed("a")
    queue.add("a")
    await until(lambda: seen == ["a", "a"])
    serving.cancel()
