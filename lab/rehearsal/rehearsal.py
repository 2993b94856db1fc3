"""A whole rehearsal: one cluster, its Kubernetes, one operator or more, and the watch over the invariants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from lab.rehearsal.controllers import NOTICE, Controllers, pods_of
from lab.rehearsal.gate import Gate, KilledError, listing
from lab.rehearsal.invariants import HUMAN, Invariants
from lab.rehearsal.kubernetes import Json, Kubernetes
from lab.rehearsal.manifest import FIELDS, NAME, manifest
from lab.rehearsal.operator import Operator, Surroundings
from lab.simulator.model import Outcome, Session, Timing
from lab.simulator.model.surroundings import named_loss
from lab.simulator.model.world import Options
from lab.simulator.stage import Stage
from starrocks_operator.membership.pods import REVISION_LABEL
from starrocks_operator.observed import ObjectKey, Raw

CLUSTER = ObjectKey("StarRocksCluster", NAME)
RESTART = 4.0  # seconds until a killed operator is there again
_USUAL = {"fe": 3, "be": 3, "cn": 1}


class Rehearsal:
    """`let` time pass, `wish` for replicas, wait `until_settled`; operators work by themselves meanwhile."""

    def __init__(self, *, seed: int = 0, leased: bool = True, **replicas: int) -> None:
        """replicas: by component, where they are not the usual ones; `**{"fe-observer": 2}` makes observers."""
        self.stage = Stage(Options(timing=Timing()), seed=seed)
        self.stage = Stage(Options(timing=Timing()), seed=seed, **self.stage.safe(NAME))
        self.gate = Gate()
        self.kubernetes = Kubernetes(self._timestamp)
        controllers = Controllers(self.kubernetes, self.stage)
        self.invariants = Invariants(self.stage, self.kubernetes, self.wished)
        self.around = Surroundings(
            stage=self.stage,
            kubernetes=self.kubernetes,
            controllers=controllers,
            gate=self.gate,
            cluster=CLUSTER,
        )
        self.kubernetes.create(manifest(**(_USUAL | replicas)), by=HUMAN)
        self.kubernetes.listeners.append(self._noticed)
        self._leased = leased
        self._due: dict[str, float] = {}
        self._stopped: set[str] = set()
        self.operators: dict[str, Operator] = {}
        self.past_steps: list[str] = []
        self.deaths: list[str] = []
        self.add_operator("operator")

    # -- operators ---------------------------------------------------------------------------------------------

    def add_operator(self, name: str) -> Operator:
        """A new process, without any memory; one of the same name is replaced."""
        if (old := self.operators.get(name)) is not None:
            self.past_steps += old.steps
        self.operators[name] = Operator(self.around, name=name, leased=self._leased)
        self._due[name] = self.now
        return self.operators[name]

    @property
    def steps(self) -> list[str]:
        """All steps taken so far, by operators that live and by those that do not."""
        return self.past_steps + [step for operator in self.operators.values() for step in operator.steps]

    def act(self, name: str) -> None:
        """One round of one operator; if it dies, another starts in its place a little later."""
        try:
            pause = self.operators[name].round()
        except KilledError as death:
            self.deaths.append(str(death))
            self.add_operator(name)
            pause = RESTART
        self._due[name] = self.now + pause
        self.invariants.check()

    def retire(self, name: str) -> None:
        """The process ends, and nobody starts it again."""
        self.past_steps += self.operators.pop(name).steps
        del self._due[name]

    def _renew(self) -> None:
        """A process that runs renews its Lease, whatever else it does; one that is stopped does not."""
        for name, operator in self.operators.items():
            if self._leased and name not in self._stopped:
                operator.renew()

    def _noticed(self, by: str, before: Raw | None, after: Raw | None) -> None:
        """A watch event: everybody looks soon, but the one who did it."""
        if after is not None and after["kind"] == CLUSTER.kind:
            metadata = after["metadata"]
            named = named_loss(metadata.get("annotations") or {}, metadata["generation"])
            self.stage.surroundings.losses_named["default", NAME] = named
        for name in self._due:
            if name != by and name not in self._stopped and (after or before or {}).get("kind") != "Lease":
                self._due[name] = min(self._due[name], self.now + NOTICE)

    # -- time --------------------------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        return self.stage.world.now

    def let(self, seconds: float) -> None:
        """Let time pass, with the operators at work."""
        until = self.now + seconds
        self._renew()
        while (name := min(self._due, key=lambda key: self._due[key])) and self._due[name] <= until:
            self.stage.world.tick(max(self._due[name], self.now))
            self._renew()
            self.act(name)
        self.stage.world.tick(max(until, self.now))
        self.around.controllers.refresh()
        self.invariants.check()

    def let_without(self, name: str, seconds: float) -> None:
        """Let time pass while one operator is stopped (SIGSTOP)."""
        due, self._due[name] = self._due[name], float("inf")
        self._stopped.add(name)
        try:
            self.let(seconds)
        finally:
            self._stopped.discard(name)
            self._due[name] = due

    def until(self, condition: Callable[[], bool], what: str, *, within: float = 1800.0, pause: float = 2.0) -> None:
        until = self.now + within
        while not condition():
            assert self.now < until, f"waited {within:g} virtual seconds for {what}\n{self.story()}"
            self.let(pause)

    def until_settled(self, *, within: float = 1800.0) -> None:
        """As wished, said so in status, and nothing more to do."""
        self.let(2 * NOTICE)
        self.until(lambda: self.settled, "the cluster to be as wished", within=within)

    @property
    def settled(self) -> bool:
        raw = self.raw
        ready = self.condition("Ready")
        acting = [operator for operator in self.operators.values() if operator.acts]
        idle = all(operator.decision is not None and not operator.decision.due for operator in acting)
        return idle and ready.get("status") == "True" and ready["observedGeneration"] == raw["metadata"]["generation"]

    def assert_quiet(self, *, seconds: float = 600.0) -> None:
        """I8: once settled, nothing more is written to anybody."""
        before = len(self.gate.written)
        self.let(seconds)
        assert len(self.gate.written) == before, "I8: " + listing(self.gate.written[before:])

    # -- the cluster -------------------------------------------------------------------------------------------

    @property
    def raw(self) -> Json:
        return dict(self.kubernetes.objects[CLUSTER])

    def condition(self, kind: str) -> Json:
        conditions: Sequence[Json] = self.raw.get("status", {}).get("conditions", ())
        return next((condition for condition in conditions if condition["type"] == kind), {})

    def wished(self, component: str) -> int:
        return int(self.raw["spec"].get(FIELDS[component], {}).get("replicas", 0))

    def wish(self, **replicas: int) -> None:
        """A person edits the spec."""
        raw = self.raw
        spec = dict(raw["spec"])
        for component, count in replicas.items():
            spec[FIELDS[component]] = {**spec.get(FIELDS[component], {}), "replicas": count}
        if spec != raw["spec"]:
            metadata = {**raw["metadata"], "generation": raw["metadata"]["generation"] + 1}
            self.kubernetes.put({**raw, "spec": spec, "metadata": metadata}, by=HUMAN)

    def edit(self, component: str, **fields: Any) -> None:
        """A person edits other fields of a component."""
        raw, name = self.raw, FIELDS[component]
        spec = {**raw["spec"], name: {**raw["spec"][name], **fields}}
        metadata = {**raw["metadata"], "generation": raw["metadata"]["generation"] + 1}
        self.kubernetes.put({**raw, "spec": spec, "metadata": metadata}, by=HUMAN)

    def release(self, version: str, *components: str) -> None:
        """A person wants another release of these components; of all, if none is named."""
        for component in components or ("fe", "be", "cn"):
            if FIELDS[component] in self.raw["spec"]:
                self.edit(component, image=f"starrocks/{component}-ubuntu:{version}")

    def revisions(self, component: str) -> dict[str, str]:
        """The revision of each pod."""
        pods = (raw["metadata"] for raw in pods_of(self.kubernetes, component))
        return {metadata["name"]: metadata["labels"][REVISION_LABEL] for metadata in pods}

    def lose_status(self) -> None:
        """The resource comes back from a backup, without its status."""
        self.kubernetes.put({name: value for name, value in self.raw.items() if name != "status"}, by=HUMAN)

    def annotate(self, **annotations: str) -> None:
        """A person sets annotations; `stall_seconds` stands for starrocks.com/stall-seconds."""
        raw = self.raw
        named = {f"starrocks.com/{key.replace('_', '-')}": value for key, value in annotations.items()}
        metadata = {**raw["metadata"], "annotations": {**raw["metadata"].get("annotations", {}), **named}}
        self.kubernetes.put({**raw, "metadata": metadata}, by=HUMAN)

    def say(self, sql: str) -> Outcome:
        """A person's statement at the leader; what it breaks is not the operator's fault."""
        outcome = self.stage.sql(self.stage.leader(NAME), sql, Session(source=HUMAN))
        self.invariants.excuse()
        return outcome

    def create_table(self, name: str, *, replication: int = 3, tablets: int = 6, written: bool = False) -> None:
        """written: loads come in all the time, so that a backend that is away misses some."""
        made = self.stage.database(NAME).tablets
        made.create_table("db", name, replication=replication, tablets=tablets, written=written)

    def tablets_beyond(self, component: str, replicas: int) -> int:
        """Tablets on nodes with an ordinal of `replicas` or more."""
        database = self.stage.database(NAME)
        prefix, count = f"{NAME}-{component}-", database.tablets.count
        ours = [row for row in database.state.nodes if row.host.startswith(prefix)]
        return sum(count(row.node_id) for row in ours if int(row.host.split(".")[0].removeprefix(prefix)) >= replicas)

    def target(self, component: str, ordinal: int) -> str:
        port = 9010 if component.startswith("fe") else 9050
        return f"{self.stage.host(f'{NAME}-{component}-{ordinal}')}:{port}"

    @property
    def claims(self) -> set[str]:
        return {key.name for key in self.kubernetes.objects if key.kind == "PersistentVolumeClaim"}

    def volumes(self, component: str) -> list[Json]:
        """What the spec says of them."""
        return list(self.raw["spec"][FIELDS[component]].get("storageVolumes") or ())

    def kill_pod(self, name: str) -> None:
        """A person deletes it, or its node does."""
        self.kubernetes.delete("Pod", name, by=HUMAN)

    def lose_volume(self, component: str, ordinal: int) -> None:
        """A node is lost with its disk: the pod and its claim go, and Kubernetes makes them anew."""
        pod = f"{NAME}-{component}-{ordinal}"
        for key in list(self.kubernetes.objects):
            if key.kind == "PersistentVolumeClaim" and key.name.endswith(f"-{pod}"):
                self.kubernetes.delete(key.kind, key.name, by=HUMAN)
        self.kubernetes.delete("Pod", pod, by=HUMAN)

    def story(self) -> str:
        """Where things stand, for the message of a failed test."""
        status = self.raw.get("status", {})
        members = [f"{m['kind']} {m.get('name', m['host'])} {m['state']}" for m in status.get("members", ())]
        return "\n".join(
            [
                f"phase {status.get('phase')}: {status.get('reason')}",
                f"waiting for {status.get('waitingFor')}; next step {status.get('nextStep')}",
                *members,
                f"steps: {self.steps}",
                f"deaths: {self.deaths}",
                "last calls:",
                listing(self.gate.written[-25:]),
            ]
        )

    def assert_whole(self) -> None:
        """FE's members are the wished ones, all alive and staying; every tablet has all its copies."""
        database = self.stage.database(NAME)
        state = database.state
        members = [("fe-observer" if row.role == "OBSERVER" else "fe", row.host, row.alive) for row in state.frontends]
        members += [(row.kind.value, row.host, row.alive) for row in state.nodes]
        wanted = [
            (component, self.stage.host(f"{NAME}-{component}-{ordinal}"), True)
            for component in FIELDS
            for ordinal in range(self.wished(component))
        ]
        assert sorted(members) == sorted(wanted), f"{members}\n{self.story()}"
        assert not any(row.decommissioned for row in database.state.nodes), self.story()
        tablets = [tablet for tablet in database.tablets.tablets.values() if not tablet.given_up]
        unhealthy = [tablet for tablet in tablets if database.tablets.unhealthy(tablet)]
        assert not unhealthy, f"{len(unhealthy)} tablets lack copies"
        self._assert_rolled_out()

    def _assert_rolled_out(self) -> None:
        """All pods have the wanted revision, and no StatefulSet remembers a roll."""
        for key, raw in self.kubernetes.objects.items():
            if key.kind == "StatefulSet":
                component = key.name.removeprefix(f"{NAME}-")
                revisions = set(self.revisions(component).values()) - {raw["status"]["updateRevision"]}
                at_rest = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
                assert (revisions, raw["spec"]["updateStrategy"]) == (set(), at_rest), f"{key}\n{self.story()}"

    def _timestamp(self) -> str:
        moment = self.stage.world.wall(self.stage.world.now)
        return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
