"""One operator process on the virtual clock: observe, decide, write status, run; in the product's order.

What the watcher, the play and the `member` module do between the pure functions is done here in a few lines each;
the order of the calls to the outside is theirs, and what is read afresh in the product is read afresh here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from lab.rehearsal.controllers import Controllers
from lab.rehearsal.frontends import StagePool
from lab.rehearsal.gate import CallKind, Gate, LostError
from lab.rehearsal.kubernetes import Json, Kubernetes, RefusedError
from lab.simulator.stage import Stage
from starrocks_operator.components import COMPONENTS as ALL_COMPONENTS
from starrocks_operator.decide import decide
from starrocks_operator.decision import COMPONENTS, Decision
from starrocks_operator.deed import Deed, is_done
from starrocks_operator.frontend.endpoints import Credentials, endpoints
from starrocks_operator.frontend.look import look
from starrocks_operator.frontend.take import take
from starrocks_operator.lease import lease_objection
from starrocks_operator.membership import questions_of
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects import build
from starrocks_operator.objects.former import with_remembered
from starrocks_operator.observed import ObjectKey, Observed
from starrocks_operator.rollout import revisions_needed
from starrocks_operator.run_report import RunReport, StepOutcome
from starrocks_operator.status import status_of
from starrocks_operator.step import Step
from starrocks_operator.wish import wish_objection
from watcher.attempts import Attempts

T = TypeVar("T")

ROOT = Credentials()
LEASE = ObjectKey("Lease", "starrocks-operator")
ROUNDS = 4  # of writing a status that changes the decision, as in the watcher
HTTP_PORT = 8030
RENEWAL = 5.0  # seconds between two renewals of the Lease
Result = tuple[StepOutcome, str]


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What the operators of a rehearsal share."""

    stage: Stage
    kubernetes: Kubernetes
    controllers: Controllers
    gate: Gate
    cluster: ObjectKey

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.stage.world.wall(self.stage.world.now), UTC)


class Operator:
    """One process. All that it remembers is in here, and gone with it."""

    def __init__(self, around: Surroundings, *, name: str, leased: bool) -> None:
        self.name = name
        self.steps: list[str] = []
        self.decision: Decision | None = None
        self._around, self._leased = around, leased
        self._pool = StagePool(around.stage, around.gate, name)
        self._attempts = Attempts(clock=lambda: around.stage.world.now)
        self._last_run: RunReport | None = None

    @property
    def acts(self) -> bool:
        """Whether it holds the Lease, or needs none."""
        return not self._lease_objection()

    # -- a round -----------------------------------------------------------------------------------------------

    def round(self) -> float:
        """One look at the cluster, with what follows from it. Returns the seconds until the next one."""
        if self._leased and not self.renew():
            return 2.0
        try:
            return self._round()
        except (LostError, RefusedError):
            return 1.0  # the API server was not reached, or refused: again, after a back-off

    def _round(self) -> float:
        raw, observed = self._raw(), self._observed(None)
        cluster = StarRocksCluster.parse(raw)
        view = look(
            endpoints(cluster, observed.children),
            ROOT,
            pool=self._pool,
            questions=questions_of(cluster, observed.children, http_port=HTTP_PORT),
        )
        observed = replace(observed, view=replace(view, asked_at=observed.now))
        for _ in range(ROUNDS):
            decision = self.decision = decide(cluster, observed)
            status = status_of(cluster, observed, decision, last_run=self._last_run)
            if status == raw.get("status", {}):
                break
            raw = self._call(CallKind.STATUS, "", partial(self._write, raw, status))
            cluster = StarRocksCluster.parse(raw)
        if not decision.due:
            return 5.0 if decision.waits else 30.0
        pause = self._attempts.pause(cluster.key, decision.fingerprint, generation=cluster.generation)
        if pause > 0:
            return min(pause, 5.0)
        self._last_run = self._run(cluster, decision).after(self._last_run)
        self._attempts.count(cluster.key, decision.fingerprint)
        return 1.0

    def renew(self) -> bool:
        """Whether we hold the Lease: it is ours, or nobody renewed it."""
        kubernetes, now = self._around.kubernetes, self._around.now()
        lease = kubernetes.objects.get(LEASE)
        holder = (lease or {}).get("spec", {}).get("holderIdentity", "")
        if lease is not None and holder != self.name and not lease_objection(lease, identity=holder, now=now):
            return False
        if holder == self.name and lease is not None and _age(lease, now) < RENEWAL:
            return True
        spec = {"holderIdentity": self.name, "renewTime": now.isoformat(), "leaseDurationSeconds": 15}
        kubernetes.put({"kind": LEASE.kind, "metadata": {"name": LEASE.name}, "spec": spec}, by=self.name)
        return True

    # -- observing ---------------------------------------------------------------------------------------------

    def _raw(self) -> Json:
        return dict(self._around.kubernetes.objects[self._around.cluster])

    def _observed(self, _: None) -> Observed:
        self._around.controllers.refresh()
        kubernetes = self._around.kubernetes
        cluster = StarRocksCluster.parse(self._raw())
        children = with_remembered(cluster, kubernetes.children(), tuple(ALL_COMPONENTS))
        needed = {name: kubernetes.get("ControllerRevision", name) for name in revisions_needed(children)}
        return Observed(
            now=self._around.now(),
            children=children,
            revisions={name: raw for name, raw in needed.items() if raw is not None},
        )

    # -- the run -----------------------------------------------------------------------------------------------

    def _run(self, cluster: StarRocksCluster, decision: Decision) -> RunReport:
        """The play: due components in their order, what is to be pruned, then the step."""
        outcome, message, reason = StepOutcome.NONE, "", ""
        try:
            objects = build(cluster, decision.context)
            for component in COMPONENTS:
                for wanted in objects.get(component, ()) if decision.apply.get(component) else ():
                    self._apply(wanted)
            for key in decision.prune:
                self._call(CallKind.DELETE, str(key), partial(self._prune, key))
            if decision.step is not None:
                outcome, message = self._step(decision.step)
        except (LostError, RefusedError) as failure:
            reason, message = "ApplyRefused", str(failure)
        if outcome in (StepOutcome.FAILED, StepOutcome.UNKNOWN):
            reason = "StepFailed"
        return RunReport(
            fingerprint=decision.fingerprint,
            finished_at=self._around.now(),
            succeeded=not reason,
            reason=reason,
            message=message if reason else "",
            step=outcome,
            said=message,
        )

    def _apply(self, wanted: Mapping[str, Any]) -> None:
        what = str(ObjectKey.of(wanted))
        if wanted["kind"] == "StatefulSet":
            strategy = wanted["spec"]["updateStrategy"]
            held = (strategy.get("rollingUpdate") or {}).get("partition", strategy["type"])
            what += f" with {wanted['spec']['replicas']} replicas, {held}"
        self._call(CallKind.APPLY, what, lambda: self._around.kubernetes.apply(wanted, by=self.name))

    def _prune(self, key: ObjectKey) -> None:
        if key in self._around.kubernetes.objects:
            self._around.kubernetes.delete(key.kind, key.name, by=self.name)

    def _step(self, step: Step) -> Result:
        """The `member` module: Lease, everything read afresh, decided again, one step."""
        if reason := self._lease_objection():
            return StepOutcome.STALE, reason
        cluster = StarRocksCluster.parse(self._raw())

        def objection() -> str:
            return self._lease_objection() or wish_objection(StarRocksCluster.parse(self._raw()), decided=cluster)

        outcome, message = take(
            step,
            cluster=cluster,
            observed=self._observed(None),
            credentials=ROOT,
            pool=self._pool,
            default_profile="safe",
            hand=partial(self._hand, objection),
            objection=objection,
        )
        self.steps.append(f"{step.kind} {step.target.split('.')[0]}: {outcome}")
        return outcome, message

    def _hand(self, objection: Callable[[], str], step: Step, deed: Deed) -> Result:
        """A step on the API server; if the answer is lost, looking tells whether it was done."""
        if reason := objection():
            return StepOutcome.STALE, reason
        kubernetes = self._around.kubernetes

        def write() -> None:
            if deed.verb == "apply" and deed.manifest is not None:
                kubernetes.apply(deed.manifest, by=self.name)
            elif deed.verb == "orphan":
                kubernetes.orphan(deed.kind, deed.name, uid=deed.uid, version=deed.version, by=self.name)
            else:
                kubernetes.delete(deed.kind, deed.name, uid=deed.uid, by=self.name)

        kind = CallKind.APPLY if deed.verb == "apply" else CallKind.DELETE
        try:
            self._call(kind, f"{deed.kind}/{deed.name} ({step.kind})", write)
        except LostError:
            done = is_done(step, kubernetes.get(deed.kind, deed.name))
            return (StepOutcome.DONE if done else StepOutcome.UNKNOWN), "the answer was lost"
        except RefusedError as refusal:
            return StepOutcome.STALE, str(refusal)
        return StepOutcome.DONE, ""

    def _lease_objection(self) -> str:
        if not self._leased:
            return ""
        lease = self._around.kubernetes.objects.get(LEASE)
        return lease_objection(lease, identity=self.name, now=self._around.now())

    # -- calls -------------------------------------------------------------------------------------------------

    def _write(self, raw: Json, status: Json) -> Json:
        written = self._around.kubernetes.status(self._around.cluster, status, uid=raw["metadata"]["uid"], by=self.name)
        return dict(written)

    def _call(self, kind: CallKind, what: str, do: Callable[[], T]) -> T:
        return self._around.gate.through(actor=self.name, kind=kind, what=what, do=do)


def _age(lease: Mapping[str, Any], now: datetime) -> float:
    return (now - datetime.fromisoformat(lease["spec"]["renewTime"])).total_seconds()
