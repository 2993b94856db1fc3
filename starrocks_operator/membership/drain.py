"""A node on its way out: whether it may be told to go, what it waits for, and when that takes too long.

Whatever stands in the way is said before anything moves. Once it was told, nothing is forced and nothing times out:
a node that gets nowhere is shown with the cause that FE's own numbers suggest, until a person acts or it goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from starrocks_operator.decision import Finding
from starrocks_operator.membership.memory import Progress
from starrocks_operator.membership.named_loss import given_up
from starrocks_operator.membership.node_table import SCHEDULING, Case, Ground, Kind, Move, Standing
from starrocks_operator.membership.outlook import Outlook
from starrocks_operator.membership.slots import Roster
from starrocks_operator.observed import ComputeRow
from starrocks_operator.step import Step

GOING = frozenset({Standing.DRAINING, Standing.DRAINED, Standing.GIVEN_UP, Standing.FOREIGN, Standing.FOREIGN_DRAINED})
GIBIBYTE = 2**30
SOONEST, PATIENT, IDLE = 2.0, 33.0, 50.0
"""Seconds between two looks at nodes that leave; the last where a person has to act, and FE is asked for the cause.
With six statements a look, then nine, FE is asked fewer than 12 a minute."""


def order(case: Case, kind: Kind, ground: Ground, *, objection: Sequence[Finding]) -> Outlook:
    """The step that tells FE that the node leaves, unless something speaks against it."""
    name, row = f"{kind.word} {case.slot.name}", case.row
    if row is None or kind.order is None:  # not reachable through the tables; said for the type checker
        return Outlook()
    if objection:
        return Outlook(waits=(f"{name} is to leave, but not yet: see {objection[0].reason}",), pace=IDLE)
    if kind.holds_tablets and ground.settings is None:
        return Outlook(waits=(f"{name} is to leave: FE's settings have not been read yet",))
    if not kind.holds_tablets and ground.blacklists is None:
        return Outlook(waits=(f"{name} is to leave: the frontends have not been asked for their blacklists yet",))
    blind = kind.holds_tablets and ground.replication is None
    alone = ", and judges by itself, as it does not tell how many replicas tables have" if blind else ""
    gives = "gives its tablets to the others" if kind.holds_tablets else "gets no new queries"
    expects = (("id", row.id), ("decommissioned", "false")) if kind.holds_tablets else (("id", row.id),)
    return Outlook(
        step=Step(
            kind=kind.order,
            target=row.target,
            reason=f"{name.capitalize()} is no longer wanted: it {gives}.",
            reversible=True,
            expects=expects,
        ),
        waits=(f"{name} is to leave: FE is told so{alone}",),
    )


def cancel(case: Case, kind: Kind) -> Outlook:
    """The step that takes our order back."""
    name, row = f"{kind.word} {case.slot.name}", case.row
    if row is None or kind.cancel is None:  # not reachable through the tables; said for the type checker
        return Outlook()
    expects = (("id", row.id), ("decommissioned", "true")) if kind.holds_tablets else (("id", row.id),)
    return Outlook(
        step=Step(
            kind=kind.cancel,
            target=row.target,
            reason=f"{name.capitalize()} is wanted again: it stays.",
            reversible=True,
            expects=expects,
        ),
        waits=(f"{name} was leaving and is wanted again: FE is told so",),
    )


def watch(case: Case, kind: Kind, ground: Ground) -> Outlook:
    name, row = f"{kind.word} {case.slot.name}", case.row
    if row is None:
        return Outlook()
    if not kind.holds_tablets:
        words = f"{name} is leaving: {row.running_queries or 0} queries still run on it"
        return Outlook(waits=(words,), pace=_bounded((ground.now - _began(row, ground)).total_seconds() / 2))
    if row.tablets is None:
        return Outlook(waits=(f"{name} is leaving: FE does not say how many tablets are left on it",))
    progress = ground.memory.progress(row, ground.now)
    words = f"{name} is leaving: {progress.left} tablets are left on it"
    stalled = ground.now - progress.at >= ground.stall
    if progress.per_minute and not stalled:
        words += f", about {progress.per_minute} go each minute"
    if progress.end and progress.end > ground.now and not stalled:
        words += f", until about {progress.end:%H:%M} UTC"
    return Outlook(waits=(words,), pace=IDLE if stalled else _pace(progress, ground.now))


def _pace(progress: Progress, now: datetime) -> float:
    """At its estimated end; without one, the more rarely the longer nothing moves."""
    if progress.end and progress.end > now:
        return _bounded((progress.end - now).total_seconds() + 0.5)
    return _bounded((now - progress.at).total_seconds() / 2)


def _bounded(seconds: float) -> float:
    return min(PATIENT, max(SOONEST, seconds))


def _began(row: ComputeRow, ground: Ground) -> datetime:
    return ground.memory.leaving_since(row) or ground.now


def forfeit(case: Case, kind: Kind, ground: Ground) -> Outlook:
    """The step by which FE forgets it and what is left on it: when its pod is gone, and FE sees that, too."""
    name, row = f"{kind.word} {case.slot.name}", case.row
    if row is None or kind.forfeit is None:  # not reachable through the tables; said for the type checker
        return Outlook()
    if row.alive:
        return Outlook(waits=(f"{name} is given up: FE still counts it as alive",))
    return Outlook(
        step=Step(
            kind=kind.forfeit,
            target=row.target,
            reason=f"{name.capitalize()} is given up with {row.tablets} tablets on it, as its owner says.",
            reversible=False,
            expects=(
                ("id", row.id),
                ("alive", "false"),
                ("decommissioned", "true"),
                ("consent", f"{ground.named.pod}@{ground.named.generation}"),
            ),
        ),
        waits=(f"{name} is given up: FE is told to forget it, and {row.tablets} tablets with it",),
    )


def drained_word(case: Case, kind: Kind) -> str:
    if case.standing == Standing.GIVEN_UP and case.row:
        return f"is given up with {case.row.tablets} tablets on it, as its owner says"
    if kind.holds_tablets:
        return "holds no tablet any more"
    return "has had its time to finish its queries" if case.row and case.row.running_queries else "runs no query"


def objection_to_leaving(
    cases: Sequence[Case], roster: Roster[ComputeRow], kind: Kind, ground: Ground
) -> tuple[Finding, ...]:
    """Why those that are to be told to leave may not be, judged for all of them at once, before anything moves."""
    leaving = [case.row for case in cases if case.move == Move.ORDER and case.row is not None]
    if not leaving or not kind.holds_tablets:
        return ()
    if (ground.settings or {}).get(SCHEDULING) == "0":
        return (_held(),)
    staying = [row for row in (*(case.row for case in cases if _stays(case)), *roster.foreign) if row and _serves(row)]
    dead = [case.slot.name for case in cases if _stays(case) and case.row and not case.row.alive]
    refusal = _refusal(leaving, staying, ground.replication, dead=dead)
    if not refusal:
        return ()
    names = ", ".join(case.slot.name for case in cases if case.move == Move.ORDER)
    return (Finding(reason="ScaleInRefused", message=f"Scaling in by {names} is not begun: {refusal}"),)


def _stays(case: Case) -> bool:
    return case.slot.wanted and case.standing not in GOING


def _serves(row: ComputeRow) -> bool:
    return row.alive and not row.decommissioned


def _refusal(
    leaving: Sequence[ComputeRow], staying: Sequence[ComputeRow], replication: int | None, *, dead: Sequence[str]
) -> str:
    tablets = sum(row.tablets or 0 for row in leaving)
    if tablets and not staying:
        return (
            f"no backend would be left that could take their {tablets} tablets. Keep at least one, or drop the tables "
            "first (and empty the recycle bin: catalog_trash_expire_second)."
        )
    if replication is not None and tablets and len(staying) < replication:
        left, keep = f"{len(staying)} would be left", f"Keep {replication}"
        if dead:
            left = f"{len(staying)} would be left alive ({', '.join(dead)} {'is' if len(dead) == 1 else 'are'} dead)"
            keep = "Bring back what is dead, keep more"
        return (
            f"{left}, and there are tables with replication_num {replication}. {keep}, or lower it first: "
            'ALTER TABLE … SET ("default.replication_num" = …) and the same for each partition.'
        )
    used, free = [row.used_bytes for row in leaving], [row.free_bytes for row in staying]
    if tablets and None not in used and None not in free:
        needs, has = sum(size or 0 for size in used), sum(size or 0 for size in free)
        if needs > has:
            return (
                f"they hold {needs / GIBIBYTE:.1f} GiB, and those that stay have {has / GIBIBYTE:.1f} GiB left. Grow "
                "their volumes, or delete data first."
            )
    return ""


def _held() -> Finding:
    return Finding(
        reason="ScaleInHeld",
        message=f"The scale-in has not begun: FE moves no tablets at the moment ({SCHEDULING} is 0). It begins when "
        f'that is back: ADMIN SET FRONTEND CONFIG ("{SCHEDULING}" = "10000").',
    )


def stall(case: Case, cases: Sequence[Case], kind: Kind, ground: Ground) -> Finding | None:
    """A node from which no tablet went for long. Nothing is done about it but to say so."""
    row = case.row
    if row is None or not kind.holds_tablets or case.slot.wanted:
        return None
    progress = ground.memory.progress(row, ground.now)
    if case.standing == Standing.GIVEN_UP:
        return given_up(case.slot.name, progress)
    if ground.now - progress.at < ground.stall:
        return None
    known = SCHEDULING in (ground.settings or {})  # what is named does not count before, so nobody is invited to
    way_out = f" {ground.named.way_out(case.slot.name)}" if known else ""
    return Finding(
        reason="ScaleInStalled",
        message=f"Backend {case.slot.name} is leaving, and since {progress.at:%Y-%m-%d %H:%M} UTC no tablet has left "
        f"it ({progress.left} are there): {_cause(row, cases, ground)} Nothing is forced; it goes on when this is "
        f"resolved, and setting replicas back takes it back.{way_out}",
        degraded=True,
    )


def _cause(row: ComputeRow, cases: Sequence[Case], ground: Ground) -> str:
    """The likeliest, by what FE shows."""
    if (ground.settings or {}).get(SCHEDULING) == "0":
        return f"FE moves no tablets ({SCHEDULING} is 0)."
    staying = [case.row for case in cases if case.row and _stays(case) and _serves(case.row)]
    dead = [case.slot.name for case in cases if case.row and not case.row.alive]
    if ground.replication is not None and len(staying) < ground.replication:
        return f"{len(staying)} backends would be left, and there are tables with replication_num {ground.replication}."
    if not row.alive:
        return "it is dead itself, and FE has no other good copy of these tablets. It should come back."
    if dead:
        return f"{', '.join(dead)} is dead, so that there are too few backends, or too few good copies."
    if staying and all(other.free_bytes is not None and not other.free_bytes for other in staying):
        return "the disks of those that stay are full."
    if SCHEDULING not in (ground.settings or {}):
        return "the cause is not known yet, as FE's settings have not been read since."
    return (
        "FE shows no cause. Tablets in the recycle bin stay until catalog_trash_expire_second is over; see also SHOW "
        "PROC '/cluster_balance' and labels or locations that no other backend has."
    )
