"""A stage for tests: pods of whole clusters in a world of its own, without Kubernetes and without real time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from lab.simulator.model import Component, Entrypoint, Outcome, PodFacts, Rows, Session, World
from lab.simulator.model.container import Container
from lab.simulator.model.database import Database
from lab.simulator.model.faults import lay
from lab.simulator.model.outcome import Cell
from lab.simulator.model.surroundings import FixedSurroundings
from lab.simulator.model.world import Options

FE, BE, CN = Component.FE, Component.BE, Component.CN
OBSERVER = "fe-observer"
_NAMESPACE = "default"


class Stage:
    """Plays the part of Kubernetes for one world: makes pods, keeps claims, and lets time pass."""

    def __init__(self, options: Options | None = None, seed: int = 0, **pod: Any) -> None:
        self.surroundings = FixedSurroundings()
        self.world = World(options, self.surroundings, seed)
        self._pod = pod  # what all pods have in common
        self._births = 0

    # -- pods --------------------------------------------------------------------------------------------------

    def pod(self, name: str, **changes: Any) -> Container:
        """Start `C-fe-0` and the like. Its claim is found again by the pod's name."""
        stem, _, ordinal = name.rpartition("-")
        observer = stem.endswith(f"-{OBSERVER}")
        cluster, _, word = stem.removesuffix("-observer").rpartition("-")
        self._births += 1
        facts = PodFacts(
            namespace=_NAMESPACE,
            name=name,
            uid=f"{name}-{self._births}",
            address=f"127.9.{self._births // 250}.{self._births % 250 + 1}",
            component=Component(word),
            cluster_name=cluster,
            host=self.host(name),
            volume=f"claim:{name}",
            observer=observer,
        )
        assert ordinal.isdigit(), f"{name} is no pod of a StatefulSet"
        return self.world.pod_started(replace(facts, **{**self._pod, **changes}))

    def cluster(self, name: str, *, fe: int = 0, be: int = 0, cn: int = 0, **changes: Any) -> None:
        for component, count in ((FE, fe), (BE, be), (CN, cn)):
            for ordinal in range(count):
                self.pod(f"{name}-{component}-{ordinal}", **changes)

    def running(self, name: str, *, fe: int = 3, be: int = 0, cn: int = 0, **changes: Any) -> Database:
        """A cluster that is founded, joined and alive."""
        self.cluster(name, fe=fe, be=be, cn=cn, **changes)
        self.until(lambda: self._settled(name, fe, be + cn), f"{name} to be running")
        self.after(2 * self.world.timing.replication_lag)  # followers have seen it, too
        return self.database(name)

    def _settled(self, name: str, frontends: int, nodes: int) -> bool:
        founded = [d for d in self.world.databases.values() if d.cluster[1] == name and d.leader is not None]
        if not founded:
            return False
        state = founded[0].state
        serving = all(row.alive for row in state.frontends) and all(row.alive for row in state.nodes)
        return serving and len(state.frontends) == frontends and len(state.nodes) == nodes

    def delete_pod(self, name: str, *, graceful: bool = True) -> None:
        self.world.pod_stopped(f"{_NAMESPACE}/{name}", graceful=graceful)

    def delete_claim(self, name: str) -> None:
        self.world.volume_deleted(f"claim:{name}")

    def container(self, name: str) -> Container:
        return self.world.pods[f"{_NAMESPACE}/{name}"]

    @staticmethod
    def host(name: str) -> str:
        return f"{name}.{name.rpartition('-')[0]}-search.{_NAMESPACE}.svc.cluster.local"

    def fault(self, name: str, fault: str, **parameters: Any) -> None:
        lay(self.world, f"{_NAMESPACE}/{name}", fault, parameters)

    # -- time --------------------------------------------------------------------------------------------------

    def after(self, seconds: float) -> None:
        self.world.tick(self.world.now + seconds)

    def until(self, condition: Callable[[], bool], what: str, *, within: float = 600.0) -> float:
        """Let time pass event by event until the condition holds; returns how long it took."""
        began = self.world.now
        while not condition():
            due = self.world.schedule.next_deadline()
            if due is None or due > began + within:
                raise AssertionError(f"waited {within:g} virtual seconds for {what}")
            self.world.tick(due)
        return self.world.now - began

    # -- asking ------------------------------------------------------------------------------------------------

    def sql(self, pod: str, sql: str, session: Session | None = None) -> Outcome:
        return self.world.execute(f"{_NAMESPACE}/{pod}", sql, session)

    def rows(self, pod: str, sql: str) -> list[dict[str, Cell]]:
        outcome = self.sql(pod, sql)
        assert isinstance(outcome, Rows), f"{sql} at {pod}: {outcome}"
        return outcome.as_dicts()

    def row(self, pod: str, sql: str, member: str) -> Mapping[str, Cell]:
        """The row of one node, by the name of its pod."""
        return next(row for row in self.rows(pod, sql) if row["IP"] == self.host(member))

    def database(self, name: str) -> Database:
        """The database of a cluster; the last one, should there be several."""
        return [d for d in self.world.databases.values() if d.cluster == (_NAMESPACE, name)][-1]

    def leader(self, name: str) -> str:
        leader = self.database(name).leader
        assert leader is not None, f"{name} has no leader"
        return leader.facts.name

    def followers(self, name: str) -> list[str]:
        leader = self.leader(name)
        names = (p.facts.name for p in self.database(name).attached.values() if p.facts.group == f"{name}-{FE}")
        return sorted(pod for pod in names if pod != leader)

    def marks(self) -> list[str]:
        return [mark.kind for mark in self.world.violations]

    def safe(self, name: str, *, marker: str = "") -> dict[str, Any]:
        """What pods of profile `safe` have: our start script, and a marker to read."""
        self.surroundings.markers[_NAMESPACE, name] = {"cluster-id": marker}
        return {"entrypoint": Entrypoint.SAFE}
