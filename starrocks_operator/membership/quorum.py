"""The arithmetic of frontends' quorum: what may be dropped or stopped without endangering the majority.

FE itself guards nothing but the leader: with one of three followers dead, DROP of the other live one is accepted and
ends the cluster. So every drop, and every pod of a frontend that is taken away, passes here first (invariant I1).

A live frontend can leave in two orders. Its pod goes first and it is dropped when it is dead: leadership moves by
itself, and until the drop all can be taken back; but meanwhile it is missed in the count. Or it is dropped first and
its pod goes at once: the count shrinks with it, but a leader cannot be dropped and a drop cannot be taken back. So
the pod goes first, unless that would leave no margin where the other order leaves some: from four followers to three.
A leader that is to leave there is restarted first: another one leads then, and it can be dropped.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from starrocks_operator.observed import FrontendRow

VOTING_ROLES = frozenset({"LEADER", "FOLLOWER", "MASTER"})

OUTAGE_CONSENT = "starrocks.com/accept-frontend-outage-at-generation"
"""Annotation: at this generation of the spec, the cluster may stand still when a frontend is missing."""


def majority(members: int) -> int:
    """How many of `members` voters must live."""
    return members // 2 + 1


@dataclass(frozen=True)
class Quorum:
    """The voters that are registered, and those that live.

    A voter that is registered and has not joined yet counts as registered and not alive: the careful reading.
    """

    registered: int
    alive: int

    @classmethod
    def of(cls, rows: Iterable[FrontendRow]) -> Quorum:
        voters = [row for row in rows if row.role in VOTING_ROLES]
        return cls(len(voters), sum(row.alive for row in voters))

    @property
    def margin(self) -> int:
        """How many more voters may die before nothing can be written. Negative: that is so already."""
        return self.alive - majority(self.registered)

    @property
    def words(self) -> str:
        """As the end of a sentence that begins "it would leave"."""
        return f"{self.alive} alive of {self.registered} frontends, and {majority(self.registered)} are needed"

    def missing(self, row: FrontendRow) -> Quorum:
        """After this frontend's process was stopped."""
        return self if row.role not in VOTING_ROLES else Quorum(self.registered, self.alive - row.alive)

    def without(self, row: FrontendRow) -> Quorum:
        """After this frontend was dropped."""
        if row.role not in VOTING_ROLES:
            return self
        return Quorum(self.registered - 1, self.alive - row.alive)


def objection_to_drop(row: FrontendRow, rows: Iterable[FrontendRow], *, leader: str | None) -> str:
    """Why this frontend must not be dropped now, as a sentence; empty if it may be."""
    rows = tuple(rows)
    now = Quorum.of(rows)
    after = now.without(row)
    if leader is None:
        return "no frontend leads, so none can be dropped"
    if row.host == leader or row.role in ("LEADER", "MASTER"):
        return "it leads, and a leader cannot be dropped"
    if after.registered < 1 or (row.role in VOTING_ROLES and now.registered <= 1):
        return "it is the only frontend"
    if now.margin < 0:
        return f"only {now.alive} of {now.registered} frontends are alive, which is no majority"
    if after.margin < 0:
        return f"it would leave {after.words}"
    return ""


class Order(StrEnum):
    """In which order a live frontend leaves."""

    POD_FIRST = "pod-first"
    DROP_FIRST = "drop-first"


@dataclass(frozen=True, kw_only=True)
class Removal:
    """How a live frontend is to leave. order: None if it must not; then objection says why.

    margin: the lowest on the way.
    """

    order: Order | None = None
    margin: int = 0
    objection: str = ""


def removal_of(row: FrontendRow, rows: Iterable[FrontendRow], *, leader: str | None) -> Removal:
    """The order in which this live frontend leaves, by the margin of live followers on the way."""
    now = Quorum.of(rows)
    if leader is None:
        return Removal(objection="no frontend leads")
    if now.margin < 0:
        return Removal(objection=f"only {now.alive} of {now.registered} frontends are alive, which is no majority")
    missed, gone = now.missing(row), now.without(row)
    if gone.registered < 1:
        return Removal(objection="it is the only frontend")
    drop_first = Removal(order=Order.DROP_FIRST, margin=gone.margin)
    pod_first = Removal(order=Order.POD_FIRST, margin=min(missed.margin, gone.margin))
    leads = row.host == leader or row.role in ("LEADER", "MASTER")
    spares = not leads and pod_first.margin <= 0 < drop_first.margin
    # Where the pod may not go first, a drop may do: three alive of four, and one of them leaves.
    saves = not leads and pod_first.margin < 0 <= drop_first.margin
    chosen = drop_first if spares or saves else pod_first
    return chosen if chosen.margin >= 0 else Removal(objection=f"it would leave {missed.words}")


def must_hand_over(now: Quorum, leaving: int) -> bool:
    """Whether a leader among so many that leave gives its lead away: now, or one frontend later, only a drop would
    leave a margin. From five on a restart leaves one, too; so it is done then, and not later at four."""
    ahead = range(now.registered, now.registered - min(leaving, 2), -1)
    return any(count - 1 - majority(count) <= 0 < count - 1 - majority(count - 1) for count in ahead)
