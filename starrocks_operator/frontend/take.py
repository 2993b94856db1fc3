"""Taking the recorded step, or not: decided afresh by the same function, it must still be the same step.

What may change between recording and taking is only the world; the rules are these of `decide`. This module needs
its reads done by somebody (the `member` module), and FE asked by `frontend`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from starrocks_operator.decide import decide
from starrocks_operator.frontend.act import perform
from starrocks_operator.frontend.endpoints import Credentials, Endpoint, endpoints
from starrocks_operator.frontend.look import look
from starrocks_operator.frontend.pool import FrontendPool
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.observed import Observed
from starrocks_operator.run_report import StepOutcome
from starrocks_operator.step import Step

Result = tuple[StepOutcome, str]


def take(
    step: Step,
    *,
    cluster: StarRocksCluster,
    observed: Observed,
    credentials: Credentials,
    pool: FrontendPool,
    default_profile: str,
    dry_run: bool = False,
) -> Result:
    """Look at FE, decide again, and if the step is still the one to take, take it.

    observed: as just read from the API server, without FE's view. dry_run: everything but the statement.
    """
    recorded = cluster.status.next_step.hash if cluster.status and cluster.status.next_step else ""
    if recorded != step.hash:
        return StepOutcome.STALE, f"{step.kind} {step.target}: it is not the step recorded in the status."
    properties = observed.configurations["fe"].properties if "fe" in observed.configurations else {}
    places = endpoints(cluster, observed.children, properties)
    view = look(places, credentials, pool=pool)
    again = decide(cluster, replace(observed, view=view), default_profile=default_profile).step
    if again is None or again.hash != step.hash:
        instead = f"{again.kind} {again.target} is" if again else "none is"
        return StepOutcome.STALE, f"{step.kind} {step.target}: decided afresh, {instead} to be taken."
    leader = leader_endpoint(places, view.leader)
    if leader is None:
        return StepOutcome.STALE, f"{step.kind} {step.target}: the leader is not one of this cluster's pods."
    if dry_run:
        return StepOutcome.NONE, f"{step.kind} {step.target}: it would be taken."
    return perform(step, leader=leader, credentials=credentials, pool=pool)


def leader_endpoint(places: Sequence[Endpoint], host: str | None) -> Endpoint | None:
    """Where the leader is asked."""
    return next((place for place in places if place.host == host), None)
