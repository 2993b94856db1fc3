"""The operator is killed at exact points of scale-ins on the lab, and started again; everything must end as wished.

    python -m lab.crashes [--seconds 600] [--seed N]

A point is the n-th write from some moment on: of the operator to the API server (a proxy holds the request, or its
answer) or to FE (the simulator holds the statement, or its reply). While it is held the operator is killed with all its
children. The operator knows of neither. Points are drawn by the seed.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from lab.interference import Ambush, Interference, interference
from lab.space import Space, open_space
from lab.stack import ROOT, Stack, wait_for

API_WRITES = r"^(POST|PUT|PATCH|DELETE) (?!.*/(leases|events)\b)"
SQL_WRITES = r"(ALTER SYSTEM|CANCEL DECOMMISSION|ADMIN SET|(ADD|DELETE) (COMPUTE|BACKEND))\b"
FARTHEST = {"api": 6, "sql": 2}  # writes from one moment to the next death
DEATHS = (2, 5)  # in one scene
NAME = "one"
FIELDS = {"fe": "starRocksFeSpec", "be": "starRocksBeSpec", "cn": "starRocksCnSpec"}
BEGINNING = {"fe": 5, "be": 5, "cn": 2}


@dataclass(frozen=True)
class Scene:
    """A wish, and perhaps another one that takes it back when the operator has died once."""

    wish: Mapping[str, int]
    then: Mapping[str, int] = field(default_factory=dict)


SCENES = (
    Scene({"be": 4, "cn": 1}),
    Scene({"be": 5, "cn": 2}),
    Scene({"fe": 3}),
    Scene({"fe": 5}),
    Scene({"be": 3}, then={"be": 5}),
    Scene({"fe": 3, "be": 4, "cn": 1}),
    Scene({"fe": 5, "be": 5, "cn": 2}),
    Scene({"fe": 3, "be": 3}, then={"fe": 5, "be": 4}),
    Scene({"fe": 5, "be": 5}),
)


@dataclass
class Point:
    """Where the operator is to die. met: what it was about to do, or had just done."""

    channel: str
    number: int
    afterwards: bool
    met: str = ""

    def __str__(self) -> str:
        return f"{'after' if self.afterwards else 'before'} {self.met or 'nothing'}"


class Crashes:
    """One cluster, whose operator dies; `start` starts an operator that works through `proxy`."""

    def __init__(self, space: Space, proxy: Interference, *, start: Callable[[str], object], seed: int) -> None:
        self.space, self.proxy, self.start = space, proxy, start
        self.random = random.Random(seed)  # noqa: S311
        self.deaths: list[Point] = []
        self.scenes = 0
        self._lives = 0

    def begin(self) -> None:
        """A cluster with tables, and an operator that runs."""
        self.space.apply(document())
        self._live()
        self.space.wait_ready(NAME, patience=120)
        for table, replication, tablets in (("plain", 3, 24), ("single", 1, 12)):
            body = {"cluster": NAME, "name": table, "replication": replication, "tablets": tablets}
            self.space.simulator("POST", "/tables", {**body, "namespace": self.space.namespace})

    def run(self, *, seconds: float = math.inf, deaths: float = math.inf) -> None:
        """Scene after scene, each to its end, until the time is up or the operator has died so often."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and len(self.deaths) < deaths:
            self.play(SCENES[self.scenes % len(SCENES)])
            self.scenes += 1

    def play(self, scene: Scene) -> None:
        wished = dict(scene.wish)
        self.wish(wished)
        for _ in range(self.random.randint(*DEATHS)):
            point = self._point()
            if not self._die_at(point):
                break
            if scene.then and wished != scene.then:
                wished = dict(scene.then)
                self.wish(wished)
        self.space.wait_ready(NAME, patience=180)
        self._check(wished)

    def wish(self, counts: Mapping[str, int]) -> None:
        spec = {FIELDS[component]: {"replicas": count} for component, count in counts.items()}
        self.space.patch("StarRocksCluster", NAME, {"spec": spec})

    def report(self) -> str:
        """What was covered, as a few lines."""
        kinds = Counter(map(str, self.deaths))
        lines = [f"{count:4} × killed {kind}" for kind, count in sorted(kinds.items())]
        return "\n".join([*lines, f"{self.scenes} scenes, {len(self.deaths)} deaths at {len(kinds)} kinds of points"])

    # -- dying -------------------------------------------------------------------------------------------------

    def _point(self) -> Point:
        channel = self.random.choice(tuple(FARTHEST))
        return Point(channel, self.random.randint(1, FARTHEST[channel]), self.random.random() < 0.5)

    def _die_at(self, point: Point) -> bool:
        """Whether it came to the point before all was done; then it was killed there and started again."""
        met = self._die_by_request(point) if point.channel == "api" else self._die_by_statement(point)
        if met:
            point.met = met
            self.deaths.append(point)
            self._live()
        return bool(met)

    def _die_by_request(self, point: Point) -> str:
        def act() -> bool:
            self._kill()
            return False

        ambush = self.proxy.ambush(API_WRITES, number=point.number, afterwards=point.afterwards, act=act)
        self._until(lambda: bool(ambush.request))
        self.proxy.lift()
        if not ambush.request:
            return ""
        return _met(ambush)

    def _die_by_statement(self, point: Point) -> str:
        halt = {"pattern": SQL_WRITES, "number": point.number, "afterwards": point.afterwards}
        self.space.simulator("POST", "/halt", {**halt, "namespace": self.space.namespace})
        try:
            self._until(lambda: bool(self._halted()))
            if statement := self._halted():
                self._kill()
            return re.sub(r'\s*("|\d).*', "", statement)
        finally:
            self.space.simulator("DELETE", "/halt")

    def _halted(self) -> str:
        return str(self.space.simulator("GET", "/halt")["statement"])

    def _until(self, met: Callable[[], bool]) -> None:
        """Until the point is met, or there is nothing more to do."""

        def over() -> bool:
            return met() or self.space.ready(NAME)

        self.space.wait(over, NAME, "to come to a point or to its end", patience=180, pause=0.05)

    def _kill(self) -> None:
        """As when a node goes dark: the operator and everything below it, all at once and without a word."""
        name = self._name()
        family = psutil.Process(self.space.stack.processes[name].pid).children(recursive=True)
        self.space.stack.kill(name)
        for member in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
        wait_for(lambda: not _alive(family), what=f"the children of {name} to end", patience=30, pause=0.01)

    def _live(self) -> None:
        self._lives += 1
        self.start(self._name())

    def _name(self) -> str:
        return f"life-{self._lives}"

    def end(self) -> None:
        self.space.stack.end(self._name())

    # -- checking ----------------------------------------------------------------------------------------------

    def _check(self, wished: Mapping[str, int]) -> None:
        kinds = {"fe": "SHOW FRONTENDS", "be": "SHOW BACKENDS", "cn": "SHOW COMPUTE NODES"}
        for component, count in wished.items():
            rows = self.space.show(NAME, kinds[component])
            pods = {row["IP"].split(".")[0]: row["Alive"] for row in rows}
            wanted = {f"{NAME}-{component}-{ordinal}": "true" for ordinal in range(count)}
            assert pods == wanted, f"{pods} instead of {sorted(wanted)} after:\n{self.report()}"
        marks = [mark for mark in self.space.simulator("GET", "/violations") if self.space.namespace in str(mark)]
        assert not marks, f"{marks} after:\n{self.report()}"


def _met(ambush: Ambush) -> str:
    """The request without the names that are the same for all of them."""
    assert ambush.met.wait(60), "the operator was not killed in time"
    if ambush.failure is not None:
        raise ambush.failure
    method, _, path = ambush.request.partition(" ")
    return f"{method} {path.partition('/namespaces/')[2].partition('/')[2]}"


def _alive(family: Sequence[psutil.Process]) -> bool:
    for process in family:
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                return True
    return False


def document() -> dict[str, object]:
    """A cluster with volumes, of the beginning's size."""

    def component(kind: str, volume: str, path: str) -> dict[str, object]:
        volumes = [{"name": volume, "mountPath": path, "storageSize": "1Gi"}] if volume else []
        return {"image": f"starrocks/{kind}-ubuntu:3.3.9", "replicas": BEGINNING[kind], "storageVolumes": volumes}

    return {
        "apiVersion": "starrocks.com/v1",
        "kind": "StarRocksCluster",
        "metadata": {"name": NAME},
        "spec": {
            FIELDS["fe"]: component("fe", "fe-meta", "/opt/starrocks/fe/meta"),
            FIELDS["be"]: component("be", "be-data", "/opt/starrocks/be/storage"),
            FIELDS["cn"]: component("cn", "", ""),
        },
    }


def starter(space: Space, kubeconfig: Path, scratch: Path) -> Callable[[str], object]:
    """Starts operators of one namespace, each with a Lease of its own: none waits until a dead one's has expired."""

    def start(name: str) -> object:
        arguments = ["--namespaces", space.namespace, "--lease-name", name, "--scratch", str(scratch)]
        arguments += ["--rival-seconds", "1", "--settled-interval", "10"]
        return space.stack.operate(name=name, arguments=arguments, kubeconfig=kubeconfig)

    return start


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.crashes", description="Kill the operator at exact points.")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--directory", type=Path, default=ROOT / ".lab" / "crashes")
    options = parser.parse_args()
    began = time.monotonic()
    print(f"crashes on the lab, seed {options.seed}", flush=True)
    stack = Stack.start(options.directory, name="crashes")
    try:
        stack.simulate(speed=20.0)
        space = open_space(stack, "crashes")
        with interference(stack.operator_kubeconfig) as proxy, tempfile.TemporaryDirectory() as scratch:
            kubeconfig = proxy.write_kubeconfig(Path(scratch) / "kubeconfig")
            crashes = Crashes(space, proxy, start=starter(space, kubeconfig, Path(scratch)), seed=options.seed)
            crashes.begin()
            try:
                crashes.run(seconds=options.seconds)
            finally:
                print(crashes.report(), flush=True)
                crashes.end()
        broken = stack.witness.testify()
        print("\n".join(broken) or "the witness has nothing to say against the operator")
    finally:
        stack.stop()
    print(f"crashes: {time.monotonic() - began:.0f} s", flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
