"""How many frontends there shall be: the spec's wish, unless it cannot be carried out, or not yet.

A group of followers cannot be scaled in to one, so that wish is refused. And the StatefulSet does not grow into an
ordinal whose volume still holds the metadata of a dropped member.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from starrocks_operator.decision import Finding
from starrocks_operator.membership.frontend_table import DROPPED
from starrocks_operator.membership.lost_volume import meta_claim
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.model.status import Member
from starrocks_operator.objects.names import pod_name
from starrocks_operator.observed import Observed, Raw

FEWEST_FOLLOWERS = 2
"""To which a group of several can be scaled in."""


def is_refused(replicas: int, live: int | None) -> bool:
    """Whether so few frontends cannot be had any more."""
    return live is not None and replicas < FEWEST_FOLLOWERS <= live


def refusal(cluster: StarRocksCluster, live: int | None) -> Finding | None:
    """Said whenever the wish is refused."""
    spec = cluster.spec.fe
    if spec is None or live is None or not is_refused(spec.replicas, live):
        return None
    return Finding(
        reason="ScaleInRefused",
        message=f"The spec asks for {spec.replicas} frontend, and there are {live}: a group of followers cannot be "
        f"scaled in to one, since of two neither may be missed for a moment. All {live} stay. Set replicas to 3, or to "
        f"{live} to leave it as it is; for a single frontend, restore a backup into a new cluster.",
    )


def known_frontends(cluster: StarRocksCluster) -> dict[str, str]:
    """By pod, the member name that FE last had for it, as the status tells; of dropped ones, too."""
    return {member.name: member.id for member in _frontends(cluster) if member.name and member.id}


def _listed_last(cluster: StarRocksCluster) -> set[str]:
    """The pods whose members FE listed when it was last heard."""
    return {member.name for member in _frontends(cluster) if member.id and member.state != DROPPED}


def _frontends(cluster: StarRocksCluster) -> Iterator[Member]:
    members = cluster.status.members if cluster.status else ()
    return (member for member in members if member.kind == "frontend")


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

    While nobody leads, what FE last said counts: a member that comes back may be the one that makes the majority.
    """
    view = observed.view
    heard = view is not None and view.leader is not None and view.frontends is not None
    listed = {row.host.split(".")[0] for row in (view.frontends or () if heard and view else ())}
    listed |= set() if heard else _listed_last(cluster)
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
