"""What the status remembers of members on their way out: who ordered it, since when, and how it gets on.

Intent is written there before the statement, so that after a crash what we ordered is known from what somebody else
did. A row that FE gave a new id is another member, and nothing is remembered of it. A lost status is made good for by
the marker (`second_memory`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from starrocks_operator.membership.pods import instant
from starrocks_operator.membership.second_memory import US, held_in, lines_of, members_in, quiet_in
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.model.status import Member
from starrocks_operator.objects.config_maps import MARKER_MEMORY, marker_data
from starrocks_operator.observed import Children, ComputeRow

__all__ = ["ARRIVED", "ORDER_OUTSTANDING", "US", "Memory", "Progress"]

ORDER_OUTSTANDING = timedelta(seconds=60)
"""So long after it was recorded, an order that FE does not show yet may still arrive there."""

ARRIVED = frozenset({"draining", "drained", "given-up", "stalled"})
"""The states, in status.members, of those whom FE showed as told by us."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How a node gets on with giving its tablets away. at: when there last was progress."""

    left: int
    at: datetime
    per_minute: int | None = None
    end: datetime | None = None


@dataclass(frozen=True)
class Memory:
    """The status, as far as leaving members are concerned; where it tells of no member, the marker.

    members: by host and id. held: FE's settings that we changed, with their old values. quiet: whom we keep queries
    from while its pod is replaced, as `be/10001`.
    """

    members: Mapping[tuple[str, str], Member] = field(default_factory=dict)
    held: Mapping[str, str] = field(default_factory=dict)
    quiet: tuple[str, ...] = ()

    @classmethod
    def of(cls, cluster: StarRocksCluster, children: Children) -> Memory:
        status = cluster.status
        members: Iterable[Member] = status.members if status else ()
        held = {setting.name: setting.was for setting in status.held_settings} if status else {}
        told = ((status.rollout if status else None) or {}).get("quiet")
        quiet = tuple(map(str, told)) if isinstance(told, list) else ()
        if not members:  # before FE has been asked, a new status tells of settings, and of no member
            text = marker_data(cluster, children).get(MARKER_MEMORY, "")
            members, held = members_in(text), held_in(text) | held
            quiet = quiet or quiet_in(text)
        return cls(
            members={(member.host.lower(), member.id or ""): member for member in members}, held=held, quiet=quiet
        )

    @property
    def lines(self) -> tuple[str, ...]:
        """What the marker is to remember of this."""
        return (*lines_of(self.members.values(), self.held), *(f"quiet {word}" for word in sorted(self.quiet)))

    @property
    def frontends(self) -> dict[str, Member]:
        """By pod."""
        return {m.name: m for m in self.members.values() if m.kind == "frontend" and m.name}

    def member(self, row: ComputeRow) -> Member | None:
        return self.members.get((row.host.lower(), row.id))

    def ordered(self, row: ComputeRow) -> bool:
        """Whether it was us who told FE to take this very row out of service."""
        member = self.member(row)
        return member is not None and member.ordered_by == US

    def may_arrive(self, row: ComputeRow, now: datetime) -> bool:
        """Whether we wrote an order down that FE has not shown yet, and still may."""
        member = self.member(row)
        at = instant(member.ordered_at) if member and member.ordered_by == US else None
        arrived = member is not None and member.state in ARRIVED
        return at is not None and not arrived and now - at < ORDER_OUTSTANDING

    def leaving_since(self, row: ComputeRow) -> datetime | None:
        member = self.member(row)
        return instant(member.leaving_since) if member else None

    def progress(self, row: ComputeRow, now: datetime) -> Progress:
        """From what was remembered and what FE counts now. Equal counts give what was remembered, unchanged."""
        member, left = self.member(row), row.tablets or 0
        before = instant(member.progress_at) if member else None
        if member is None or member.tablets_left is None or before is None:
            return Progress(left=left, at=now)
        if left >= member.tablets_left:
            return Progress(
                left=left, at=before, per_minute=member.tablets_per_minute, end=instant(member.estimated_end)
            )
        minutes = max((now - before).total_seconds(), 1.0) / 60
        latest = (member.tablets_left - left) / minutes
        rate = latest if member.tablets_per_minute is None else (latest + member.tablets_per_minute) / 2
        return Progress(
            left=left, at=now, per_minute=max(1, round(rate)), end=now + timedelta(minutes=left / max(rate, 0.1))
        )


def is_marker_due(cluster: StarRocksCluster, children: Children, status: Mapping[str, Any]) -> bool:
    """Whether the marker has to follow a status that is about to be written: its members, held settings and roll."""
    members = map(Member.model_validate, status["members"])
    held = {entry["name"]: entry["was"] for entry in status["heldSettings"]}
    quiet = tuple((status["rollout"] or {}).get("quiet") or ())
    lines = Memory(members={(m.host.lower(), m.id or ""): m for m in members}, held=held, quiet=quiet).lines
    return "\n".join(lines) != marker_data(cluster, children).get(MARKER_MEMORY, "")
