"""The invariants of the design, watched at every change of an object and every statement; see DESIGN, section 4."""

from __future__ import annotations

import re
from collections.abc import Callable

from lab.rehearsal.controllers import owner_of
from lab.rehearsal.kubernetes import Kubernetes
from lab.rehearsal.revisions import SELF, partition, rolls
from lab.simulator.model import Component, ConnectionLost, Done, Outcome, PodFacts, Session
from lab.simulator.model.database import Database, majority
from lab.simulator.stage import Stage
from starrocks_operator.membership.pods import REVISION_LABEL
from starrocks_operator.objects.sleep import awake_replicas
from starrocks_operator.observed import Raw

HUMAN = "human"
_STATEMENT = re.compile(r'(?i)(?:ALTER SYSTEM )?(DECOMMISSION|CANCEL DECOMMISSION|DROP) .*"([^":]+):\d+"')


class Invariants:
    """Collects what was broken. wished: the replicas that the spec asks for, by component, at this moment."""

    def __init__(self, stage: Stage, kubernetes: Kubernetes, wished: Callable[[str], int]) -> None:
        self.broken: list[str] = []
        self._stage, self._kubernetes, self._wished = stage, kubernetes, wished
        self._ordered: dict[int, str] = {}  # by whom a backend, by its id, was decommissioned
        self._excused = 0  # marks of the simulator that are a person's
        kubernetes.listeners.append(self._written)
        stage.world.on_statement = self._said

    def check(self) -> None:
        """Nothing was broken so far, and nothing that happened by itself has broken anything."""
        marks = [f"{mark.kind}: {mark.text}" for mark in self._stage.world.violations[self._excused :]]
        ids = len(self._stage.world.databases)
        assert self.broken + marks == [], "\n".join(self.broken + marks)
        assert ids <= 1, f"I4: {ids} clusters were founded"

    def excuse(self) -> None:
        """What was marked since the last check is a person's doing."""
        self._excused = len(self._stage.world.violations)

    # -- objects -----------------------------------------------------------------------------------------------

    def _written(self, by: str, before: Raw | None, after: Raw | None) -> None:
        raw = after or before
        assert raw is not None
        if by in (SELF, HUMAN) or not self._databases():
            return
        kind, name = raw["kind"], raw["metadata"]["name"]
        if self._kubernetes.orphaning is not None:
            return
        if kind == "StatefulSet" and before is not None and awake_replicas(after) is None:
            left = range(after["spec"]["replicas"] if after else 0, before["spec"]["replicas"])
            if left and after is not None and after["spec"]["replicas"] == 0 and self._may_sleep():
                left = range(0)  # all of them, and all come back
            for ordinal in left:
                self._pod_goes(by, f"{name}-{ordinal}")
            if after is not None:
                self._released(by, name, before, after)
            if left and name.endswith("-fe"):
                self._frontends_go(by, {f"{name}-{ordinal}" for ordinal in left})
        elif kind == "Pod" and after is not None and after["metadata"].get("deletionTimestamp"):
            self._frontends_go(by, {name})
            self._backend_goes(by, name)
        elif kind == "PersistentVolumeClaim" and (after is None or after["metadata"].get("deletionTimestamp")):
            self._claim_goes(by, name)

    def _may_sleep(self) -> bool:
        found = (raw for key, raw in self._kubernetes.objects.items() if key.kind == "StarRocksCluster")
        orders = (raw["metadata"].get("annotations") or {} for raw in found)
        return any(given.get("starrocks.com/hibernate") == "true" for given in orders)

    def _pod_goes(self, by: str, pod: str) -> None:
        """I2: no ordinal leaves while FE counts tablets on it, unless its owner named that loss."""
        for database in self._databases():
            for row in database.state.of_kind(Component.BE):
                held = database.tablets.count(row.node_id)
                named = self._stage.surroundings.given_up(database.cluster)
                if held and row.host == self._stage.host(pod) and pod != named:
                    self.broken.append(f"I2: {by} took {pod} out of its StatefulSet with {held} tablets on it")

    def _frontends_go(self, by: str, pods: set[str]) -> None:
        """I1: what is taken away leaves a majority, unless it was not alive anyway."""
        for database in self._databases():
            live = {p.name: p.facts.name for p in database.live_electable() if not self._deleting(p.facts.name)}
            going = {name for name, pod in live.items() if pod in pods}
            needed = majority(len(database.electable()))
            if going and len(live) - len(going) < needed:
                self.broken.append(f"I1: {by} took {sorted(pods)} away: {len(live) - len(going)} live, {needed} needed")

    def _released(self, by: str, name: str, before: Raw, after: Raw) -> None:
        """A lower partition lets the controller replace pods: not more than one."""
        if not rolls(before) or not rolls(after) or before["spec"]["template"] != after["spec"]["template"]:
            return
        revision = (before.get("status") or {}).get("updateRevision")
        pods = [self._kubernetes.get("Pod", f"{name}-{n}") for n in range(partition(after), partition(before))]
        going = [
            pod["metadata"]["name"] for pod in pods if pod and pod["metadata"]["labels"][REVISION_LABEL] != revision
        ]
        if len(going) > 1:
            self.broken.append(f"{by} lets {going} be replaced at once")
        for pod in going:
            self._backend_goes(by, pod)

    def _backend_goes(self, by: str, pod: str) -> None:
        """I2: no living backend is replaced while FE counts another one as dead, or tablets as lacking copies."""
        for database in self._databases():
            rows = database.state.of_kind(Component.BE)
            own = next((row for row in rows if row.host == self._stage.host(pod)), None)
            if own is None or not own.alive:
                continue
            dead = [row.host.split(".")[0] for row in rows if not row.alive]
            lacking = [tablet for tablet in database.tablets.tablets.values() if database.tablets.unhealthy(tablet)]
            if dead or lacking:
                self.broken.append(f"I2: {by} replaces {pod}, {dead} dead, {len(lacking)} tablets lack copies")

    def _deleting(self, pod: str) -> bool:
        raw = self._kubernetes.get("Pod", pod)
        return raw is None or (bool(raw["metadata"].get("deletionTimestamp")))

    def _claim_goes(self, by: str, claim: str) -> None:
        """I5: no claim of a node that FE knows is deleted."""
        host = self._stage.host(owner_of(claim))
        for database in self._databases():
            state = database.state
            if host in {row.host for row in state.frontends} | {row.host for row in state.nodes}:
                self.broken.append(f"I5: {by} deleted {claim}, and FE knows {host.split('.')[0]}")

    # -- statements --------------------------------------------------------------------------------------------

    def _said(self, _: PodFacts, session: Session, sql: str, outcome: Outcome) -> None:
        found = _STATEMENT.match(sql)
        if found is None or not isinstance(outcome, Done | ConnectionLost):
            return
        verb, host, by = found[1].upper(), found[2], session.source
        row = next((row for database in self._databases() for row in database.state.nodes if row.host == host), None)
        if row is None or verb == "DROP":
            return
        if verb == "DECOMMISSION" and row.decommissioned:
            self._ordered.setdefault(row.node_id, by)
            if by != HUMAN and self._is_wanted(host):
                self.broken.append(f"I3: {by} decommissioned {host}, which is wanted")
        elif verb != "DECOMMISSION" and self._ordered.pop(row.node_id, "") == HUMAN != by:
            self.broken.append(f"I3: {by} took back the decommission of {host}, which a person had ordered")

    def _is_wanted(self, host: str) -> bool:
        pod = host.split(".")[0]
        _, component, ordinal = pod.rsplit("-", 2)
        return int(ordinal) < self._wished(component)

    def _databases(self) -> list[Database]:
        return list(self._stage.world.databases.values())
