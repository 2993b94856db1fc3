"""Backends: wish x standing -> move.

Where they hold the tablets, one goes only after FE has moved all of them away: it is told to leave, watched, and only
when FE counts none on it loses its place, and then its row. Nothing here is ever forced.
"""

from __future__ import annotations

from starrocks_operator.membership.compute_nodes import STATELESS
from starrocks_operator.membership.node_table import MEMBER, Kind, Move, Standing, Table, Wish
from starrocks_operator.step import StepKind

TABLE: Table = {
    Wish.MEMBER: MEMBER,
    Wish.LEAVING: {
        Standing.ABSENT: Move.SHRINK,
        Standing.STARTING: Move.WAIT,  # it would register while its pod goes, and get tablets
        Standing.OVERDUE: Move.SHRINK,
        Standing.JOINING: Move.ORDER,  # no tablets yet, and it is to get none
        Standing.ALIVE: Move.ORDER,
        Standing.DEAD: Move.ORDER,  # FE rebuilds what it held from the other copies
        Standing.DRAINING: Move.WATCH,
        Standing.GIVEN_UP: Move.SHRINK,
        Standing.DRAINED: Move.SHRINK,
        Standing.FOREIGN: Move.REPORT,
        Standing.FOREIGN_DRAINED: Move.SHRINK,
    },
    Wish.STOPPING: {
        Standing.ABSENT: Move.WAIT,
        Standing.STARTING: Move.WAIT,
        Standing.OVERDUE: Move.WAIT,
        Standing.JOINING: Move.ORDER,
        Standing.ALIVE: Move.ORDER,
        Standing.DEAD: Move.ORDER,
        Standing.DRAINING: Move.WATCH,
        Standing.GIVEN_UP: Move.WAIT,
        Standing.DRAINED: Move.WAIT,
        Standing.FOREIGN: Move.REPORT,
        Standing.FOREIGN_DRAINED: Move.WAIT,
    },
    # A row without a pod: what is left of one that went, or a ghost. With tablets on it, it is a leaving member again.
    Wish.RELEASED: {
        Standing.ABSENT: Move.REST,
        Standing.STARTING: Move.REST,
        Standing.OVERDUE: Move.REST,
        Standing.JOINING: Move.ORDER,
        Standing.ALIVE: Move.ORDER,
        Standing.DEAD: Move.ORDER,
        Standing.DRAINING: Move.WATCH,
        Standing.GIVEN_UP: Move.FORFEIT,
        Standing.DRAINED: Move.DROP,
        Standing.FOREIGN: Move.REPORT,
        Standing.FOREIGN_DRAINED: Move.DROP,
    },
}

BACKENDS = Kind(
    word="backend",
    table=TABLE,
    holds_tablets=True,
    add=StepKind.ADD_BACKEND,
    drop=StepKind.DROP_BACKEND,
    forfeit=StepKind.FORCE_DROP_BACKEND,
    order=StepKind.DECOMMISSION_BACKEND,
    cancel=StepKind.CANCEL_DECOMMISSION,
)
"""Shared-nothing: the tablets lie on them."""

SHARED_DATA_BACKENDS = Kind(
    word="backend",
    table=STATELESS,
    holds_tablets=False,
    add=StepKind.ADD_BACKEND,
    drop=StepKind.DROP_BACKEND,
)
"""Shared-data: the data lies elsewhere, they are compute nodes by another name."""
