"""The replicated state through time: its current value for the leader, and older ones for everybody who trails."""

from __future__ import annotations

from lab.simulator.model.rows import State

_KEEP = 3600.0  # virtual seconds; longer than any frontend may trail and still answer


class Journal:
    def __init__(self, now: float) -> None:
        self.state = State()
        self.entries = 0
        self._history: list[tuple[float, State]] = [(now, self.state)]

    def append(self, state: State, now: float) -> None:
        if state == self.state:
            return
        if not self.entries:
            self._history.clear()  # there was nothing before the founding
        self.state = state
        self.entries += 1
        self._history.append((now, state))
        while len(self._history) > 1 and self._history[1][0] < now - _KEEP:
            self._history.pop(0)

    def at(self, moment: float) -> State:
        for written, state in reversed(self._history):
            if written <= moment:
                return state
        return self._history[0][1]
