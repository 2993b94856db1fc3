"""How many frontends there shall be: the spec's wish, unless it cannot be carried out, or not yet.

A group of followers cannot be scaled in to one, so that wish is refused; nor to two, of which neither may be missed,
unless the owner consents by name. And the StatefulSet does not grow into an ordinal whose volume still holds the
metadata of a dropped member.
"""

from __future__ import annotations

from collections.abc import Mapping

from starrocks_operator.decision import Finding
from starrocks_operator.membership.frontend_table import DROPPED
from starrocks_operator.membership.lost_volume import meta_claim
from starrocks_operator.membership.memory import Memory
from starrocks_operator.membership.quorum import OUTAGE_CONSENT
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.names import pod_name
from starrocks_operator.observed import Observed, Raw

FEWEST_FOLLOWERS, FEWEST_SAFE = 2, 3
"""To which a group of several can be scaled in; and so that one of them may still be missed."""


def is_refused(cluster: StarRocksCluster, live: int | None) -> bool:
    """Whether so few frontends as the spec asks for cannot be had any more, or not without consent."""
    if cluster.spec.fe is None or live is None or cluster.spec.fe.replicas >= live:
        return False
    consented = cluster.annotations.get(OUTAGE_CONSENT) == str(cluster.generation)
    return cluster.spec.fe.replicas < (FEWEST_FOLLOWERS if consented else FEWEST_SAFE) and live >= FEWEST_FOLLOWERS


def refusal(cluster: StarRocksCluster, live: int | None) -> Finding | None:
    """Said whenever the wish is refused."""
    spec = cluster.spec.fe
    if spec is None or not is_refused(cluster, live):
        return None
    everybody = "Both" if live == FEWEST_FOLLOWERS else f"All {live}"
    choices = "3" if live == FEWEST_SAFE else f"{FEWEST_SAFE}, or to {live}"
    keep = f"{everybody} stay. Set replicas to {choices} to leave it as it is"
    if spec.replicas < FEWEST_FOLLOWERS:
        message = (
            f"The spec asks for {spec.replicas} frontend, and there are {live}: a group of followers cannot be scaled "
            f"in to one, since of two neither may be missed for a moment. {keep}; for a single frontend, restore a "
            "backup into a new cluster."
        )
    else:
        message = (
            f"The spec asks for {spec.replicas} frontends, and there are {live}: of two neither may be missed for a "
            f"moment, so with the first failure on the way or after it nothing can be written. {keep}. If the cluster "
            f'may stand still, set the annotation {OUTAGE_CONSENT}: "{cluster.generation}".'
        )
    return Finding(reason="ScaleInRefused", message=message)


def known_frontends(memory: Memory) -> dict[str, str]:
    """By pod, the member name that FE last had for it; of dropped ones, too."""
    return {pod: member.id for pod, member in memory.frontends.items() if member.id}


def growable_to(
    cluster: StarRocksCluster,
    observed: Observed,
    workload: Raw | None,
    *,
    live: int,
    wished: int,
    component: str = "fe",
) -> int:
    """The replicas that the StatefulSet of a group may have now: up to the first ordinal that must get a new volume.

    While nobody leads, what FE last said counts: a member that comes back may be the one that makes the majority. If
    that is not known either, any may be it: on the metadata of a dropped one a frontend does not start, and no more.
    """
    view = observed.view
    heard = view is not None and view.leader is not None and view.frontends is not None
    listed = {row.host.split(".")[0] for row in (view.frontends or () if heard and view else ())}
    known = Memory.of(cluster, observed.children).frontends
    if not heard and not known:
        return max(wished, live)
    listed |= set() if heard else {pod for pod, member in known.items() if member.id and member.state != DROPPED}
    configuration = observed.configurations.get(component)
    meta_dir = (configuration.properties if configuration else {}).get("meta_dir", "")
    claims: Mapping[str, Raw] = {
        raw["metadata"]["name"]: raw for raw in observed.children.of_kind("PersistentVolumeClaim")
    }
    for ordinal in range(live, wished):
        pod = pod_name(cluster, component, ordinal)
        if meta_claim(pod, workload, meta_dir=meta_dir) in claims and pod not in listed:
            return ordinal
    return max(wished, live)
