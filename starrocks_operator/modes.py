"""What becomes of a decision in the modes that its owner chose: asleep, planned before it is done, or paused."""

from __future__ import annotations

from collections.abc import Mapping

from starrocks_operator.decision import Decision
from starrocks_operator.observed import Raw
from starrocks_operator.plan import Draft, planned
from starrocks_operator.quiet.hibernation import Night, hibernated
from starrocks_operator.quiet.pause import is_paused, paused


def in_its_mode(decision: Decision, draft: Draft, workloads: Mapping[str, Raw]) -> Decision:
    """workloads: the live StatefulSets, by component."""
    cluster = draft.cluster
    night = Night(cluster=cluster, observed=draft.observed, workloads=workloads, properties=draft.context.properties)
    decision = planned(hibernated(decision, night), draft)
    return paused(decision) if is_paused(cluster.annotations) else decision
