"""Gates on frontends: a majority lives on without the one that goes (I1), and those that stay know all it knows."""

from __future__ import annotations

from starrocks_operator.decision import Finding
from starrocks_operator.membership import Quorum
from starrocks_operator.membership.departure import MAX_JOURNAL_LAG
from starrocks_operator.membership.quorum import OUTAGE_CONSENT, VOTING_ROLES
from starrocks_operator.observed import FrontendRow
from starrocks_operator.rollout.gates.gate import Gate
from starrocks_operator.rollout.scene import Scene


def quorum_after_stop(scene: Scene) -> str:
    if scene.roll.component != "fe" or _consented(scene):
        return ""
    view = scene.view
    if view is None or view.leader is None or view.frontends is None:
        return "no frontend leads, as far as is known"
    now, row = Quorum.of(view.frontends), scene.row
    after = now.missing(row) if isinstance(row, FrontendRow) else Quorum(now.registered, now.alive - 1)
    if after.margin >= 0:
        return ""
    return f"only {now.alive} of {now.registered} followers are alive: with one more down nothing can be written"


def would_suffer(scene: Scene, trouble: str) -> Finding:
    return Finding(
        reason="QuorumWouldSuffer",
        message=f"Frontend {scene.target.name} is to be replaced, and {trouble}. No pod of the frontends is replaced "
        "until that has changed. If the cluster may stand still meanwhile, set the annotation "
        f'{OUTAGE_CONSENT}: "{scene.cluster.generation}".',
        degraded=True,
    )


def all_joined(scene: Scene) -> str:
    rows = (scene.view.frontends if scene.view else None) or ()
    if not scene.frontend or _consented(scene):
        return ""
    joining = [row.host.split(".")[0] for row in rows if not row.joined]
    return f"{joining[0]} has not joined yet" if joining else ""


def _consented(scene: Scene) -> bool:
    return scene.cluster.annotations.get(OUTAGE_CONSENT) == str(scene.cluster.generation)


def journal_lag(scene: Scene) -> str:
    """A follower that trails cannot take over from the one that goes."""
    if scene.roll.component != "fe":
        return ""
    rows = (scene.view.frontends if scene.view else None) or ()
    newest = max((row.replayed_journal_id for row in rows), default=0)
    for row in rows:
        behind = newest - row.replayed_journal_id
        if row.alive and row.role in VOTING_ROLES and row != scene.row and behind > MAX_JOURNAL_LAG:
            return f"{row.host.split('.')[0]} is {behind} journal entries behind"
    return ""


FRONTENDS = (
    Gate(name="QuorumAfterStop", objection=quorum_after_stop, finding=would_suffer),
    Gate(name="FrontendsJoined", objection=all_joined),
    Gate(name="JournalLag", objection=journal_lag),
)
