"""The same trouble at every call of a scenario; here a sample of the points, all of them in `make chaos`."""

from __future__ import annotations

import random

import pytest

from lab.rehearsal.scenarios import SCENARIOS
from lab.rehearsal.sweep import TROUBLES, Point, points_of

SAMPLE = 2  # of each scenario and trouble


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_with_trouble_ends_as_if_nothing_had_happened(scenario: str, trouble: str) -> None:
    points = list(points_of(scenario, troubles=[trouble]))
    for point in random.Random(f"{scenario} {trouble}").sample(points, k=min(SAMPLE, len(points))):
        _play(point)


def _play(point: Point) -> None:
    try:
        point.run()
    except AssertionError as failure:
        pytest.fail(f"python -m lab.rehearsal.sweep --only {point}\n{failure}", pytrace=False)
