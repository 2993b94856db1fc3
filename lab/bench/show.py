"""The figures of the benchmark as tables, beside their budgets."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from lab.bench.trials import Figures

GO_TO_RUNNING = {1: 0.7, 20: 20.0, 50: 50.0}
GO_TO_OBJECTS = {1: 0.6, 20: 11.5, 50: 21.0}
BUDGET = {1: 4.0, 20: 1.0, 50: 1.0}  # times the Go operator's time to running
ANSIBLE_OPERATOR_CPU = 6.3
NODE_STEP, STATEMENTS, WAITING_CPU = 3.0, 12.0, 0.05
POD_STEP = 3.0


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


def show_rolls(console: Console, rolls: Sequence[dict[str, Any]]) -> None:
    title = f"all pods are replaced, {len(rolls)} times; seconds that a pod could have been replaced earlier"
    table = Table("figure", "median (min – max)", "budget", "verdict", title=title)
    for component in ("be", "cn", "fe"):
        extra = [seconds for one in rolls for name, seconds in one["extra"] if name == component]
        kept = verdict(statistics.median(extra) < POD_STEP)
        table.add_row(f"{component}, per pod", spread(extra), f"< {POD_STEP:.0f}", kept)
    table.add_row("FE statements a minute", spread([one["statements_per_minute"] for one in rolls]), "", "")
    table.add_row("CPU seconds per pod", spread([one["cpu_per_pod"] for one in rolls]), "", "")
    table.add_row("wish → Ready", spread([one["total"] for one in rolls]), "", "")
    console.print(table)


def show_modes(console: Console, modes: dict[str, dict[str, float]]) -> None:
    table = Table("mode", "Ansible runs", "API writes", "FE statements a minute", "CPU, share of a core", "verdict")
    for name, figures in modes.items():
        rate, share = f"{figures['statements_per_minute']:.1f}", f"{figures['cpu_share']:.1%}"
        kept = verdict(not figures["runs"] and not figures["writes"])
        table.add_row(name, str(figures["runs"]), str(figures["writes"]), rate, share, kept)
    console.print(table)
