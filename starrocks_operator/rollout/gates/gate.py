"""A gate: a named predicate on the pod whose turn it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from starrocks_operator.decision import Finding
from starrocks_operator.rollout.scene import Scene


@dataclass(frozen=True, kw_only=True)
class Gate:
    """name: CamelCase, stable: it is told in status, and what switches the gate off.

    objection: as the end of a sentence, why the pod must not be replaced now; empty: it may.
    protects_data: whether it holds for pods that are broken already, too.
    finding: what is said, where a person has to act.
    """

    name: str
    objection: Callable[[Scene], str]
    protects_data: bool = False
    finding: Callable[[Scene, str], Finding] | None = None
