"""What gates judge on: the pod whose turn it is, and all that is known around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from starrocks_operator.decision import Context
from starrocks_operator.membership import Rosters
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.observed import FrontendView, Observed
from starrocks_operator.rollout.record import Record
from starrocks_operator.rollout.roll import Roll, RollPod
from starrocks_operator.rollout.rows import Row, row_of
from starrocks_operator.rollout.versions import Course


@dataclass(frozen=True, kw_only=True)
class Scene:
    """roll, target: whose turn it is. rolls: those of all components. broken: see `order.Turn`.

    founded: whether there is anything to lose. record: what is remembered of this roll.
    """

    cluster: StarRocksCluster
    observed: Observed
    context: Context
    rosters: Rosters
    rolls: Mapping[str, Roll]
    roll: Roll
    target: RollPod
    versions: Course
    record: Record
    broken: bool = False
    founded: bool = True

    @property
    def view(self) -> FrontendView | None:
        return self.observed.view

    @property
    def row(self) -> Row | None:
        """FE's row of the pod whose turn it is."""
        return row_of(self.rosters, self.roll.component, self.target)

    @property
    def frontend(self) -> bool:
        return self.roll.component in ("fe", "fe-observer")
