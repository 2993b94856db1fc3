"""Volumes that hold the metadata of a dropped member: no frontend can start on one, so it is replaced.

FE never lets a dropped member in again as long as it comes with its old metadata. So before an ordinal returns, its
claim is deleted, and Kubernetes makes a new one: only while FE does not list the member, in nobody's view.
"""

from __future__ import annotations

from starrocks_operator.membership.frontend_table import FrontendSlot, Ground
from starrocks_operator.membership.hosts import is_address
from starrocks_operator.membership.lost_volume import CLOCK_MARGIN, added_at, born_at, meta_born_at, meta_claim
from starrocks_operator.membership.outlook import Outlook
from starrocks_operator.membership.slots import Roster
from starrocks_operator.observed import FrontendRow, FrontendView, Outcome, Raw
from starrocks_operator.step import Step, StepKind


def was_dropped(slot: FrontendSlot, ground: Ground) -> bool:
    """Whether what this slot would start on is the metadata of a member that FE does not know any more.

    Without a place in the StatefulSet, any claim of its metadata is a left one. With one, it may be its first: then
    FE must have known it as a member since its volume was made.
    """
    if not slot.rows and slot.pod is None and not slot.placed:
        return ground.workload is not None and _claim_of(slot, ground) is not None
    return slot.pod is not None and holds_old_metadata(slot, ground)


def holds_old_metadata(slot: FrontendSlot, ground: Ground) -> bool:
    """Whether FE does not list this slot, did list it, and its pod stands on the volume of that time, or would."""
    joined = added_at(ground.known.get(slot.name, ""))
    if slot.rows or joined is None or not (slot.placed or slot.pod is not None):
        return False
    if slot.pod is not None:
        born = meta_born_at(slot.pod, ground.claims, ground.workload, meta_dir=ground.meta_dir)
    else:
        born = born_at(_claim_of(slot, ground))
    return born is not None and born <= joined + CLOCK_MARGIN


def renew(slot: FrontendSlot, roster: Roster[FrontendRow], ground: Ground) -> Outlook:
    """The claim first, which Kubernetes keeps until its pod is gone; then the pod, if there still is one."""
    if seer := _listed_by(slot, roster, ground.view):
        return Outlook(waits=(f"frontend {slot.name} returns when {seer} has forgotten its old member",))
    # FE may still take one for alive that has just died, and whose address no pod has any more.
    nameless = next((row for row in roster.foreign if not row.alive or is_address(row.host)), None)
    if nameless is not None:
        which = nameless.host if nameless.alive else f"the dead {nameless.host}"
        return Outlook(waits=(f"frontend {slot.name} returns when {which} is known not to be it",))
    wait = f"frontend {slot.name} returns: it was dropped, so its metadata volume is replaced"
    claim = _claim_of(slot, ground)
    if claim is not None and not claim["metadata"].get("deletionTimestamp"):
        name = claim["metadata"]["name"]
        return Outlook(
            step=_delete(StepKind.DELETE_META_VOLUME, slot, name, claim["metadata"].get("uid", "")), waits=(wait,)
        )
    if slot.pod is not None and not slot.pod.deleting:
        return Outlook(step=_delete(StepKind.DELETE_POD, slot, slot.name, slot.pod.uid), waits=(wait,))
    return Outlook(waits=(wait,))


def _delete(kind: StepKind, slot: FrontendSlot, target: str, uid: str) -> Step:
    return Step(
        kind=kind,
        target=target,
        reason=f"Frontend {slot.name} is wanted again. It was dropped, and FE never takes a member back with the "
        "metadata it had: it gets an empty volume and is added anew.",
        reversible=False,
        expects=(("uid", uid),),
    )


def _claim_of(slot: FrontendSlot, ground: Ground) -> Raw | None:
    return ground.claims.get(meta_claim(slot.name, ground.workload, meta_dir=ground.meta_dir))


def _listed_by(slot: FrontendSlot, roster: Roster[FrontendRow], view: FrontendView) -> str:
    """A member, other than itself, that still lists the host; empty: none."""
    members = {other.name for other in roster.slots if other.rows}
    for answer in view.answers:
        if answer.outcome != Outcome.ANSWERED or answer.pod not in members:
            continue
        if any(row.host.lower() == slot.host.lower() for row in answer.rows):
            return answer.pod
    return ""
