"""Claims that no pod has any more: of a volume that was wanted for a while. They stay, and their owner is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from starrocks_operator.decision import Finding
from starrocks_operator.membership import Outlook
from starrocks_operator.objects.metadata import OWNER_LABEL
from starrocks_operator.observed import Observed, Raw
from starrocks_operator.rollout.roll import Roll
from starrocks_operator.storage.added import claims_in

MOST = 10
"""So many are named."""


def left_of(observed: Observed, rolls: Mapping[str, Roll]) -> Outlook:
    """What is said of them."""
    known = {
        roll.name: {claim.name for stateful_set in (roll.live, roll.desired) for claim in claims_in(stateful_set)}
        | {volume for pod in roll.pods for volume in pod.pod.claims}
        for roll in rolls.values()
    }
    names = list(_left(observed.children.of_kind("PersistentVolumeClaim"), known))
    if not names:
        return Outlook()
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    finding = Finding(
        reason="VolumesLeft",
        message=f"No pod has these volumes, and the spec asks for none of them: {', '.join(names[:MOST])}{more}. What "
        "is on them stays. Delete the claims when you do not need it.",
        remark=True,
    )
    return Outlook(findings=(finding,))


def _left(claims: tuple[Raw, ...], known: Mapping[str, set[str]]) -> Iterator[str]:
    """known: the volumes of each StatefulSet."""
    for claim in claims:
        metadata = claim["metadata"]
        owner = str((metadata.get("labels") or {}).get(OWNER_LABEL, ""))
        volume, found, ordinal = metadata["name"].rpartition(f"-{owner}-")
        ours = owner in known and found and ordinal.isdecimal() and not metadata.get("deletionTimestamp")
        if ours and volume not in known[owner]:
            yield metadata["name"]
