"""The founding of a cluster, once: which cluster id is recorded, and whether a frontend has another one.

A frontend that starts alone with empty metadata founds a *new* cluster and answers happily, with no tables. So the
first cluster id that all frontends agree on is recorded (in status and in the marker ConfigMap), and any frontend
that shows another id later freezes every membership step (`SplitBrain`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from starrocks_operator.decision import Finding
from starrocks_operator.membership.pods import instant
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.claim_marks import CLUSTER_ID, claimed_ids
from starrocks_operator.objects.config_maps import MARKER_CLUSTER_ID, marker_data
from starrocks_operator.observed import Children, FrontendView


@dataclass(frozen=True, kw_only=True)
class Founding:
    """What is known of the founding.

    cluster_id: the recorded one, or the one to be recorded now; empty before the founding.
    at: when it was recorded; None if it is not yet in the status.
    finding: SplitBrain, if ids differ.
    """

    cluster_id: str = ""
    at: datetime | None = None
    finding: Finding | None = None


def marked_cluster_id(cluster: StarRocksCluster, children: Children) -> str:
    """The cluster id in the marker."""
    return str(marker_data(cluster, children).get(MARKER_CLUSTER_ID) or "")


def founding_of(cluster: StarRocksCluster, children: Children, view: FrontendView | None) -> Founding:
    """Compare what was recorded with what each frontend says of itself."""
    recorded = cluster.status.bootstrap if cluster.status and cluster.status.bootstrap else None
    noted = recorded.cluster_id if recorded else ""
    marked = marked_cluster_id(cluster, children)
    at = instant(recorded.at) if recorded and recorded.at else None
    shown = _shown_ids(view)
    if noted and marked and noted != marked:
        return Founding(cluster_id=noted, at=at, finding=_two_records(noted, marked))
    claimed = claimed_ids(cluster, children)
    known = noted or marked or (min(claimed) if len(claimed) == 1 else "")
    if not known and claimed:
        return Founding(finding=_several_claimed(claimed))
    if finding := _split(known, shown):
        return Founding(cluster_id=known, at=at, finding=finding)
    if not known and view is not None and view.leader is not None and len(set(shown.values())) == 1:
        known = next(iter(shown.values()))
    return Founding(cluster_id=known, at=at)


def _shown_ids(view: FrontendView | None) -> dict[str, str]:
    """Each answering frontend's cluster id, by pod; the leader's own rows under the leader's host."""
    if view is None:
        return {}
    shown = {answer.pod: row.cluster_id for answer in view.answers for row in answer.rows if row.cluster_id}
    if view.leader is not None and view.frontends and view.frontends[0].cluster_id:
        shown[view.leader] = view.frontends[0].cluster_id
    return shown


def _split(known: str, shown: dict[str, str]) -> Finding | None:
    if known:
        strangers = {pod: cluster_id for pod, cluster_id in shown.items() if cluster_id != known}
        if not strangers:
            return None
        said = ", ".join(f"{pod} has {cluster_id}" for pod, cluster_id in sorted(strangers.items()))
        was = f"The cluster was founded with id {known}, but {said}."
    elif len(set(shown.values())) > 1:
        said = ", ".join(f"{pod} has {cluster_id}" for pod, cluster_id in sorted(shown.items()))
        was = f"The frontends do not belong to one cluster: {said}."
    else:
        return None
    return Finding(
        reason="SplitBrain",
        message=f"{was} No membership step is taken. Stop the frontend that founded a new cluster, delete its "
        "metadata volume and its pod, and it joins the old one.",
        blocks="membership",
        degraded=True,
    )


def _several_claimed(ids: set[str]) -> Finding:
    return Finding(
        reason="SplitBrain",
        message=f"The frontends' volumes belong to different clusters: {', '.join(sorted(ids))} (annotation "
        f"{CLUSTER_ID} of their claims). No membership step is taken. Keep the volumes of one of them.",
        blocks="membership",
        degraded=True,
    )


def _two_records(noted: str, marked: str) -> Finding:
    return Finding(
        reason="SplitBrain",
        message=f"Two cluster ids are recorded: {noted} in status.bootstrap, {marked} in the ConfigMap. No membership "
        "step is taken. Compare with SHOW FRONTENDS and correct the wrong one.",
        blocks="membership",
        degraded=True,
    )
