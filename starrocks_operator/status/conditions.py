"""The four conditions: Ready, Progressing, Degraded, QuorumSafe. Each is a judgement and a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starrocks_operator.decision import Decision, Finding
from starrocks_operator.membership import Quorum
from starrocks_operator.membership.frontend_count import is_refused
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.observed import FrontendView
from starrocks_operator.run_report import RunReport
from starrocks_operator.status.frontend_proxy import Proxy
from starrocks_operator.status.workloads import Workload

STALE_OFTEN = 3
"""So many runs in a row that find their step stale are not chance any more."""

TRUE, FALSE, UNKNOWN = "True", "False", "Unknown"
RESTING = frozenset({"Paused", "Hibernated", "PlanNotApproved"})
"""Findings by which nothing is done, though something could be."""
SLEEP = frozenset({"Hibernating", "Hibernated"})
_NOT_READY = {
    "fe": "FrontendsNotReady",
    "fe-observer": "ObserversNotReady",
    "be": "BackendsNotReady",
    "cn": "ComputeNodesNotReady",
}


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A condition before it has a generation and a time."""

    type: str
    status: str
    reason: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What the conditions are judged on. marker_is_due: whether the marker has to follow what the status tells now."""

    cluster: StarRocksCluster
    decision: Decision
    workloads: Sequence[Workload]
    view: FrontendView | None
    last_run: RunReport | None
    founded: bool
    proxy: Proxy | None = None
    marker_is_due: bool = False

    @property
    def failed_run(self) -> RunReport | None:
        """The last run, if it failed and its work is still to be done."""
        failed = self.last_run is not None and not self.last_run.succeeded
        return self.last_run if failed and self.decision.due else None

    @property
    def stale_step(self) -> str:
        """What is said of a step that is due, and that nobody takes, since it is always found to be another one."""
        run = self.last_run
        if run is None or run.stale < STALE_OFTEN or run.fingerprint != self.decision.fingerprint:
            return ""
        said = run.said.rstrip(".") or "it was not the step to take"
        return (
            f"The next step was not taken: when everything was read afresh, it was not the one any more, {STALE_OFTEN} "
            f"times and more in a row. It is tried again, ever more rarely. The last time: {said}."
        )

    @property
    def own(self) -> tuple[Workload, ...]:
        """The components that the spec has."""
        return tuple(workload for workload in self.workloads if not workload.orphaned)


def judge(ground: Ground) -> tuple[Judgement, ...]:
    """All four, in the order in which people read them."""
    return (_ready(ground), _progressing(ground), _degraded(ground), _quorum_safe(ground))


def _ready(ground: Ground) -> Judgement:
    """True only if what the spec asks for is there: objects, pods of the wanted revision, members as FE sees them."""
    for finding in _weighty(ground.decision.findings):
        return Judgement(type="Ready", status=FALSE, reason=finding.reason, message=finding.message)
    if ground.failed_run:
        return Judgement(type="Ready", status=FALSE, reason=ground.failed_run.reason, message=ground.failed_run.message)
    if ground.stale_step:
        return Judgement(type="Ready", status=FALSE, reason="StepStale", message=ground.stale_step)
    for workload in ground.own:
        if workload.phase != "running":
            message = f"{workload.title}s: {workload.reason}"
            return Judgement(type="Ready", status=FALSE, reason=_NOT_READY[workload.component], message=message)
    if ground.proxy is not None and ground.proxy.phase != "running":
        message = f"frontend proxy: {ground.proxy.reason}"
        return Judgement(type="Ready", status=FALSE, reason="FrontendProxyNotReady", message=message)
    if ground.decision.due or ground.decision.waits or ground.marker_is_due:
        message = "; ".join(ground.decision.waits) or "objects are being written"
        return Judgement(type="Ready", status=FALSE, reason="Settling", message=message[:1000])
    remarks = [finding.message for finding in ground.decision.findings if finding.remark]
    return Judgement(
        type="Ready",
        status=TRUE,
        reason="AsSpecified",
        message=" ".join([f"The cluster is as specified: {_census(ground.own)}, all alive.", *remarks]),
    )


def _progressing(ground: Ground) -> Judgement:
    decision = ground.decision
    if any(finding.blocks == "everything" for finding in decision.findings):
        return Judgement(
            type="Progressing", status=FALSE, reason="Stopped", message="The spec must be corrected first."
        )
    for finding in _weighty(decision.findings):
        if finding.reason in RESTING:
            return Judgement(type="Progressing", status=FALSE, reason=finding.reason, message=finding.message)
    if decision.step is not None:
        return Judgement(type="Progressing", status=TRUE, reason=str(decision.step.kind), message=decision.step.reason)
    if decision.apply or decision.prune:
        return Judgement(type="Progressing", status=TRUE, reason="Applying", message="Objects are being written.")
    if decision.waits:
        message = "; ".join(decision.waits)
        return Judgement(type="Progressing", status=TRUE, reason="Waiting", message=message[:1000])
    refused = _is_wish_refused(ground)
    for workload in ground.own:
        if not workload.complete and not (refused and workload.component == "fe" and workload.too_many):
            message = f"{workload.title}s: {workload.reason}"
            return Judgement(type="Progressing", status=TRUE, reason="RollingOut", message=message)
    if refused:
        return Judgement(
            type="Progressing", status=FALSE, reason="Stopped", message="The spec must be corrected first."
        )
    return Judgement(type="Progressing", status=FALSE, reason="Settled", message="There is nothing to do.")


def _degraded(ground: Ground) -> Judgement:
    troubles = [(finding.reason, finding.message) for finding in ground.decision.findings if finding.degraded]
    if ground.failed_run:
        troubles.append((ground.failed_run.reason or "RunFailed", ground.failed_run.message))
    if ground.stale_step:
        troubles.append(("StepStale", ground.stale_step))
    troubles += [
        ("PodsFailing", f"{workload.title}s: {workload.reason}.") for workload in ground.workloads if workload.failed
    ]
    if ground.proxy is not None and ground.proxy.failed:
        troubles.append(("PodsFailing", f"frontend proxy: {ground.proxy.reason}."))
    if not troubles:
        return Judgement(type="Degraded", status=FALSE, reason="Healthy", message="Nothing is known to be wrong.")
    message = " ".join(said for _, said in troubles)
    return Judgement(type="Degraded", status=TRUE, reason=troubles[0][0], message=message[:2000])


def _quorum_safe(ground: Ground) -> Judgement:
    """Whether one more frontend may die."""
    view, spec = ground.view, ground.cluster.spec.fe
    sleeps = any(finding.reason in SLEEP for finding in ground.decision.findings)
    if sleeps and (view is None or view.frontends is None):
        return Judgement(type="QuorumSafe", status=UNKNOWN, reason="Hibernated", message="The frontends sleep.")
    if view is None or view.frontends is None:
        if ground.founded:
            message = "No frontend leads; how many are alive is unknown."
            return Judgement(type="QuorumSafe", status=FALSE, reason="LeaderMissing", message=message)
        return Judgement(
            type="QuorumSafe", status=UNKNOWN, reason="NotFounded", message="The cluster has not been founded yet."
        )
    quorum = Quorum.of(view.frontends)
    count = f"{quorum.alive} of {quorum.registered} followers are alive"
    if quorum.registered == 1:
        message = "There is one frontend: when it fails, the cluster stands still. Three survive one failure."
        return Judgement(type="QuorumSafe", status=FALSE, reason="SingleFrontend", message=message)
    if quorum.margin <= 0:
        message = f"{count}: when one more fails, nothing can be written."
        return Judgement(type="QuorumSafe", status=FALSE, reason="NoSpareFrontend", message=message)
    heeded = spec is not None and spec.replicas % 2 == 0 and not _is_wish_refused(ground)
    wished = spec.replicas if spec is not None and heeded else quorum.registered
    if wished and wished % 2 == 0:
        message = f"{count}. An even number of frontends ({wished}) survives no more failures than one fewer would."
        return Judgement(type="QuorumSafe", status=FALSE, reason="EvenFrontends", message=message)
    message = f"{count}: {quorum.margin} more may fail."
    return Judgement(type="QuorumSafe", status=TRUE, reason="SpareFrontends", message=message)


def _is_wish_refused(ground: Ground) -> bool:
    """Whether the number of frontends that the spec asks for is refused, so that all of them stay."""
    rows = ground.view.frontends if ground.view is not None else None
    return rows is not None and is_refused(ground.cluster, Quorum.of(rows).registered)


def _weighty(findings: Sequence[Finding]) -> list[Finding]:
    """Findings that contradict Ready."""
    return [finding for finding in findings if not finding.remark]


def _census(workloads: Sequence[Workload]) -> str:
    counts = [f"{workload.wanted} {workload.title}{'' if workload.wanted == 1 else 's'}" for workload in workloads]
    return ", ".join(counts) or "no components"
