"""The SQL of each question and each Step, as text; and what FE's error texts mean. Nothing here talks to anybody."""

from __future__ import annotations

import re
from collections.abc import Mapping

from starrocks_operator.step import Step, StepKind

LOCAL_FRONTENDS = "SHOW PROC '/frontends'"
"""Answered by every frontend from its own memory, leader or not."""

SHOW_FRONTENDS = "SHOW FRONTENDS"
SHOW_BACKENDS = "SHOW BACKENDS"
SHOW_COMPUTE_NODES = "SHOW COMPUTE NODES"

_PHRASES: Mapping[StepKind, str] = {
    StepKind.ADD_FOLLOWER: "ADD FOLLOWER",
    StepKind.DROP_FOLLOWER: "DROP FOLLOWER",
    StepKind.ADD_BACKEND: "ADD BACKEND",
    StepKind.ADD_COMPUTE_NODE: "ADD COMPUTE NODE",
    StepKind.DROP_COMPUTE_NODE: "DROP COMPUTE NODE",
}

_READS: Mapping[StepKind, str] = {
    StepKind.ADD_FOLLOWER: SHOW_FRONTENDS,
    StepKind.DROP_FOLLOWER: SHOW_FRONTENDS,
    StepKind.ADD_BACKEND: SHOW_BACKENDS,
    StepKind.ADD_COMPUTE_NODE: SHOW_COMPUTE_NODES,
    StepKind.DROP_COMPUTE_NODE: SHOW_COMPUTE_NODES,
}

_TARGET = re.compile(r"[A-Za-z0-9._:\[\]-]+:[0-9]{1,5}")

_ALREADY = ("already exists", "same host", "does not exist", "same backend already", "same compute node already")
_BUSY = ("failed to acquire globalstatemgr lock", "frontend name already exists")


def statement_of(step: Step) -> str:
    """The one statement that does the step. A target that is not plainly host:port is refused, never quoted away."""
    if not _TARGET.fullmatch(step.target):
        message = f"{step.target!r} is not of the form host:port, so no statement is made of it."
        raise ValueError(message)
    return f'ALTER SYSTEM {_PHRASES[step.kind]} "{step.target}"'


def read_of(kind: StepKind) -> str:
    """The question that shows the kind of member that a step is about."""
    return _READS[kind]


def means_already_so(error: str) -> bool:
    """Whether FE refused because the member is already there, or already gone. Then the rows decide."""
    lowered = error.lower()
    return not means_busy(error) and any(phrase in lowered for phrase in _ALREADY)


def means_busy(error: str) -> bool:
    """Whether FE only asks for a second attempt."""
    lowered = error.lower()
    return any(phrase in lowered for phrase in _BUSY)
