"""A backend that lost its volume, or the node that its volume is on: it comes back empty, under the same name.

By itself only if FE counts no tablet on it any more, having made every copy again elsewhere: then nothing can be lost.
Otherwise its owner names the very volume that may go; a word that names a volume counts for that one and never again.
Either way one at a time, a minority of the backends, with all others alive, and nothing else going on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from starrocks_operator.components import BE
from starrocks_operator.decision import Context, Finding
from starrocks_operator.membership import Outlook
from starrocks_operator.membership.named_loss import REPLACE, replacement_of
from starrocks_operator.membership.node_ground import backend_kind
from starrocks_operator.membership.node_table import NodeSlot
from starrocks_operator.membership.pods import instant
from starrocks_operator.membership.slots import Roster
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.observed import ComputeRow, FrontendView, Observed, Raw
from starrocks_operator.rollout.roll import Roll
from starrocks_operator.step import Step, StepKind
from starrocks_operator.storage.precious import CLAIM, places

LONG = timedelta(minutes=10)
"""So long a pod finds no node with its volume until its node counts as gone."""
FRESH = timedelta(seconds=30)

_ELSEWHERE = "volume node affinity conflict"
_TWO = 2


@dataclass(frozen=True, kw_only=True)
class _Case:
    """One backend. claims: those with its tablets first. lost: why its volume counts as lost; empty: it does not."""

    slot: NodeSlot
    row: ComputeRow | None
    pod: Raw | None
    claims: tuple[Raw, ...]
    lost: str
    named: bool

    @property
    def main(self) -> Raw:
        return self.claims[0]


def lost_of(
    cluster: StarRocksCluster,
    observed: Observed,
    context: Context,
    roster: Roster[ComputeRow],
    rolls: Mapping[str, Roll],
) -> Outlook:
    """What comes next for backends without a volume; nothing while FE has not been heard."""
    view, roll = observed.view, rolls.get("be")
    if view is None or view.leader is None or view.backends is None or roll is None:
        return Outlook()
    named = replacement_of(cluster)
    if not cluster.annotations.get(REPLACE) and not _anything_lost(observed, roster):
        return Outlook()
    cases = [_case(slot, observed, context, roll, named=named) for slot in roster.slots if slot.wanted]
    open_cases = [case for case in cases if case is not None and (case.lost or case.named)]
    outlook = Outlook()
    if cluster.annotations.get(REPLACE) and not any(case.named for case in open_cases):
        outlook = Outlook(findings=(_ignored(cluster),))
    for case in open_cases:
        why = _objection(case, view, observed, context, rolls)
        if cluster.spec.deletion_protection:
            why = why or "deletionProtection refuses to let its volume go"
        outlook = outlook.then(_refused(case, why, cluster) if why else _replaced(case))
    return outlook


def _anything_lost(observed: Observed, roster: Roster[ComputeRow]) -> bool:
    """A quick look that nearly always is enough."""
    claims = observed.children.of_kind("PersistentVolumeClaim")
    if any((claim.get("status") or {}).get("phase") == "Lost" for claim in claims):
        return True
    unready = (slot.name for slot in roster.slots if slot.pod is not None and not slot.pod.ready)
    return any(_homeless_since(observed.children.get("Pod", name)) for name in unready)


def _case(slot: NodeSlot, observed: Observed, context: Context, roll: Roll, *, named: tuple[str, str]) -> _Case | None:
    """None: its tablets are on no claim of its own."""
    templates = [item["metadata"]["name"] for item in (roll.live.get("spec") or {}).get("volumeClaimTemplates") or ()]
    found = places(BE, roll.live, context.properties.get("be") or {})
    precious = [place.volume for place in found if place.source == CLAIM and place.volume in templates]
    ordered = [*dict.fromkeys(precious), *(name for name in templates if name not in precious)]
    claims = [observed.children.get("PersistentVolumeClaim", f"{volume}-{slot.name}") for volume in ordered]
    present = tuple(claim for claim in claims if claim is not None)
    if not precious or not claims or claims[0] is None:
        return None
    pod = observed.children.get("Pod", slot.name)
    return _Case(
        slot=slot,
        row=slot.rows[0] if len(slot.rows) == 1 else None,
        pod=pod,
        claims=present,
        lost=_evidence(claims[0], pod, observed.now),
        named=named == (slot.name, str(claims[0]["metadata"].get("uid", ""))),
    )


def _evidence(claim: Raw, pod: Raw | None, now: datetime) -> str:
    if (claim.get("status") or {}).get("phase") == "Lost":
        return f"the volume behind claim {claim['metadata']['name']} is gone (it is Lost)"
    since = _homeless_since(pod)
    made = instant(claim["metadata"].get("creationTimestamp"))
    if since is None or made is None or made > since or now - since < LONG:
        return ""
    return f"since {since:%H:%M} UTC its pod finds no node that has its volume"


def _homeless_since(pod: Raw | None) -> datetime | None:
    """Since when no node that is there has the pod's volumes."""
    for condition in ((pod or {}).get("status") or {}).get("conditions") or ():
        unscheduled = condition.get("type") == "PodScheduled" and condition.get("status") == "False"
        if unscheduled and _ELSEWHERE in str(condition.get("message", "")):
            return instant(condition.get("lastTransitionTime"))
    return None


def _objection(case: _Case, view: FrontendView, observed: Observed, context: Context, rolls: Mapping[str, Roll]) -> str:
    """Why it is not to come back empty now, as a half sentence; empty: it may."""
    rows, row = view.backends or (), case.row
    if row is None or case.slot.pod is None:
        return "FE does not know it by its name, or its pod does not exist"
    dead = [other.host.split(".")[0] for other in rows if other is not row and not other.alive]
    if dead:
        return f"{', '.join(dead)} is not alive either"
    if len(rows) <= _TWO:
        return f"one of {len(rows)} backends is no minority"
    if any(other.decommissioned for other in rows) or context.wished.get("be") != context.live.get("be"):
        return "backends are leaving or coming"
    if any(roll.open for roll in rolls.values()):
        return "pods are being replaced"
    if observed.now - view.asked_at > FRESH:
        return "FE has not been heard just now"
    if case.lost and row.alive:
        return "FE still counts it as alive"
    return _copies(case, row, view, holds_tablets=backend_kind(context).holds_tablets)


def _copies(case: _Case, row: ComputeRow, view: FrontendView, *, holds_tablets: bool) -> str:
    """Whether there is another live copy of every tablet, as far as FE can tell; or its owner said what may go."""
    if not holds_tablets or row.tablets == 0:
        return ""
    counted = "an unknown number of" if row.tablets is None else str(row.tablets)
    health = view.health
    if not case.named:
        return f"FE counts {counted} tablets on it, and cannot tell whether each has a live copy elsewhere"
    if case.lost.endswith("(it is Lost)"):
        return ""  # what was on it is gone either way
    if health is None or health.fewest_copies is None:
        return "how many copies its tablets have is not known"
    if health.fewest_copies < _TWO:
        return "there are tables with replication_num 1"
    if row.alive and (health.unhealthy or health.clones or health.unhealthy is None):
        return "not every tablet is known to have another good copy"
    return ""


def _replaced(case: _Case) -> Outlook:
    """The claims first, the one with its tablets last; Kubernetes keeps them until the pod is gone, which is next."""
    slot, main = case.slot, case.main
    wait = f"backend {slot.name} comes back on an empty volume"
    since = _homeless_since(case.pod)
    others = [claim for claim in case.claims[1:] if since is not None and _made_before(claim, since)]
    going = [claim for claim in (*others, main) if not claim["metadata"].get("deletionTimestamp")]
    why = case.lost or f"its owner says so ({REPLACE})"
    facts = (("backend", case.row.id if case.row else ""),)
    if going:
        claim = going[0]["metadata"]
        reason = f"Backend {slot.name} gets an empty volume: {why}."
        return Outlook(step=_step(StepKind.DELETE_BACKEND_VOLUME, claim, reason, facts), waits=(wait,))
    if case.pod is not None and not case.pod["metadata"].get("deletionTimestamp"):
        reason = f"Backend {slot.name} gets an empty volume, and its pod is in the way: {why}."
        return Outlook(step=_step(StepKind.DELETE_POD, case.pod["metadata"], reason, facts), waits=(wait,))
    return Outlook(waits=(wait,))


def _made_before(claim: Raw, moment: datetime) -> bool:
    made = instant(claim["metadata"].get("creationTimestamp"))
    return made is not None and made <= moment


def _step(kind: StepKind, metadata: Mapping[str, Any], reason: str, facts: tuple[tuple[str, str], ...]) -> Step:
    uid = str(metadata.get("uid", ""))
    return Step(kind=kind, target=metadata["name"], reason=reason, reversible=False, expects=(("uid", uid), *facts))


def _refused(case: _Case, why: str, cluster: StarRocksCluster) -> Outlook:
    pod, uid = case.slot.name, case.main["metadata"].get("uid", "")
    if case.named:
        finding = Finding(
            reason="BackendReplacementHeld",
            message=f"Backend {pod} is to come back on an empty volume, as its owner says ({REPLACE}), and does not "
            f"yet: {why}.",
            degraded=bool(case.lost),
        )
        return Outlook(findings=(finding,), waits=(f"backend {pod} is not replaced yet: {why}",))
    command = f"kubectl -n {cluster.namespace} annotate --overwrite src {cluster.name} {REPLACE}={pod}@{uid}"
    finding = Finding(
        reason="BackendLost",
        message=f"Backend {pod} has lost its volume: {case.lost}. It is not replaced by itself: {why}. Bring the "
        "volume or its node back; or wait until FE has made its copies again elsewhere; or let it come back empty, "
        f"if what has no other copy may be lost: {command}",
        degraded=True,
    )
    return Outlook(findings=(finding,))


def _ignored(cluster: StarRocksCluster) -> Finding:
    text = cluster.annotations.get(REPLACE, "")[:80]
    return Finding(
        reason="BackendReplacementIgnored",
        message=f"The annotation {REPLACE} is {text!r}, and no backend has such a volume (any more). It has the form "
        "<pod>@<uid of its volume claim>; when it has done its work, take it off.",
        remark=True,
    )
