"""The virtual clock: a heap of things to happen. Time moves only when somebody says so."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable

Action = Callable[[], None]


class Timer:
    """A thing to happen once; it may be called off."""

    __slots__ = ("action", "when")

    def __init__(self, when: float, action: Action) -> None:
        self.when = when
        self.action: Action | None = action

    def cancel(self) -> None:
        self.action = None


class Schedule:
    def __init__(self, start: float = 0.0) -> None:
        self.now = start
        self._heap: list[tuple[float, int, Timer]] = []
        self._count = itertools.count()

    def at(self, when: float, action: Action) -> Timer:
        timer = Timer(max(when, self.now), action)
        heapq.heappush(self._heap, (timer.when, next(self._count), timer))
        return timer

    def after(self, delay: float, action: Action) -> Timer:
        return self.at(self.now + delay, action)

    def next_deadline(self) -> float | None:
        while self._heap and self._heap[0][2].action is None:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def run_until(self, when: float) -> None:
        """Let everything due happen, in order; what comes up on the way and is due happens too."""
        while (due := self.next_deadline()) is not None and due <= when:
            timer = heapq.heappop(self._heap)[2]
            self.now = max(self.now, due)
            action, timer.action = timer.action, None
            if action is not None:
                action()
        self.now = max(self.now, when)
