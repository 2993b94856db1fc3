"""The trials: so many clusters applied at once, a fleet that is left alone, events that change nothing."""

from __future__ import annotations

import copy
import time
from dataclasses import asdict, dataclass
from typing import Any

from lab.bench.meter import Meter
from lab.space import Space, open_space, sample
from lab.stack import Stack, wait_for

PATIENCE = 600.0


@dataclass(frozen=True, kw_only=True)
class Figures:
    """One trial's figures, in seconds, CPU seconds, MiB and counts."""

    clusters: int
    to_objects: float
    to_running: float
    usage: dict[str, Any]


def fleet(stack: Stack, clusters: int, *, namespace: str) -> Figures:
    """Apply so many full clusters (3 FE, 3 BE, 1 CN, HPA) at once and wait until all run; then delete them."""
    space = open_space(stack, namespace)
    document = sample("demo")
    began = time.monotonic()
    with Meter(stack) as meter:
        for number in range(clusters):
            space.apply(named(document, f"c{number}"))
        to_objects = to_running = 0.0
        while not to_running:
            stack.check()
            states = space.all("StarRocksCluster")
            if not to_objects and made(space) == clusters:
                to_objects = time.monotonic() - began
            if all(state.get("status", {}).get("phase") == "running" for state in states):
                to_running = time.monotonic() - began
            if time.monotonic() - began > PATIENCE:
                raise TimeoutError(f"{clusters} clusters did not run within {PATIENCE:.0f} s")
            time.sleep(0.05)
    clear(space)
    assert meter.usage is not None
    return Figures(
        clusters=clusters, to_objects=to_objects or to_running, to_running=to_running, usage=asdict(meter.usage)
    )


def quiet(stack: Stack, space: Space, *, seconds: float) -> dict[str, Any]:
    """What a fleet costs that nobody touches: it must write nothing and run nothing."""
    with Meter(stack) as meter:
        time.sleep(seconds)
    assert meter.usage is not None
    clusters = len(space.all("StarRocksCluster"))
    usage = meter.usage
    return {
        "clusters": clusters,
        "cpu_share": usage.cpu / usage.seconds,
        "statements_per_minute_and_cluster": usage.statements / clusters / usage.seconds * 60,
        "api_writes": usage.writes,
        "ansible_runs": usage.runs,
        "memory_mib": usage.memory,
    }


def idle_events(stack: Stack, space: Space, *, rounds: int) -> dict[str, Any]:
    """What an event costs that changes nothing: the frontends' pods get an annotation, again and again."""
    pods = [pod["metadata"]["name"] for pod in space.all("Pod")]
    with Meter(stack) as before:
        time.sleep(10)
    with Meter(stack) as meter:
        for number in range(rounds):
            for pod in pods:
                space.patch("Pod", pod, {"metadata": {"annotations": {"bench": str(number)}}})
        time.sleep(2)
    assert before.usage is not None
    assert meter.usage is not None
    idle = before.usage.cpu / before.usage.seconds
    events = rounds * len(pods)
    return {
        "events": events,
        "cpu_ms_per_event": (meter.usage.cpu - idle * meter.usage.seconds) / events * 1000,
        "ansible_runs": meter.usage.runs,
        "api_writes": meter.usage.writes,
    }


def settle(space: Space, clusters: int) -> None:
    """Apply so many one-frontend clusters and wait until all run."""
    document = sample("minimal")
    for number in range(clusters):
        space.apply(named(document, f"c{number}"))
    wait_for(
        lambda: all(one.get("status", {}).get("phase") == "running" for one in space.all("StarRocksCluster")),
        what=f"{clusters} clusters to run",
        patience=PATIENCE,
        pause=1.0,
    )


def clear(space: Space) -> None:
    for one in space.all("StarRocksCluster"):
        space.delete("StarRocksCluster", one["metadata"]["name"], wait=False)
    wait_for(lambda: not space.all("Pod"), what="all pods to be gone", patience=PATIENCE, pause=0.5)


def made(space: Space) -> int:
    """How many clusters have all their objects: the autoscaler and the compute nodes come last."""
    autoscalers = {
        item["metadata"]["name"].removesuffix("-cn-autoscaler") for item in space.all("HorizontalPodAutoscaler")
    }
    stateful_sets = {item["metadata"]["name"] for item in space.all("StatefulSet")}
    return sum({f"{name}-{part}" for part in ("fe", "be", "cn")} <= stateful_sets for name in autoscalers)


def named(document: dict[str, Any], name: str) -> dict[str, Any]:
    copied = copy.deepcopy(document)
    copied["metadata"] = {**copied["metadata"], "name": name}
    return copied
