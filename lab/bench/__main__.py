"""`python -m lab.bench`: run all trials, print the figures beside their budgets, store them as JSON.

The budgets are ratios to figures that were measured once, on the same versions and on two cores: the official Go
operator (0.6 / 11.5 / 21 s to the objects of 1 / 20 / 50 clusters, 0.7 / 20 / 50 s to running, without any SQL), and
ansible-operator doing the same with four k8s tasks (6.3 CPU seconds a cluster).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from lab.bench.rollout import quiet_modes, rolls
from lab.bench.scale_in import departures, waiting
from lab.bench.show import show_departures, show_fleet, show_modes, show_rest, show_rolls, show_waiting
from lab.bench.trials import fleet, idle_events, quiet, settle
from lab.space import open_space
from lab.stack import ROOT, Stack

ROLLS = 3
REPEATS = {1: 5, 20: 3, 50: 2}
PARTS = ("applied", "fleet", "scale-in", "rollout")
MIGRATIONS = (0.0, 0.0, 0.0, 20.0, 90.0)  # seconds


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.bench", description="Measure what the operator costs.")
    parser.add_argument("--directory", type=Path, default=ROOT / ".lab" / "bench")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 20, 50])
    parser.add_argument("--fleet", type=int, default=200, help="clusters for the quiet and the idle-event trials")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=PARTS, help="these parts and no others")
    parser.add_argument("--leaving", type=int, default=20, help="clusters that are scaled in at once")
    parser.add_argument("--speed", type=float, default=100.0, help="the simulator's clock: fast enough not to count")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "bench.json")
    options = parser.parse_args()
    console = Console()
    stack = Stack.start(options.directory, name="bench", report=lambda line: console.print(line, style="dim"))
    try:
        stack.simulate(speed=options.speed)
        stack.operate()
        stack.wait_until_ready()
        load = os.getloadavg()[0]  # before we are part of it: others at work make all figures worse
        console.print(f"load of the machine at the start: {load:.1f} on {os.cpu_count()} cores")
        sizes = options.sizes if "applied" in options.only else []
        fleet_size = options.fleet if "fleet" in options.only else 0
        leaving = options.leaving if "scale-in" in options.only else 0
        rounds = ROLLS if "rollout" in options.only else 0
        results = {"load_at_start": load}
        results |= measure(console, stack, sizes=sizes, fleet_size=fleet_size, leaving=leaving, rounds=rounds)
    finally:
        stack.stop()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(results, indent=2))
    console.print(f"stored in {options.output}")
    return 0


def measure(
    console: Console, stack: Stack, *, sizes: Sequence[int], fleet_size: int, leaving: int, rounds: int
) -> dict[str, Any]:
    fleet(stack, 1, namespace="warm-up")
    results: dict[str, Any] = {"applied": []}
    for size in sizes:
        trials = [fleet(stack, size, namespace=f"bench-{size}") for _ in range(REPEATS.get(size, 2))]
        results["applied"].append([asdict(trial) for trial in trials])
        show_fleet(console, size, trials)
    if leaving:  # before the large fleet, which would be looked after meanwhile
        results["departures"] = departures(stack, MIGRATIONS)
        show_departures(console, results["departures"])
        results["waiting"] = waiting(stack, leaving, seconds=120)
        show_waiting(console, results["waiting"])
    if rounds:
        results["rolls"] = rolls(stack, rounds)
        show_rolls(console, results["rolls"])
        results["modes"] = quiet_modes(stack)
        show_modes(console, results["modes"])
    if fleet_size:
        space = open_space(stack, "bench-fleet")
        settle(space, fleet_size)
        quiet(stack, space, seconds=60)  # the first minute still settles
        results["quiet"] = quiet(stack, space, seconds=120)
        results["idle_events"] = idle_events(stack, space, rounds=2)
        show_rest(console, results)
    return results


if __name__ == "__main__":
    sys.exit(main())
