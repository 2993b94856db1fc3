"""Real time to virtual time and back. The speed may change; what has been shown as a date stays where it was."""

from __future__ import annotations

import time
from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True)
class _Stretch:
    virtual: float
    monotonic: float
    epoch: float
    speed: float


class ScaledClock:
    def __init__(self, speed: float = 1.0) -> None:
        self._stretches = [_Stretch(0.0, time.monotonic(), time.time(), _checked(speed))]

    @property
    def speed(self) -> float:
        return self._stretches[-1].speed

    @speed.setter
    def speed(self, speed: float) -> None:
        self._stretches.append(_Stretch(self.now(), time.monotonic(), time.time(), _checked(speed)))

    def now(self) -> float:
        last = self._stretches[-1]
        return last.virtual + (time.monotonic() - last.monotonic) * last.speed

    def real_seconds(self, virtual_seconds: float) -> float:
        return virtual_seconds / self.speed

    def wall(self, moment: float) -> float:
        """The real date of a virtual moment: names and times in FE's tables compare with those of Kubernetes."""
        index = bisect_right(self._stretches, moment, key=lambda stretch: stretch.virtual) - 1
        stretch = self._stretches[max(index, 0)]
        return stretch.epoch + (moment - stretch.virtual) / stretch.speed


def _checked(speed: float) -> float:
    if speed <= 0:
        raise ValueError(f"The clock's speed must be greater than zero, not {speed}.")
    return speed
