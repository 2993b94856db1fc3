"""Rules about the autoscaling of compute nodes."""

from starrocks_operator.model.rules.judges import must
from starrocks_operator.model.rules.rule import Rule
from starrocks_operator.model.rules.shapes import choice

_POLICY = "spec.starRocksCnSpec.autoScalingPolicy"

RULES: tuple[Rule, ...] = (
    Rule(
        name="max-below-min",
        at=_POLICY,
        cel="!has(self.minReplicas) || self.minReplicas <= self.maxReplicas",
        message="maxReplicas is less than minReplicas: raise maxReplicas or lower minReplicas",
        judge=must(lambda policy: policy.get("minReplicas", 1) <= max(1, policy.get("maxReplicas", 0))),
    ),
    Rule(
        name="min-replicas",
        at=f"{_POLICY}.minReplicas",
        cel="self >= 1",
        message="a HorizontalPodAutoscaler cannot go below 1: set minReplicas to 1 or more",
        judge=must(lambda count: count >= 1),
    ),
    Rule(
        name="max-replicas",
        at=f"{_POLICY}.maxReplicas",
        cel="self >= 1",
        message="a HorizontalPodAutoscaler needs room for at least one compute node: set maxReplicas to 1 or more",
        judge=must(lambda count: count >= 1),
    ),
    choice(name="autoscaling-version", at=f"{_POLICY}.version", choices=("v1", "v2beta1", "v2beta2", "v2")),
)
