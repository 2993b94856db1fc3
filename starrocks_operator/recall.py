"""Recalling what was worked out before for equal input: an event that changes nothing then costs next to nothing.

Bounded, and of no consequence for results: what is recalled is what would be worked out again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

V = TypeVar("V")


class Recall(Generic[V]):
    """The latest results, each under a name, valid for the input with which it was worked out."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, tuple[Any, V]] = OrderedDict()

    def get(self, name: Hashable, given: Any, work_out: Callable[[], V]) -> V:
        """The result for `given`; worked out if the name is new or the input differs from the last one."""
        kept = self._kept.get(name)
        if kept is not None and kept[0] == given:
            self._kept.move_to_end(name)
            return kept[1]
        result = work_out()
        self._kept[name] = (given, result)
        self._kept.move_to_end(name)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return result
