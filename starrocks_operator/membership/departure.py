"""Taking a live frontend out: what stands in the way, and in which order it goes.

One at a time, the highest ordinal first. It goes only while all that are to stay are alive, all frontends see the
same members, and none is far behind the leader's journal: a follower that lags cannot take the place of one that
leaves. And not while Kubernetes replaces the frontends' pods: the next one may be taken away at any moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta

from starrocks_operator.decision import Finding
from starrocks_operator.membership.frontend_table import Case, FrontendSlot, Ground, Standing, Wish
from starrocks_operator.membership.outlook import Outlook
from starrocks_operator.membership.quorum import VOTING_ROLES, Order, Quorum, must_hand_over, removal_of
from starrocks_operator.membership.shrink import shrink
from starrocks_operator.membership.slots import Roster
from starrocks_operator.observed import FrontendRow, FrontendView, Outcome
from starrocks_operator.step import Step, StepKind

MAX_JOURNAL_LAG = 1000
"""Journal entries by which a live follower may trail; heartbeats tell of them every 5 s, so zero is never seen."""

HAND_OVER_PAUSE = timedelta(minutes=5)
"""A leader whose pod is younger was perhaps restarted to hand over, and leads again: it is not restarted once more."""


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
    obstacle = blocked or _unfinished(cases) or _rolling(roster, ground) or _views_differ(roster, ground.view)
    obstacle = obstacle or _lagging(row, ground.view)
    if obstacle:
        return Outlook(
            waits=(f"frontend {slot.name} is leaving, but not yet: {obstacle}",),
            findings=(_blocked(slot, obstacle),) if blocked else (),
        )
    leading = next((case.slot for case in cases if case.wish == Wish.LEAVING and _leads(case, ground)), None)
    heirs = sum(case.wish == Wish.LEAVING and case.standing == Standing.ALIVE for case in cases)
    spared = leading is slot and removal.margin > 0
    if leading is not None and not spared and must_hand_over(Quorum.of(rows), heirs) and _is_old(leading, ground):
        return Outlook(step=_restart(leading), waits=(f"frontend {leading.name} is leaving and leads: it hands over",))
    return Outlook(step=_first_step(slot, row, removal.order, roster), waits=(f"frontend {slot.name} is leaving",))


def _leads(case: Case, ground: Ground) -> bool:
    return case.slot.row is not None and case.slot.row.host == ground.view.leader


def _is_old(slot: FrontendSlot, ground: Ground) -> bool:
    made = slot.pod.created if slot.pod else None
    return made is not None and ground.now - made >= HAND_OVER_PAUSE


def _restart(slot: FrontendSlot) -> Step:
    return Step(
        kind=StepKind.DELETE_POD,
        target=slot.name,
        reason=f"Frontend {slot.name} is no longer wanted and leads. Its pod is made anew, on the same volume, so that "
        "another one leads: a leader cannot be dropped, and of four frontends none could be missed.",
        reversible=False,
        expects=(("uid", slot.pod.uid if slot.pod else ""),),
    )


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


def _rolling(roster: Roster[FrontendRow], ground: Ground) -> str:
    """Kubernetes is replacing pods, or may be about to; under OnDelete people do."""
    workload = ground.workload or {}
    spec, status = workload.get("spec") or {}, workload.get("status") or {}
    strategy = spec.get("updateStrategy") or {}
    wanted, first = status.get("updateRevision", ""), (strategy.get("rollingUpdate") or {}).get("partition") or 0
    if strategy.get("type") == "OnDelete" or not wanted:
        return ""
    if status.get("observedGeneration", 0) < ((workload.get("metadata") or {}).get("generation") or 0):
        return "Kubernetes has not taken note of the latest change of their StatefulSet"
    old = [s.name for s in roster.slots if s.placed and s.pod and s.ordinal >= first and s.pod.revision != wanted]
    return f"the frontends' pods are being replaced ({', '.join(old)} to come)" if old else ""


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
