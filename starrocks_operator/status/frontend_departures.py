"""What status.members tells of frontends on their way out, and remembers of those that were dropped.

FE forgets a dropped member; its volume does not. As long as a pod may start on such a volume, the member's old name
is kept here: by it the next decision knows that the volume must be replaced before the ordinal returns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starrocks_operator.decision import Decision
from starrocks_operator.membership import Rosters, Slot
from starrocks_operator.membership.frontend_ground import frontend_ground
from starrocks_operator.membership.frontend_table import DROPPED
from starrocks_operator.membership.memory import Memory
from starrocks_operator.membership.meta_volume import holds_old_metadata
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.observed import FrontendRow, FrontendView, Observed
from starrocks_operator.status.departures import written

Entry = dict[str, Any]


@dataclass(frozen=True)
class FrontendDepartures:
    """leaving: since when, by the pod of each member that is no longer wanted. dropped: entries, by pod."""

    leaving: dict[str, str]
    dropped: dict[str, Entry]

    def of(self, slot: Slot[FrontendRow]) -> Entry:
        """What is to be added to the entry of one that FE lists."""
        since = self.leaving.get(slot.name)
        return {"state": "leaving", "leavingSince": since} if since else {}


def frontend_departures_of(
    cluster: StarRocksCluster,
    observed: Observed,
    decision: Decision,
    rosters: Rosters,
    *,
    view: FrontendView,
) -> FrontendDepartures:
    before = Memory.of(cluster, observed.children).frontends
    grounds = {
        roster.component: frontend_ground(
            cluster, observed, decision.context, view=view, since=None, component=roster.component
        )
        for roster in (rosters.fe, rosters.observers)
    }
    leaving, dropped = {}, {}
    for slot in (*rosters.fe.slots, *rosters.observers.slots):
        ground = grounds[slot.component]
        row, noted = slot.row, before.get(slot.name)
        if row is not None and not slot.wanted:
            same = noted is not None and noted.id == row.name
            leaving[slot.name] = (noted.leaving_since if noted and same else None) or written(observed.now)
        elif row is None and noted is not None and holds_old_metadata(slot, ground):
            dropped[slot.name] = {
                "kind": "frontend",
                "name": slot.name,
                "host": noted.host,
                "id": noted.id,
                "alive": False,
                "joined": False,
                "state": DROPPED,
                "message": "it was dropped, and its volume still holds that member's metadata",
            }
    return FrontendDepartures(leaving, dropped)
