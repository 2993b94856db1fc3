"""Compute nodes: wish x standing -> move. They hold no data, so one that left is forgotten as soon as it is dead."""

from __future__ import annotations

from starrocks_operator.membership.nodes import Kind, Move, Standing, Table, Wish
from starrocks_operator.step import StepKind

TABLE: Table = {
    (Wish.MEMBER, Standing.ALIVE): Move.REST,
    (Wish.MEMBER, Standing.JOINING): Move.WAIT,
    (Wish.MEMBER, Standing.DEAD): Move.WAIT,
    (Wish.MEMBER, Standing.DECOMMISSIONED): Move.REPORT,
    (Wish.MEMBER, Standing.ABSENT): Move.WAIT,
    (Wish.MEMBER, Standing.OVERDUE): Move.ADD,
    (Wish.MEMBER, Standing.GONE): Move.WAIT,
    # A leaving node is dropped only when its pod is gone and FE sees it dead; until then it finishes its queries.
    (Wish.LEAVING, Standing.ALIVE): Move.WAIT,
    (Wish.LEAVING, Standing.JOINING): Move.WAIT,
    (Wish.LEAVING, Standing.DEAD): Move.WAIT,
    (Wish.LEAVING, Standing.DECOMMISSIONED): Move.WAIT,
    (Wish.LEAVING, Standing.ABSENT): Move.REST,
    (Wish.LEAVING, Standing.OVERDUE): Move.REST,
    (Wish.LEAVING, Standing.GONE): Move.DROP,
}

COMPUTE_NODES = Kind(
    word="compute node",
    table=TABLE,
    add=StepKind.ADD_COMPUTE_NODE,
    drop=StepKind.DROP_COMPUTE_NODE,
)
