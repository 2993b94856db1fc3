"""`python -m lab.bench`: run all trials, print the figures beside their budgets, store them as JSON.

The budgets are ratios to figures that were measured once, on the same versions and on two cores: the official Go
operator (0.6 / 11.5 / 21 s to the objects of 1 / 20 / 50 clusters, 0.7 / 20 / 50 s to running, without any SQL), and
ansible-operator doing the same with four k8s tasks (6.3 CPU seconds a cluster).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from lab.bench.scale_in import departures, waiting
from lab.bench.trials import Figures, fleet, idle_events, quiet, settle
from lab.space import open_space
from lab.stack import ROOT, Stack

GO_TO_RUNNING = {1: 0.7, 20: 20.0, 50: 50.0}
GO_TO_OBJECTS = {1: 0.6, 20: 11.5, 50: 21.0}
BUDGET = {1: 4.0, 20: 1.0, 50: 1.0}  # times the Go operator's time to running
ANSIBLE_OPERATOR_CPU = 6.3
REPEATS = {1: 5, 20: 3, 50: 2}
PARTS = ("applied", "fleet", "scale-in")
MIGRATIONS = (0.0, 0.0, 0.0, 20.0, 90.0)  # seconds
NODE_STEP, STATEMENTS, WAITING_CPU = 3.0, 12.0, 0.05


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
        results = {"load_at_start": load}
        results |= measure(console, stack, sizes=sizes, fleet_size=fleet_size, leaving=leaving)
    finally:
        stack.stop()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(results, indent=2))
    console.print(f"stored in {options.output}")
    return 0


def measure(console: Console, stack: Stack, *, sizes: Sequence[int], fleet_size: int, leaving: int) -> dict[str, Any]:
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
    if fleet_size:
        space = open_space(stack, "bench-fleet")
        settle(space, fleet_size)
        quiet(stack, space, seconds=60)  # the first minute still settles
        results["quiet"] = quiet(stack, space, seconds=120)
        results["idle_events"] = idle_events(stack, space, rounds=2)
        show_rest(console, results)
    return results


def spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.1f} ({min(values):.1f} – {max(values):.1f})"


def show_fleet(console: Console, size: int, trials: Sequence[Figures]) -> None:
    table = Table("figure", "median (min – max)", "reference", "ratio", "budget", title=f"{size} clusters at once")
    objects = [trial.to_objects for trial in trials]
    running = [trial.to_running for trial in trials]
    ratio = statistics.median(running) / GO_TO_RUNNING[size] if size in GO_TO_RUNNING else float("nan")
    cpu = [trial.usage["cpu"] / size for trial in trials]
    table.add_row("apply → objects, s", spread(objects), f"Go {GO_TO_OBJECTS.get(size, '–')}", "", "")
    budget = f"≤ {BUDGET.get(size, '–')} ×"
    table.add_row("apply → running, s", spread(running), f"Go {GO_TO_RUNNING.get(size, '–')}", f"{ratio:.2f} ×", budget)
    saved = ANSIBLE_OPERATOR_CPU / statistics.median(cpu)
    reference = f"ansible-operator {ANSIBLE_OPERATOR_CPU}"
    table.add_row("CPU s per cluster", spread(cpu), reference, f"{saved:.1f} × less", "≥ 20 × less (20 at once)")
    for key, words in (("runs", "Ansible runs"), ("skips", "skipped looks")):
        table.add_row(words, spread([trial.usage[key] for trial in trials]), "", "", "")
    for key, words in (("writes", "API writes per cluster"), ("statements", "FE statements per cluster")):
        table.add_row(words, spread([trial.usage[key] / size for trial in trials]), "", "", "")
    table.add_row("peak memory, MiB", spread([trial.usage["memory"] for trial in trials]), "", "", "")
    console.print(table)


def show_rest(console: Console, results: dict[str, Any]) -> None:
    left_alone, idle = results["quiet"], results["idle_events"]
    table = Table("figure", "value", "budget", title=f"a quiet fleet of {left_alone['clusters']} clusters")
    statements = left_alone["statements_per_minute_and_cluster"]
    table.add_row("CPU, share of a core", f"{left_alone['cpu_share']:.1%}", "≤ 5 %")
    table.add_row("FE statements a minute and cluster", f"{statements:.1f}", "≤ 6")
    table.add_row("API writes, Lease apart", str(left_alone["api_writes"]), "0")
    table.add_row("Ansible runs", str(left_alone["ansible_runs"]), "0")
    table.add_row("memory of all processes, MiB", f"{left_alone['memory_mib']:.0f}", "< 300")
    table.add_row("CPU of an event that changes nothing, ms", f"{idle['cpu_ms_per_event']:.2f}", "< 5")
    table.add_row("Ansible runs in these events", str(idle["ansible_runs"]), "0")
    console.print(table)


def show_departures(console: Console, departures: Sequence[dict[str, Any]]) -> None:
    title = f"backends leave, 5 → 3, {len(departures)} times; seconds that a step could have been earlier"
    table = Table("figure", "median (min – max)", "budget", "verdict", title=title)
    steps = [step for one in departures for step in one["steps"]]
    for kind, words in (
        ("setting", "FE's setting is held, restored"),
        ("order", "told to leave"),
        ("shrink", "empty → its pod goes"),
        ("drop", "its pod is gone → forgotten"),
    ):
        extra = [step["extra"] for step in steps if step["kind"] == kind]
        table.add_row(words, spread(extra), f"< {NODE_STEP:.0f} each", verdict(statistics.median(extra) < NODE_STEP))
    nodes = [sum(step["extra"] for step in one["steps"]) / one["nodes"] for one in departures]
    table.add_row("all steps, per node", spread(nodes), "", "")
    table.add_row("CPU seconds per step", spread([one["cpu"] for one in departures]), "", "")
    for one in departures:
        table.add_row(f"wish → Ready, migration {one['migration']:.1f} s", f"{one['total']:.1f}", "", "")
    console.print(table)


def show_waiting(console: Console, figures: dict[str, Any]) -> None:
    table = Table("figure", "value", "budget", "verdict", title=f"{figures['clusters']} scale-ins at once, waiting")
    rate, share, runs = (figures[key] for key in ("statements_per_minute_and_cluster", "cpu_share", "ansible_runs"))
    table.add_row(
        "FE statements a minute and cluster", f"{rate:.1f}", f"< {STATEMENTS:.0f}", verdict(rate < STATEMENTS)
    )
    table.add_row("CPU, share of a core", f"{share:.1%}", f"≤ {WAITING_CPU:.0%}", verdict(share <= WAITING_CPU))
    table.add_row("Ansible runs", str(runs), "0", verdict(runs == 0 and figures["still_draining"]))
    writes = figures["api_writes_per_minute_and_cluster"]
    table.add_row("API writes a minute and cluster (status)", f"{writes:.1f}", "", "")
    table.add_row("memory of all processes, MiB", f"{figures['memory_mib']:.0f}", "", "")
    console.print(table)


def verdict(kept: bool) -> str:
    return "[green]kept[/]" if kept else "[red]missed[/]"


if __name__ == "__main__":
    sys.exit(main())
