"""How often the same thing was run lately: what does not help is repeated more and more rarely.

A run that failed is repeated after a back-off; so is one that succeeded and left the same thing due, and two runs
that undo each other's work in turns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from starrocks_operator.model import Key

FIRST, LAST, MEMORY = 1.0, 300.0, 60.0


@dataclass
class _Tries:
    count: int = 0
    at: float = 0.0


class Attempts:
    """Counts runs by cluster and fingerprint."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._tries: dict[Key, dict[str, _Tries]] = {}
        self._generations: dict[Key, object] = {}

    def pause(self, key: Key, fingerprint: str, *, generation: object) -> float:
        """How many seconds from now the run may begin; 0: now. A new generation is tried at once."""
        if self._generations.get(key) != generation:
            self._generations[key] = generation
            self._tries.pop(key, None)
        tries = self._tries.get(key, {}).get(fingerprint)
        if tries is None:
            return 0.0
        return max(0.0, tries.at + _wait(tries.count) - self._clock())

    def count(self, key: Key, fingerprint: str) -> None:
        """A run for this fingerprint has ended."""
        now, known = self._clock(), self._tries.setdefault(key, {})
        for old in [name for name, tries in known.items() if now - tries.at > max(MEMORY, 2 * _wait(tries.count))]:
            del known[old]
        tries = known.setdefault(fingerprint, _Tries())
        tries.count, tries.at = tries.count + 1, now

    def forget(self, key: Key) -> None:
        self._tries.pop(key, None)
        self._generations.pop(key, None)


def _wait(count: int) -> float:
    return float(min(LAST, FIRST * 2.0 ** min(count - 1, 30)))
