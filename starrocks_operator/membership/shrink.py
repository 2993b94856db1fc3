"""Taking the highest ordinal away from a StatefulSet: the step that cannot be taken back, for every component.

Kubernetes removes ordinals from the top only. So one shrinks by one, when the member of the top ordinal may go, and
the step names that member: if another one stands there by then, it is not the same step any more.
"""

from __future__ import annotations

from starrocks_operator.membership.slots import R, Roster, Slot
from starrocks_operator.step import Step, StepKind


def top_slot(roster: Roster[R]) -> Slot[R] | None:
    """The slot that the StatefulSet would lose next; None: it has no replicas."""
    return next((slot for slot in roster.slots if slot.ordinal == roster.live - 1), None)


def shrink(roster: Roster[R], slot: Slot[R], *, member: str, reason: str) -> Step:
    """Shrink by `slot`, which is the top one. member: FE's name or id for it, or `absent`."""
    return Step(
        kind=StepKind.SHRINK_STATEFUL_SET,
        target=slot.name.removesuffix(f"-{slot.ordinal}"),
        reason=reason,
        reversible=False,
        expects=(("replicas", str(roster.live)), ("to", str(slot.ordinal)), ("pod", slot.name), ("member", member)),
    )
