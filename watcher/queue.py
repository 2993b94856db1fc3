"""The work queue: each cluster at most once in it, never twice in hand, and not before its time.

`Schedule` is the pure half (who is due when); `WorkQueue` runs a coroutine for each key that is due.
"""

from __future__ import annotations

import asyncio
import heapq
import math
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
Jitter = Callable[[], float]


class Schedule(Generic[K]):
    """Keys and when each is due. The earliest wish for a key wins, but not before what `hold` says."""

    def __init__(self) -> None:
        self._due: dict[K, float] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._held: dict[K, float] = {}
        self._count = 0

    def __len__(self) -> int:
        return len(self._due)

    def __contains__(self, key: K) -> bool:
        return key in self._due

    def add(self, key: K, when: float) -> None:
        when = max(when, self._held.get(key, -math.inf))
        if when < self._due.get(key, math.inf):
            self._push(key, when)

    def move(self, key: K, when: float) -> None:
        """Due at `when`, whatever was wished before."""
        self._push(key, when)

    def hold(self, key: K, until: float) -> None:
        """Not before `until`, whoever asks."""
        self._held[key] = until
        if key in self._due and self._due[key] < until:
            self._push(key, until)

    def release(self, key: K) -> None:
        self._held.pop(key, None)

    def forget(self, key: K) -> None:
        self._due.pop(key, None)
        self._held.pop(key, None)

    def next_due(self) -> float:
        """When something is due next; infinity: nothing is planned."""
        self._skip()
        return self._heap[0][0] if self._heap else math.inf

    def pop(self, now: float) -> K | None:
        """The key that has been due for longest, if any is."""
        if self.next_due() > now:
            return None
        _, _, key = heapq.heappop(self._heap)
        del self._due[key]
        if self._held.get(key, now) <= now:
            self._held.pop(key, None)
        return key

    def _push(self, key: K, when: float) -> None:
        self._count += 1  # first come, first served
        self._due[key] = when
        heapq.heappush(self._heap, (when, self._count, key))

    def _skip(self) -> None:
        while self._heap and self._due.get(self._heap[0][2]) != self._heap[0][0]:
            heapq.heappop(self._heap)


class Backoff(Generic[K]):
    """How long each key waits after its failures in a row: 1 s, 2 s, 4 s … 5 min, each up to a quarter longer."""

    def __init__(self, *, first: float = 1.0, last: float = 300.0, jitter: Jitter) -> None:
        self._first, self._last, self._jitter = first, last, jitter
        self._failures: dict[K, int] = {}

    def failures(self, key: K) -> int:
        return self._failures.get(key, 0)

    def fail(self, key: K) -> float:
        count = self._failures[key] = self.failures(key) + 1
        return min(self._last, self._first * 2.0 ** min(count - 1, 30)) * (1 + self._jitter() / 4)

    def reset(self, key: K) -> None:
        self._failures.pop(key, None)


class WorkQueue(Generic[K]):
    """Runs `process(key)` for keys that are due: many keys at a time, one task per key."""

    def __init__(self, *, debounce: float, jitter: Jitter, clock: Callable[[], float]) -> None:
        self._schedule: Schedule[K] = Schedule()
        self._backoff: Backoff[K] = Backoff(jitter=jitter)
        self._debounce, self._clock = debounce, clock
        self._active: dict[K, asyncio.Task[None]] = {}
        self._again: dict[K, float] = {}  # asked for while in hand
        self._wake = asyncio.Event()
        self._open = asyncio.Event()

    @property
    def depth(self) -> int:
        return len(self._schedule)

    @property
    def active(self) -> int:
        return len(self._active)

    def overdue(self) -> float:
        """For how many seconds the oldest key has been waiting beyond its time."""
        return max(0.0, self._clock() - self._schedule.next_due()) if self._open.is_set() else 0.0

    def add(self, key: K, *, delay: float | None = None) -> None:
        """Look at `key` soon, or after `delay` seconds."""
        when = self._clock() + (self._debounce if delay is None else delay)
        if key in self._active:
            self._again[key] = min(when, self._again.get(key, math.inf))
        else:
            self._schedule.add(key, when)
        self._wake.set()

    def fail(self, key: K) -> float:
        """Look at `key` again after its back-off and not sooner; returns the seconds."""
        delay = self._backoff.fail(key)
        self._schedule.hold(key, self._clock() + delay)
        self.add(key, delay=delay)
        return delay

    def succeed(self, key: K) -> None:
        self._backoff.reset(key)
        self._schedule.release(key)

    def forget(self, key: K) -> None:
        self._backoff.reset(key)
        self._schedule.forget(key)
        self._again.pop(key, None)

    def open(self) -> None:
        self._open.set()
        self._wake.set()

    def close(self) -> None:
        """Begin nothing new; what is in hand goes on."""
        self._open.clear()

    async def run(self, process: Callable[[K], Awaitable[None]]) -> None:
        """Serve for ever. `process` handles its own errors."""
        while True:
            self._wake.clear()
            now = self._clock()
            while self._open.is_set() and (key := self._schedule.pop(now)) is not None:
                task = asyncio.create_task(self._work(key, process), name=f"work on {key}")
                self._active[key] = task
                await asyncio.sleep(0)  # a start-up with hundreds of keys must not starve the Lease
            pause = max(0.0, self._schedule.next_due() - self._clock()) if self._open.is_set() else math.inf
            await _wait(self._wake, pause)

    async def _work(self, key: K, process: Callable[[K], Awaitable[None]]) -> None:
        try:
            await process(key)
        finally:
            del self._active[key]
            if (when := self._again.pop(key, None)) is not None:
                self._schedule.add(key, when)
                self._wake.set()


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(event.wait(), None if math.isinf(seconds) else seconds)
    except TimeoutError:
        return
