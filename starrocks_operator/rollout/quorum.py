"""A changed template of the frontends replaces their pods, highest ordinal first: is the quorum up to it?

Kubernetes replaces one pod, waits until it is ready, and goes on. So there must be a spare follower for the one that
is down meanwhile (invariant I1); or the first pod to go must be one that is not alive anyway, which is how a fix gets
into a broken cluster. One and two frontends have no spare: their owner consents by name.
"""

from __future__ import annotations

from starrocks_operator.decision import Finding
from starrocks_operator.membership import Quorum
from starrocks_operator.membership.quorum import OUTAGE_CONSENT
from starrocks_operator.membership.slots import Roster
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.observed import FrontendRow, FrontendView

__all__ = ["OUTAGE_CONSENT", "frontends_must_wait"]


def frontends_must_wait(
    cluster: StarRocksCluster, roster: Roster[FrontendRow], view: FrontendView | None
) -> Finding | None:
    """Why a changed template of the frontends must not be applied now; None if it may be."""
    pods = [slot for slot in roster.slots if slot.pod is not None]
    if not pods or (pods[-1].pod is not None and not pods[-1].pod.ready):
        return None
    trouble = _trouble(view)
    if not trouble or cluster.annotations.get(OUTAGE_CONSENT) == str(cluster.generation):
        return None
    return Finding(
        reason="QuorumWouldSuffer",
        message=f"The frontends' pods would be replaced one by one, and {trouble}. Nothing of the frontends is applied "
        "until that has changed. If the cluster may stand still meanwhile, set the annotation "
        f'{OUTAGE_CONSENT}: "{cluster.generation}".',
        degraded=True,
    )


def _trouble(view: FrontendView | None) -> str:
    if view is None or view.leader is None or view.frontends is None:
        return "no frontend leads, as far as is known"
    quorum = Quorum.of(view.frontends)
    joining = [row.host.split(".")[0] for row in view.frontends if not row.joined]
    if joining:
        return f"{', '.join(joining)} has not joined yet"
    if quorum.margin < 1:
        return (
            f"only {quorum.alive} of {quorum.registered} followers are alive: with one more down nothing can be written"
        )
    return ""
