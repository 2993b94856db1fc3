"""Scaling in: how long the operator lets a node wait that could go on, and what it costs while it waits itself.

What a step waits for is known to the moment: the wish, FE's count of tablets, the end of a pod, the step before. From
there to the statement, or to the write, is the time that the operator adds to what FE and Kubernetes need anyway.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lab.bench.meter import Meter
from lab.bench.trials import PATIENCE, clear
from lab.space import Document, Space, open_space, sample
from lab.stack import Stack, wait_for
from lab.witness import Mark, writes

SPEED = 10.0  # at which the simulator moves 20 tablets a second
MOVES = 20
BACKENDS, STAY = 5, 3
LOOKING = 0.1  # seconds between two looks at FE's count of tablets
STATEMENTS = {
    "ADMIN SET FRONTEND CONFIG": "setting",
    "ALTER SYSTEM DECOMMISSION BACKEND": "order",
    "ALTER SYSTEM DROP BACKEND": "drop",
}


@dataclass(frozen=True, kw_only=True)
class StepTime:
    """One step: when it was done, and for how many seconds it could have been."""

    kind: str
    node: str
    at: float
    extra: float


@dataclass(frozen=True, kw_only=True)
class Departure:
    """One scale-in by two backends.

    migration: seconds from the first order to the last tablet; 0 if there was none.
    cpu: seconds of the operator, per step; it hardly depends on who else is at work on the machine.
    """

    nodes: int
    migration: float
    total: float
    cpu: float
    steps: tuple[StepTime, ...]


def departures(stack: Stack, migrations: Sequence[float], *, namespace: str = "bench-leaving") -> list[dict[str, Any]]:
    """A cluster of five backends goes to three, and back, with migrations of about so many seconds."""
    space = open_space(stack, namespace)
    space.simulator("POST", "/clock/speed", {"speed": SPEED})
    space.apply(cluster("leaving", backends=BACKENDS))
    space.wait_ready("leaving", patience=PATIENCE)
    found = [departure(space, "leaving", seconds=seconds, number=number) for number, seconds in enumerate(migrations)]
    clear(space)
    return [asdict(one) for one in found]


def departure(space: Space, name: str, *, seconds: float, number: int) -> Departure:
    copies = int(MOVES * seconds / (BACKENDS - STAY))
    table = {"cluster": name, "namespace": space.namespace, "name": f"t{number}", "replication": STAY}
    if copies:
        tablets = copies * BACKENDS // STAY
        space.simulator("POST", "/tables", table | {"tablets": tablets, "tablet_gb": 0.01})
    leaving = [f"{name}-be-{ordinal}" for ordinal in range(STAY, BACKENDS)]
    mark = space.stack.witness.mark()
    with Counted(space, name, leaving) as counted, Meter(space.stack) as meter:
        wish = time.time()
        space.scale(name, "starRocksBeSpec", STAY)
        space.wait(lambda: told(space, mark, leaving), name, "to have told its backends", patience=PATIENCE)
        space.wait_ready(name, patience=PATIENCE)
        total = time.time() - wish
    steps = tuple(timed(space, mark, wish=wish, emptied=counted.emptied))
    assert meter.usage is not None
    if copies:
        space.simulator("DELETE", "/tables", {key: table[key] for key in ("cluster", "namespace", "name")})
        space.simulator("POST", "/recycle-bin/empty", {"cluster": name, "namespace": space.namespace})
    space.scale(name, "starRocksBeSpec", BACKENDS)
    wait_for(lambda: len(space.status(name).get("members", ())) == BACKENDS + 3, what="backends", patience=PATIENCE)
    space.wait_ready(name, patience=PATIENCE)
    ordered = min(step.at for step in steps if step.kind == "order")
    last = max(counted.emptied.values(), default=ordered)
    return Departure(
        nodes=len(leaving),
        migration=last - ordered if copies else 0.0,
        total=total,
        cpu=meter.usage.cpu / len(steps),
        steps=steps,
    )


class Counted:
    """A context that looks at FE's count of tablets all the time, as anybody could. emptied: when each had none."""

    def __init__(self, space: Space, name: str, leaving: Sequence[str]) -> None:
        self._space, self._leaving = space, tuple(leaving)
        self._leader = next(m["name"] for m in space.status(name)["members"] if m.get("role") == "LEADER")
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.emptied: dict[str, float] = {}

    def __enter__(self) -> Counted:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(LOOKING) and len(self.emptied) < len(self._leaving):
            answer = self._space.simulator(
                "POST", "/sql", {"pod": self._leader, "namespace": self._space.namespace, "sql": "SHOW BACKENDS"}
            )
            for row in answer["rows"]:
                pod = str(row["IP"]).split(".")[0]
                if pod in self._leaving and row["SystemDecommissioned"] == "true" and row["TabletNum"] in (0, "0"):
                    self.emptied.setdefault(pod, time.time())


def told(space: Space, mark: Mark, leaving: Sequence[str]) -> bool:
    said = {step for kind, step, _ in statements(space, mark) if kind == "order"}
    return said >= set(leaving)


def statements(space: Space, mark: Mark) -> Iterator[tuple[str, str, float]]:
    """What the operator told FE: kind of step, node, time."""
    for line in space.stack.witness.statements(since=mark):
        if line["namespace"] == space.namespace and line["source"] == "client" and not line.get("again"):
            for words, kind in STATEMENTS.items():
                if line["statement"].upper().startswith(words):
                    host = line["statement"].split('"')[1]
                    yield kind, host.split(".")[0] if kind != "setting" else "", float(line["time"])


def timed(space: Space, mark: Mark, *, wish: float, emptied: dict[str, float]) -> Iterator[StepTime]:
    """Each step, with the time since which nothing but the operator stood in its way."""
    done = list(statements(space, mark))
    ended: dict[str, float] = {}
    replicas = BACKENDS
    for write in writes(space.stack.plane.audit_log, offset=mark.audit):
        if write.namespace != space.namespace or write.code >= 300:
            continue
        if write.resource == "pods" and write.verb == "delete":
            ended[write.name] = write.moment  # the last one is that with which it is gone
        asked = ((write.asked or {}).get("spec") or {}).get("replicas") if isinstance(write.asked, dict) else None
        if write.by_operator and write.resource == "statefulsets" and asked is not None and asked < replicas:
            replicas = asked
            done.append(("shrink", f"{write.name}-{asked}", write.moment))
    before = wish
    for kind, node, at in sorted(done, key=lambda step: step[2]):
        possible = {"shrink": emptied.get(node, wish), "drop": ended.get(node, wish)}.get(kind, wish)
        yield StepTime(kind=kind, node=node, at=at, extra=max(at - max(possible, before), 0.0))
        before = max(before, at)


def waiting(stack: Stack, clusters: int, *, seconds: float, namespace: str = "bench-waiting") -> dict[str, Any]:
    """So many clusters whose backends leave at the same time, and take longer than anybody looks."""
    space = open_space(stack, namespace)
    names = [f"w{number}" for number in range(clusters)]
    for name in names:
        space.apply(cluster(name, backends=BACKENDS))
    for name in names:
        space.wait_ready(name, patience=PATIENCE)
    space.simulator("POST", "/clock/speed", {"speed": 1})
    for name in names:
        table = {"cluster": name, "namespace": namespace, "name": "t", "replication": STAY}
        space.simulator("POST", "/tables", table | {"tablets": 2000, "tablet_gb": 0.01})
        space.scale(name, "starRocksBeSpec", STAY)
    wait_for(lambda: all(drains(space, name) for name in names), what="all to drain", patience=PATIENCE, pause=1.0)
    time.sleep(60)  # the first estimates need a few looks
    with Meter(stack) as meter:
        time.sleep(seconds)
    assert meter.usage is not None
    still = all(drains(space, name) for name in names)
    clear(space)
    return {
        "clusters": clusters,
        "still_draining": still,
        "cpu_share": meter.usage.cpu / meter.usage.seconds,
        "statements_per_minute_and_cluster": meter.usage.statements / clusters / meter.usage.seconds * 60,
        "ansible_runs": meter.usage.runs,
        "api_writes_per_minute_and_cluster": meter.usage.writes / clusters / meter.usage.seconds * 60,
        "memory_mib": meter.usage.memory,
    }


def drains(space: Space, name: str) -> bool:
    states = [member.get("state") for member in space.status(name).get("members", ())]
    return states.count("draining") == BACKENDS - STAY


def cluster(name: str, *, backends: int) -> Document:
    """Three frontends and so many backends, all on volumes."""
    document = sample("demo")
    spec = document["spec"]
    spec.pop("starRocksCnSpec")
    spec["starRocksBeSpec"]["replicas"] = backends
    return {**document, "metadata": {"name": name}}
