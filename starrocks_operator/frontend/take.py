"""Taking the recorded step, or not: decided afresh by the same function, it must still be the same step.

What may change between recording and taking is only the world; the rules are these of `decide`. This module needs
its reads done by somebody (the `member` module), and FE asked by `frontend`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from starrocks_operator.config import effective, parameters_asked, settled_of
from starrocks_operator.decide import decide
from starrocks_operator.decision import NO_CUSTOMS, Customs, Decision
from starrocks_operator.deed import Deed, deed_of
from starrocks_operator.frontend.account_act import perform_account
from starrocks_operator.frontend.act import perform, perform_everywhere
from starrocks_operator.frontend.endpoints import Credentials, Endpoint, endpoints
from starrocks_operator.frontend.look import look
from starrocks_operator.frontend.pool import FrontendPool
from starrocks_operator.membership import questions_of
from starrocks_operator.membership.accounts import wants_root
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.configuration import ports_of
from starrocks_operator.objects.names import CLUSTER_DOMAIN
from starrocks_operator.observed import Observed
from starrocks_operator.run_report import StepOutcome
from starrocks_operator.step import ACCOUNT_STEPS, KUBERNETES_STEPS, LOCAL_STEPS, Step

Result = tuple[StepOutcome, str]
Hand = Callable[[Step, Deed], Result]
"""Does a deed on the API server; says what became of it. It asks for an objection once more before it."""

Objection = Callable[[], str]
"""Asked right before the statement: why nothing may be done any more, as a sentence; empty: it may."""


def take(
    step: Step,
    *,
    cluster: StarRocksCluster,
    observed: Observed,
    credentials: Credentials,
    pool: FrontendPool,
    default_profile: str,
    domain: str = CLUSTER_DOMAIN,
    customs: Customs = NO_CUSTOMS,
    dry_run: bool = False,
    hand: Hand | None = None,
    objection: Objection = lambda: "",
) -> Result:
    """Look at FE, decide again, and if the step is still the one to take, take it.

    observed: as just read from the API server, without FE's view. default_profile, domain, customs: those of the
    operator that recorded the step. dry_run: everything but the statement or the write.
    hand: what takes steps of Kubernetes; without it they fail. objection: FE may have taken long to be looked at.
    """
    recorded = cluster.status.next_step.hash if cluster.status and cluster.status.next_step else ""
    if recorded != step.hash:
        return StepOutcome.STALE, f"{step.kind} {step.target}: it is not the step recorded in the status."
    settled = settled_of(cluster, observed.children, observed.configurations)
    fe = effective(observed.configurations, settled).get("fe")
    properties = fe.properties if fe is not None else {}
    places = endpoints(cluster, observed.children, properties)
    asked = questions_of(cluster, observed.children, http_port=ports_of("fe", properties)["http"])
    parameters = parameters_asked(cluster, settled, None)
    questions = replace(asked, root=wants_root(cluster, observed.accounts), parameters=parameters)
    view = look(places, credentials, pool=pool, questions=questions)
    observed = replace(observed, view=view)
    decision = decide(cluster, observed, default_profile=default_profile, domain=domain, customs=customs)
    again = decision.step
    if again is None or again.hash != step.hash:
        instead = f"{again.kind} {again.target} is" if again else "none is"
        why = "".join(f"; {wait}" for wait in decision.waits[:5])
        return StepOutcome.STALE, f"{step.kind} {step.target}: decided afresh, {instead} to be taken{why}."
    if step.kind in KUBERNETES_STEPS:
        return _by_hand(step, cluster, observed, decision, hand=hand, dry_run=dry_run)
    if step.kind in LOCAL_STEPS:
        lists = view.backend_blacklists if step.fact("list") == "BACKEND" else view.blacklists
        told = tuple(place for place in places if place.pod in (lists or {}))
        if refused := _refused(step, objection, dry_run=dry_run):
            return refused
        return perform_everywhere(step, places=told, credentials=credentials, pool=pool)
    leader = leader_endpoint(places, view.leader)
    if leader is None:
        return StepOutcome.STALE, f"{step.kind} {step.target}: the leader is not one of this cluster's pods."
    if refused := _refused(step, objection, dry_run=dry_run):
        return refused
    if step.kind in ACCOUNT_STEPS:
        return perform_account(step, leader=leader, credentials=credentials, pool=pool)
    return perform(step, leader=leader, credentials=credentials, pool=pool)


def _refused(step: Step, objection: Objection, *, dry_run: bool) -> Result | None:
    if dry_run:
        return StepOutcome.NONE, f"{step.kind} {step.target}: it would be taken."
    reason = objection()
    return (StepOutcome.STALE, f"{step.kind} {step.target}: {reason}.") if reason else None


def _by_hand(
    step: Step, cluster: StarRocksCluster, observed: Observed, decision: Decision, *, hand: Hand | None, dry_run: bool
) -> Result:
    name = f"{step.kind} {step.target}"
    deed = deed_of(step, cluster=cluster, observed=observed, decision=decision)
    if deed is None:
        return StepOutcome.STALE, f"{name}: the object is gone, or another one by now."
    if hand is None:
        return StepOutcome.FAILED, f"{name}: there is no way to write to the API server from here."
    if dry_run:
        return StepOutcome.NONE, f"{name}: it would be taken."
    return hand(step, deed)


def leader_endpoint(places: Sequence[Endpoint], host: str | None) -> Endpoint | None:
    """Where the leader is asked."""
    return next((place for place in places if place.host == host), None)
