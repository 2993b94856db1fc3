"""Taking a live frontend out: what stands in the way, and in which order it goes.

One at a time, the highest ordinal first. It goes only while all that are to stay are alive, all frontends see the
same members, and none is far behind the leader's journal: a follower that lags cannot take the place of one that
leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from starrocks_operator.decision import Finding
from starrocks_operator.membership.frontend_table import Case, FrontendSlot, Ground, Standing, Wish
from starrocks_operator.membership.outlook import Outlook
from starrocks_operator.membership.quorum import VOTING_ROLES, Order, removal_of
from starrocks_operator.membership.shrink import shrink
from starrocks_operator.membership.slots import Roster
from starrocks_operator.observed import FrontendRow, FrontendView, Outcome
from starrocks_operator.step import Step, StepKind

MAX_JOURNAL_LAG = 1000
"""Journal entries by which a live follower may trail; heartbeats tell of them every 5 s, so zero is never seen."""


def leave(slot: FrontendSlot, cases: Sequence[Case], roster: Roster[FrontendRow], ground: Ground) -> Outlook:
    """The first step of a live frontend's departure, or what it waits for."""
    row = slot.row
    if row is None:  # not reachable through the table; said for the type checker
        return Outlook()
    if slot.ordinal != roster.live - 1:
        return Outlook(waits=(f"frontend {slot.name} is leaving when those with higher ordinals have left",))
    rows = ground.view.frontends or ()
    removal = removal_of(row, rows, leader=ground.view.leader)
    blocked = _staying(cases, roster) or removal.objection
    obstacle = blocked or _unfinished(cases) or _views_differ(roster, ground.view) or _lagging(row, ground.view)
    if obstacle:
        return Outlook(
            waits=(f"frontend {slot.name} is leaving, but not yet: {obstacle}",),
            findings=(_blocked(slot, obstacle),) if blocked else (),
        )
    return Outlook(step=_first_step(slot, row, removal.order, roster), waits=(f"frontend {slot.name} is leaving",))


def _first_step(slot: FrontendSlot, row: FrontendRow, order: Order | None, roster: Roster[FrontendRow]) -> Step:
    if order == Order.DROP_FIRST:
        return Step(
            kind=StepKind.DROP_FOLLOWER,
            target=row.target,
            reason=f"Frontend {slot.name} is no longer wanted. It is dropped before its pod goes: the other way round "
            "none could be spared in between.",
            reversible=False,
            expects=(("name", row.name), ("alive", "true"), ("role", "FOLLOWER")),
        )
    reason = f"Frontend {slot.name} is no longer wanted. Its pod goes; when it is dead, it is dropped."
    return shrink(roster, slot, member=row.name, reason=reason)


def release(slot: FrontendSlot, roster: Roster[FrontendRow]) -> Outlook:
    """Takes away the place of one that has no vote. If it was just dropped it still runs, cut off from the rest."""
    wait = f"frontend {slot.name} is leaving: its pod goes"
    if slot.ordinal != roster.live - 1:
        return Outlook(waits=(f"{wait} when those with higher ordinals have left",))
    member = "an observer only" if slot.rows else "no member any more"
    reason = f"Frontend {slot.name} is no longer wanted, and is {member}: its pod goes."
    return Outlook(
        step=shrink(roster, slot, member=slot.row.name if slot.row else "absent", reason=reason), waits=(wait,)
    )


def _staying(cases: Iterable[Case], roster: Roster[FrontendRow]) -> str:
    """A member that is to stay and is not alive; one that others run counts, too."""
    for case in cases:
        if case.wish == Wish.MEMBER and case.standing not in (Standing.ALIVE, Standing.OTHER_ROLE):
            return f"{case.slot.name} is to stay and is not alive ({case.slot.pod_words})"
    dead = [row.host for row in roster.foreign if row.role in VOTING_ROLES and not row.alive]
    return f"{dead[0]}, which is none of this cluster's pods, is not alive" if dead else ""


def _unfinished(cases: Iterable[Case]) -> str:
    """One that is on its way out already."""
    for case in cases:
        if case.wish == Wish.RELEASED and (case.slot.rows or case.slot.pod is not None):
            return f"{case.slot.name} has not left yet"
    return ""


def _views_differ(roster: Roster[FrontendRow], view: FrontendView) -> str:
    """Every live frontend must have answered, and know the same members as the leader, alive or dead as it does."""
    members = _members(view.frontends or ())
    answers = {answer.pod: answer for answer in view.answers}
    for slot in roster.slots:
        if not any(row.alive for row in slot.rows):
            continue
        answer = answers.get(slot.name)
        if answer is None or answer.outcome != Outcome.ANSWERED:
            return f"{slot.name} does not answer{f' ({answer.outcome})' if answer else ''}"
        if _members(answer.rows) != members:
            return f"{slot.name} does not see the same members as the leader"
    return ""


def _members(rows: Iterable[FrontendRow]) -> frozenset[tuple[str, bool]]:
    return frozenset((row.name, row.alive) for row in rows)


def _lagging(leaving: FrontendRow, view: FrontendView) -> str:
    """A live follower that stays and trails the leader's journal."""
    rows = view.frontends or ()
    newest = max((row.replayed_journal_id for row in rows), default=0)
    for row in rows:
        behind = newest - row.replayed_journal_id
        if row.alive and row.role in VOTING_ROLES and row.name != leaving.name and behind > MAX_JOURNAL_LAG:
            return f"{row.host.split('.')[0]} is {behind} journal entries behind"
    return ""


def _blocked(slot: FrontendSlot, obstacle: str) -> Finding:
    return Finding(
        reason="ScaleInBlocked",
        message=f"Frontend {slot.name} is to leave, and does not: {obstacle}. With one fewer alive, the next failure "
        "could stop the cluster.",
    )
