"""Compute nodes: wish x standing -> move. They hold no data: one that leaves ends its queries, stops, is forgotten."""

from __future__ import annotations

from starrocks_operator.membership.node_table import MEMBER, Kind, Move, Standing, Table, Wish
from starrocks_operator.step import StepKind

STATELESS: Table = {
    Wish.MEMBER: MEMBER,
    Wish.LEAVING: {
        Standing.ABSENT: Move.SHRINK,
        Standing.STARTING: Move.SHRINK,
        Standing.OVERDUE: Move.SHRINK,
        Standing.JOINING: Move.SHRINK,
        Standing.ALIVE: Move.ORDER,
        Standing.DEAD: Move.SHRINK,
        Standing.DRAINING: Move.WATCH,
        Standing.DRAINED: Move.SHRINK,
        Standing.GIVEN_UP: Move.SHRINK,
        Standing.FOREIGN: Move.SHRINK,
        Standing.FOREIGN_DRAINED: Move.SHRINK,
    },
    # Its place is gone: its stop script lets running queries end, and often it deregisters by itself.
    Wish.STOPPING: dict.fromkeys(Standing, Move.WAIT),
    # Dropped only when FE sees it dead, too: until then its own deregistration may be under way.
    Wish.RELEASED: {
        Standing.ABSENT: Move.REST,
        Standing.STARTING: Move.REST,
        Standing.OVERDUE: Move.REST,
        Standing.JOINING: Move.DROP,
        Standing.ALIVE: Move.WAIT,
        Standing.DEAD: Move.DROP,
        Standing.DRAINING: Move.WAIT,
        Standing.DRAINED: Move.WAIT,
        Standing.GIVEN_UP: Move.WAIT,
        Standing.FOREIGN: Move.WAIT,
        Standing.FOREIGN_DRAINED: Move.WAIT,
    },
}

COMPUTE_NODES = Kind(
    word="compute node",
    table=STATELESS,
    holds_tablets=False,
    add=StepKind.ADD_COMPUTE_NODE,
    drop=StepKind.DROP_COMPUTE_NODE,
    order=StepKind.BLACKLIST_COMPUTE_NODE,
    cancel=StepKind.UNBLACKLIST_COMPUTE_NODE,
)
