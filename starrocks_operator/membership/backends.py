"""Backends: wish x standing -> move. They hold tablets, so nothing here ever drops one."""

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
    # Backends are not scaled in yet: what is beyond the wish is shown, and left alone.
    (Wish.LEAVING, Standing.ALIVE): Move.REPORT,
    (Wish.LEAVING, Standing.JOINING): Move.REPORT,
    (Wish.LEAVING, Standing.DEAD): Move.REPORT,
    (Wish.LEAVING, Standing.DECOMMISSIONED): Move.REPORT,
    (Wish.LEAVING, Standing.ABSENT): Move.REST,
    (Wish.LEAVING, Standing.OVERDUE): Move.REST,
    (Wish.LEAVING, Standing.GONE): Move.REPORT,
}

BACKENDS = Kind(word="backend", table=TABLE, add=StepKind.ADD_BACKEND, drop=None)
