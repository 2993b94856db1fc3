"""A member that is to be there and is not: what is said while it is awaited, and the step that adds it.

The same for every kind of member; only its word and its statement differ.
"""

from __future__ import annotations

from starrocks_operator.membership.outlook import Outlook
from starrocks_operator.membership.slots import R, Slot
from starrocks_operator.observed import FrontendRow
from starrocks_operator.step import Step, StepKind


def add(slot: Slot[R], *, kind: StepKind, word: str, within: tuple[tuple[str, str], ...] = ()) -> Outlook:
    """Adds one whose pod runs and that did not register itself, or is not meant to; ``within`` says where, if not in
    the default place."""
    return Outlook(
        step=Step(
            kind=kind,
            target=slot.target,
            reason=f"{word.capitalize()} {slot.name} runs and did not register itself.",
            reversible=True,
            expects=(("role", "absent"), *within),
        ),
        waits=(f"{word} {slot.name} has not joined: it is being added",),
    )


def frontend_wait(slot: Slot[FrontendRow], *, word: str, wanted: bool, dead: bool) -> str:
    """What is waited for of a frontend, with a vote or without."""
    if not wanted:
        return f"{word} {slot.name} is leaving: {slot.pod_words}, and FE still counts it as alive"
    if dead:
        return f"{word} {slot.name} is not alive: {slot.pod_words}"
    error = slot.row.error if slot.row else ""
    return f"{word} {slot.name} has not joined: {slot.pod_words}" + (f" (FE says: {error})" if error else "")
