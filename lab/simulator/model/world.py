"""The world: pods, volumes and databases on one virtual clock. What tests and the server may call is here."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from lab.simulator.model import entrypoints
from lab.simulator.model.accounts import check_password
from lab.simulator.model.container import Container
from lab.simulator.model.database import Database
from lab.simulator.model.facts import ClusterKey, Component, PodFacts
from lab.simulator.model.marks import Mark
from lab.simulator.model.outcome import ConnectionLost, Hang, Outcome, Refused, SqlError
from lab.simulator.model.process import Faults, FrontendProcess, Process
from lab.simulator.model.schedule import Schedule
from lab.simulator.model.session import Session
from lab.simulator.model.statements import execute
from lab.simulator.model.surroundings import FixedSurroundings, Surroundings
from lab.simulator.model.timing import Timing
from lab.simulator.model.version import Features, features
from lab.simulator.model.volume import Volume

_EPOCH = 1_700_000_000.0


@dataclass
class Options:
    """What a test may set for the whole world."""

    timing: Timing = field(default_factory=Timing)
    wall: Callable[[float], float] = lambda now: _EPOCH + now  # virtual time -> seconds since 1970, for display
    features: Callable[[str], Features] = features
    tablets_per_clone_round: int = 4


class World:
    def __init__(self, options: Options | None = None, surroundings: Surroundings | None = None, seed: int = 0) -> None:
        self.options = options or Options()
        self.timing = self.options.timing
        self.surroundings = surroundings or FixedSurroundings()
        self.schedule = Schedule()
        self.random = random.Random(seed)  # noqa: S311 - a reproducible world, no secrets
        self.pods: dict[str, Container] = {}
        self.volumes: dict[str, Volume] = {}
        self.databases: dict[int, Database] = {}
        self.violations: list[Mark] = []
        self.refused_logins: Counter[str] = Counter()  # "<user> at <pod>"
        self.losses: list[Mark] = []
        self.consented: list[Mark] = []  # what was lost because the owner had named exactly that
        self.on_change: Callable[[Container], None] = lambda _container: None
        self.on_statement: Callable[[PodFacts, Session, str, Outcome], None] = lambda *_: None
        self.on_truth: Callable[[Database], None] = lambda _database: None
        self.on_mark: Callable[[Mark], None] = lambda _mark: None
        self.dns: Callable[[str], str | None] = lambda _host: None  # for names of pods whose process does not run
        self._faults: dict[str, Faults] = {}
        self._hosts: dict[str, Container] = {}
        self._frontends: dict[ClusterKey, dict[str, Container]] = {}
        self._leaving: dict[str, float] = {}

    # -- time --------------------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        return self.schedule.now

    def wall(self, moment: float) -> float:
        return self.options.wall(moment)

    def tick(self, now: float) -> None:
        """Let everything happen that is due until `now`."""
        self.schedule.run_until(now)

    # -- pods and volumes --------------------------------------------------------------------------------------

    def pod_started(self, facts: PodFacts) -> Container:
        current = self.pods.get(facts.key)
        if current is not None:
            if current.facts.uid == facts.uid:
                return current
            self.pod_stopped(facts.key)
        key = facts.volume or f"container:{facts.uid}"
        dies_with = facts.volume_dies_with if facts.volume else "container"
        volume = self.volumes.setdefault(key, Volume(key=key, dies_with=dies_with))
        container = Container(self, facts, volume, self.faults(facts.key))
        self.pods[facts.key] = container
        if facts.component is Component.FE:
            self._frontends.setdefault(facts.cluster, {})[facts.key] = container
        for name in facts.names:
            self._hosts[name] = container
            self._leaving.pop(name, None)
        container.start(entrypoints.script_for)
        return container

    def pod_stopped(self, key: str, *, graceful: bool = True) -> None:
        container = self.pods.get(key)
        if container is None:
            return
        facts = container.facts
        if graceful:
            entrypoints.before_stop(container)
            if facts.component is not Component.FE and container.node is not None:
                until = self.now + self.timing.heartbeat + self.timing.graceful_stop
                self._leaving.update(dict.fromkeys((facts.host, facts.address), until))
        del self.pods[key]
        self._frontends.get(facts.cluster, {}).pop(key, None)
        for name in facts.names:
            if self._hosts.get(name) is container:
                del self._hosts[name]
        container.stop()
        container.faults.hang = container.faults.down = False  # the next pod of this name is a new process
        if container.volume.dies_with != "claim":
            self.volume_deleted(container.volume.key)
        self.on_change(container)

    def volume_deleted(self, key: str) -> None:
        volume = self.volumes.pop(key, None)
        if volume is not None:
            self.wipe_volume(volume)

    def wipe_volume(self, volume: Volume) -> None:
        """Whatever was on the disk is gone for ever."""
        meta, storage = volume.meta, volume.storage_cluster
        volume.wipe()
        if meta is not None and (database := self.databases.get(meta.cluster_id)) is not None:
            self._check_meta(database)
        if storage is not None and (database := self.databases.get(storage)) is not None:
            database.tablets.copies_lost()

    def _check_meta(self, database: Database) -> None:
        left = any(
            volume.meta is not None
            and volume.meta.cluster_id == database.cluster_id
            and volume.meta.name not in database.removed
            for volume in self.volumes.values()
        )
        if not left:
            self.mark(
                "meta-lost", database, "the last copy of the cluster's metadata is gone", loss=database.tablets.any()
            )

    def faults(self, key: str) -> Faults:
        return self._faults.setdefault(key, Faults())

    # -- processes ---------------------------------------------------------------------------------------------

    def container_of(self, process: Process) -> Container | None:
        container = self.pods.get(process.facts.key)
        return container if container is not None and container.process is process else None

    def end_process(self, process: Process, reason: str) -> None:
        container = self.container_of(process)
        if container is not None:
            container.exit(255, reason)

    def process_ended(self, process: Process) -> None:
        if isinstance(process, FrontendProcess):
            process.serving = False
            if process.database is not None:
                process.database.detach(process)
        self._recheck(process.facts)

    def process_changed(self, process: Process) -> None:
        self._recheck(process.facts)
        container = self.container_of(process)
        if container is not None:
            self.on_change(container)

    def container_changed(self, container: Container) -> None:
        self.on_change(container)

    def _recheck(self, facts: PodFacts) -> None:
        for database in self.databases.values():
            if database.tenure is not None:
                database.tenure.recheck_host(facts.host, facts.address)
            if database.cluster == facts.cluster:
                database.versions.check_order()
                database.tablets.loads.noticed()
                self.on_truth(database)

    # -- names -------------------------------------------------------------------------------------------------

    def resolve(self, host: str) -> Container | None:
        """Cluster DNS: pod addresses and pod names, as long as the pod exists."""
        return self._hosts.get(host)

    def is_leaving(self, host: str) -> bool:
        return self._leaving.get(host, -1.0) > self.now

    def frontends(self, cluster: ClusterKey) -> list[Container]:
        """Those behind the frontends' Services; observers have Services of their own."""
        pods = self._frontends.get(cluster, {}).values()
        return [pod for pod in pods if pod.facts.group == f"{cluster[1]}-fe"]

    def service(self, cluster: ClusterKey) -> FrontendProcess | None:
        """A ready frontend behind the cluster's service, whichever it is; None: connection refused."""
        ready = [c.frontend for c in self.frontends(cluster) if c.healthy and c.frontend is not None]
        return self.random.choice(ready) if ready else None

    # -- founding ----------------------------------------------------------------------------------------------

    def found_database(self, process: FrontendProcess) -> Database:
        cluster = process.facts.cluster
        for other in self.databases.values():
            if other.cluster == cluster and self._remains(other, besides=process):
                self.mark(
                    "second-cluster",
                    other,
                    f"{process.facts.name} founded a second cluster while cluster id {other.cluster_id} still exists",
                )
        cluster_id = self.random.randint(1, 2**31 - 1)
        database = self.databases[cluster_id] = Database(self, cluster, cluster_id)
        database.found(process)
        return database

    def _remains(self, database: Database, *, besides: FrontendProcess) -> bool:
        for volume in self.volumes.values():
            if volume is besides.volume:
                continue
            if volume.storage_cluster == database.cluster_id:
                return True
            meta = volume.meta
            if meta is not None and meta.cluster_id == database.cluster_id and meta.name not in database.removed:
                return True
        return False

    def mark(self, kind: str, database: Database, text: str, *, loss: bool = False, consented: bool = False) -> None:
        if not self.surroundings.wanted(database.cluster):
            return
        mark = Mark(at=self.now, kind=kind, cluster="/".join(database.cluster), text=text)
        if consented:
            self.consented.append(mark)
            return
        self.violations.append(mark)
        self.on_mark(mark)
        if loss:
            self.losses.append(mark)

    # -- clients -----------------------------------------------------------------------------------------------

    def authenticate(self, key: str, user: str, password: str) -> Refused | None:
        """The local frontend's answer to a login; None: welcome."""
        container = self.pods.get(key)
        process = container.frontend if container is not None else None
        if process is None or process.database is None:
            return Refused(1045, "not ready")
        try:
            check_password(process.database.view(process).accounts, user, password)
        except SqlError as error:
            return Refused(error.code, error.text)
        return None

    def execute(self, key: str, sql: str, session: Session | None = None) -> Outcome:
        """One statement at the frontend in pod `namespace/name`, as a client sees it."""
        container = self.pods.get(key)
        process = container.frontend if container is not None else None
        if container is None or process is None or not process.serving:
            return ConnectionLost(why="connection refused")
        session = session or Session()
        outcome = execute(self, process, sql, session)
        if not (session.hung and isinstance(outcome, Hang)):
            self.on_statement(container.facts, session, sql, outcome)
        session.hung = isinstance(outcome, Hang)
        return outcome
