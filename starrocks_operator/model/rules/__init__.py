"""The rules that a StarRocksCluster keeps, in words a person understands.

A rule sits on the lowest node that it speaks of: the apiserver then lets an old object that breaks it take every write
that leaves this node alone.
"""

from collections.abc import Mapping
from typing import Any

from starrocks_operator.model.rules import autoscaling, cluster, service, volumes, workload
from starrocks_operator.model.rules.cluster import MISSPELT_SPEC_KEYS
from starrocks_operator.model.rules.rule import Rule, Violation

RULES: tuple[Rule, ...] = (
    *cluster.RULES,
    *workload.RULES,
    *volumes.RULES,
    *service.RULES,
    *autoscaling.RULES,
)

__all__ = ["MISSPELT_SPEC_KEYS", "RULES", "Rule", "Violation", "violations", "violations_by_change"]


def violations(raw: Mapping[str, Any]) -> tuple[Violation, ...]:
    """Every rule that an object breaks; for objects older than the rules."""
    return tuple(violation for rule in RULES for violation in rule.violations(raw))


def violations_by_change(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Violation, ...]:
    """Every rule about changes that going from one object to another breaks."""
    return tuple(violation for rule in RULES for violation in rule.violations_by_change(old, new))
