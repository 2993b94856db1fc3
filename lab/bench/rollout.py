"""Rolling changes: how long the operator lets the next pod wait that could be replaced, and what a roll costs FE.

The pod before is back when FE counts its new process as alive; no gate has more to wait for in a cluster without
trouble. From there to the moment when the next pod is told to go is the time that the operator adds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from lab.bench.meter import Meter
from lab.bench.trials import PATIENCE, clear
from lab.roll_order import Replacement
from lab.space import Document, Space, open_space, sample
from lab.stack import Stack

QUIET_SECONDS = 60.0
COMPONENTS = {"starRocksFeSpec": "frontend", "starRocksBeSpec": "backend", "starRocksCnSpec": "compute node"}


@dataclass(frozen=True, kw_only=True)
class Roll:
    """One roll of a whole cluster. extra: seconds that each pod could have been replaced earlier, by component."""

    total: float
    extra: tuple[tuple[str, float], ...]
    statements_per_minute: float
    cpu_per_pod: float


def rolls(stack: Stack, rounds: int, *, namespace: str = "bench-rolling") -> list[dict[str, Any]]:
    """A cluster of three frontends, three backends and compute nodes, all of whose pods are replaced so many times."""
    space = open_space(stack, namespace)
    space.apply(cluster("rolling"))
    space.wait_ready("rolling", patience=PATIENCE)
    found = [roll(space, "rolling", number) for number in range(rounds)]
    clear(space)
    return [asdict(one) for one in found]


def roll(space: Space, name: str, number: int) -> Roll:
    mark = space.stack.witness.mark()
    with Meter(space.stack) as meter:
        wish = time.time()
        change = {component: {"podLabels": {"round": str(number)}} for component in COMPONENTS}
        space.patch("StarRocksCluster", name, {"spec": change})
        space.wait_ready(name, patience=PATIENCE)
        total = time.time() - wish
    assert meter.usage is not None
    # From the beginning of the log: the pods that were replaced were made before this roll.
    found = space.stack.witness.replacements(namespace=space.namespace)
    order = [each for each in found if each.changed and each.stopped >= wish]
    truths = space.stack.witness.truths(since=mark, namespace=space.namespace)
    return Roll(
        total=total,
        extra=tuple(waited(order, truths)),
        statements_per_minute=meter.usage.statements / meter.usage.seconds * 60,
        cpu_per_pod=meter.usage.cpu / max(len(order), 1),
    )


def waited(order: Sequence[Replacement], truths: Sequence[dict[str, Any]]) -> Iterator[tuple[str, float]]:
    """Component and seconds, for every pod but the first."""
    for before, pod in pairwise(order):
        back = next((truth["time"] for truth in truths if is_back(before, truth)), before.back)
        yield pod.component, max(pod.stopped - back, 0.0)


def is_back(pod: Replacement, truth: dict[str, Any]) -> bool:
    """Whether FE counts the process as alive that was started after the pod was made."""
    members = (*truth["frontends"], *truth["nodes"])
    own = (member for member in members if member["host"].split(".")[0] == pod.pod)
    return any(member["alive"] and member["started"] >= pod.back - 1 for member in own)


def quiet_modes(stack: Stack, *, namespace: str = "bench-modes") -> dict[str, dict[str, float]]:
    """What a paused and a hibernated cluster cost, with a change that waits."""
    space = open_space(stack, namespace)
    found = {}
    for name, annotation in (("paused", "starrocks.com/paused"), ("asleep", "starrocks.com/hibernate")):
        space.apply(cluster(name))
        space.wait_ready(name, patience=PATIENCE)
        change = {"starRocksBeSpec": {"podLabels": {"round": "1"}}}
        space.patch("StarRocksCluster", name, {"metadata": {"annotations": {annotation: "true"}}, "spec": change})
        space.wait(lambda: space.reasons(name) & {"Paused", "Hibernated"}, name, "to be quiet", patience=PATIENCE)  # noqa: B023
        time.sleep(QUIET_SECONDS / 2)  # what the change itself costs is over then
        with Meter(stack) as meter:
            time.sleep(QUIET_SECONDS)
        assert meter.usage is not None
        found[name] = {
            "runs": meter.usage.runs,
            "writes": meter.usage.writes,
            "statements_per_minute": meter.usage.statements / meter.usage.seconds * 60,
            "cpu_share": meter.usage.cpu / meter.usage.seconds,
        }
        clear(space)
    return found


def cluster(name: str) -> Document:
    """Three frontends, three backends and a compute node."""
    return {**sample("demo"), "metadata": {"name": name}}
