"""The sweeps: one scenario again and again, each time with the same trouble at another call.

    python -m lab.rehearsal.sweep [--seeds N] [--troubles WORD …] [--only POINT] [SCENARIO …]

A scenario with n writing calls gives n points for each trouble; every one must end as if nothing had happened.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lab.rehearsal.gate import Call, Dies, Loses, Meanwhile, Trouble
from lab.rehearsal.rehearsal import Rehearsal
from lab.rehearsal.scenarios import SCENARIOS

PAUSED = 40.0  # seconds that a paused operator misses: more than its Lease lasts


def _second_operator(rehearsal: Rehearsal) -> None:
    """Another one comes, and does everything that is due, while the first one is about to make its call."""
    rehearsal.add_operator("second")
    for _ in range(3):
        rehearsal.act("second")
        rehearsal.stage.after(1.0)
    rehearsal.retire("second")


def _pause(rehearsal: Rehearsal) -> None:
    """The first operator is stopped for longer than its Lease lasts, and another one takes over."""
    rehearsal.add_operator("second")
    rehearsal.let_without("operator", PAUSED)


TROUBLES: Mapping[str, Callable[[Rehearsal, int], Trouble]] = {
    "dies-before": lambda _, number: Dies(number),
    "dies-after": lambda _, number: Dies(number, afterwards=True),
    "loses": lambda _, number: Loses(number),
    "second": lambda rehearsal, number: Meanwhile(number, act=lambda: _second_operator(rehearsal)),
    "paused": lambda rehearsal, number: Meanwhile(number, act=lambda: _pause(rehearsal)),
    "forgets": lambda rehearsal, number: Meanwhile(number, act=rehearsal.lose_status),
    "slow": lambda rehearsal, number: Meanwhile(number, act=lambda: rehearsal.stage.after(PAUSED)),
}
UNLEASED = frozenset({"second"})  # both believe that they may act


@dataclass(frozen=True, kw_only=True)
class Point:
    """One run of a sweep."""

    scenario: str
    trouble: str
    number: int
    seed: int = 0

    def __str__(self) -> str:
        return f"{self.scenario}/{self.trouble}/{self.number}/{self.seed}"

    @classmethod
    def parse(cls, text: str) -> Point:
        scenario, trouble, number, seed = text.split("/")
        return cls(scenario=scenario, trouble=trouble, number=int(number), seed=int(seed))

    def run(self) -> Rehearsal:
        """Play the scenario with the trouble; raises AssertionError if an invariant breaks or it does not converge."""
        scenario = SCENARIOS[self.scenario]
        rehearsal = scenario.begin(seed=self.seed, leased=self.trouble not in UNLEASED)
        rehearsal.gate.troubles.append(TROUBLES[self.trouble](rehearsal, self.number))
        scenario.finish(rehearsal)
        return rehearsal


def calls_of(scenario: str, *, seed: int = 0, leased: bool = True) -> Sequence[Call]:
    """The writing calls of a scenario in which nothing goes wrong."""
    played = SCENARIOS[scenario].begin(seed=seed, leased=leased)
    SCENARIOS[scenario].finish(played)
    return tuple(played.gate.written)


def points_of(scenario: str, *, troubles: Sequence[str] = tuple(TROUBLES), seed: int = 0) -> Iterator[Point]:
    """Every point of a scenario."""
    for trouble in troubles:
        count = len(calls_of(scenario, seed=seed, leased=trouble not in UNLEASED))
        for number in range(1, count + 1):
            yield Point(scenario=scenario, trouble=trouble, number=number, seed=seed)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.rehearsal.sweep", description="Sweep scenarios.")
    parser.add_argument("scenario", nargs="*", default=list(SCENARIOS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--troubles", nargs="+", choices=sorted(TROUBLES), default=list(TROUBLES))
    parser.add_argument("--only", help="one point, as it is printed when it fails")
    options = parser.parse_args(arguments)
    if options.only:
        Point.parse(options.only).run()
        return 0
    began, runs, failures = time.monotonic(), 0, []
    for name in options.scenario:
        for seed in range(options.seeds):
            failed, ran = _sweep(name, options.troubles, seed)
            failures += failed
            runs += ran
    seconds = time.monotonic() - began
    print(f"{runs} runs in {seconds:.1f} s ({runs / max(seconds, 0.001):.1f} a second), {len(failures)} failed")
    return 1 if failures else 0


def _sweep(scenario: str, troubles: Sequence[str], seed: int) -> tuple[list[Point], int]:
    failed, runs = [], 0
    try:
        points = list(points_of(scenario, troubles=troubles, seed=seed))
    except AssertionError as failure:
        print(f"FAILED {scenario} with seed {seed}, untroubled\n{failure}\n", flush=True)
        return [Point(scenario=scenario, trouble="none", number=0, seed=seed)], 1
    for point in points:
        runs += 1
        try:
            point.run()
        except Exception as failure:
            failed.append(point)
            print(f"FAILED {point}\n{type(failure).__name__}: {failure}\n", flush=True)
    print(f"{scenario} with seed {seed}: {runs} runs, {len(failed)} failed", flush=True)
    return failed, runs


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
