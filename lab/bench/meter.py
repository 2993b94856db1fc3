"""What one operator used between two moments: CPU, memory, runs, writes, statements."""

from __future__ import annotations

import threading
import time
import urllib.request
from dataclasses import dataclass
from typing import Self

import psutil
from prometheus_client.parser import text_string_to_metric_families

from lab.stack import Stack
from lab.witness import Mark

SAMPLING = 0.5  # seconds between two looks at the memory
P = "starrocks_operator"


@dataclass(frozen=True, kw_only=True)
class Usage:
    """seconds: wall clock. cpu: seconds of the operator and its children. memory: peak MiB (PSS) of all of them."""

    seconds: float
    cpu: float
    memory: float
    runs: int
    skips: int
    writes: int
    statements: int


class Meter:
    """A context; after it, `usage` says what was used inside."""

    def __init__(self, stack: Stack, *, operator: str = "operator") -> None:
        self._stack = stack
        self._process = psutil.Process(stack.processes[operator].pid)
        self._port = stack.metrics_ports[operator]
        self._peak = 0.0
        self._ended = threading.Event()
        self.usage: Usage | None = None

    def __enter__(self) -> Self:
        self._mark: Mark = self._stack.witness.mark()
        self._metrics = self._read_metrics()
        self._cpu = cpu(self._process)
        self._began = time.monotonic()
        self._sampler = threading.Thread(target=self._sample, daemon=True)
        self._sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._sampler.join()
        metrics = self._read_metrics()
        self.usage = Usage(
            seconds=time.monotonic() - self._began,
            cpu=cpu(self._process) - self._cpu,
            memory=self._peak,
            runs=round(metrics["runs"] - self._metrics["runs"]),
            skips=round(metrics["skips"] - self._metrics["skips"]),
            writes=len(self._stack.witness.writes(since=self._mark)),
            statements=round(metrics["statements"] - self._metrics["statements"]),
        )

    def _sample(self) -> None:
        while not self._ended.wait(SAMPLING):
            self._peak = max(self._peak, memory(self._process))

    def _read_metrics(self) -> dict[str, float]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/metrics", timeout=10) as answer:
            text = answer.read().decode()
        wanted = {
            f"{P}_ansible_runs_total": "runs",
            f"{P}_skips_total": "skips",
            f"{P}_frontend_statements_total": "statements",
        }
        totals = dict.fromkeys(wanted.values(), 0.0)
        for family in text_string_to_metric_families(text):
            for metric in family.samples:
                if metric.name in wanted:
                    totals[wanted[metric.name]] += metric.value
        return totals


def family(process: psutil.Process) -> list[psutil.Process]:
    return [process, *process.children(recursive=True)]


def cpu(process: psutil.Process) -> float:
    """CPU seconds of a process, its living descendants, and all of their children that have ended."""
    total = 0.0
    for member in family(process):
        try:
            times = member.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def memory(process: psutil.Process) -> float:
    """MiB of a process and its descendants, what they share counted once (PSS)."""
    total = 0
    for member in family(process):
        try:
            total += member.memory_full_info().pss
        except psutil.NoSuchProcess:
            continue
    return total / 2**20
