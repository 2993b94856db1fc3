"""The arithmetic of frontends' quorum: what may be dropped without endangering the majority.

FE itself guards nothing but the leader: with one of three followers dead, DROP of the other live one is accepted and
ends the cluster. So every drop passes here first (invariant I1).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from starrocks_operator.observed import FrontendRow

VOTING_ROLES = frozenset({"LEADER", "FOLLOWER", "MASTER"})


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
        return (
            f"it would leave {after.alive} alive of {after.registered} frontends, "
            f"and {majority(after.registered)} are needed"
        )
    return ""
