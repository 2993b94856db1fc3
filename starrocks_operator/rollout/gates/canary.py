"""The gate of canaries: after the first pod of a component its owner has a look, and says so by name."""

from __future__ import annotations

from starrocks_operator.decision import Finding
from starrocks_operator.rollout.gates.gate import Gate
from starrocks_operator.rollout.roll import partition_of
from starrocks_operator.rollout.scene import Scene

CANARY = "starrocks.com/canary"
"""Annotation: `true` stops a roll after the first pod of each component."""
APPROVAL = "starrocks.com/approve-canary"
"""Annotation: the components that may go on, and at which generation each: `be@12,fe@12`."""


def approved(scene: Scene) -> str:
    """The spec before needs no approval: its first pod is the canary itself, which goes back."""
    cluster, component = scene.cluster, scene.roll.component
    canaries = [item.name for item in scene.roll.pods if item.new and item.ordinal >= _floor(scene)]
    if cluster.annotations.get(CANARY, "").lower() != "true" or not canaries:
        return ""
    if scene.record.component == component and scene.record.pod in {item.name for item in scene.roll.old}:
        return ""
    words = {word.strip() for word in cluster.annotations.get(APPROVAL, "").split(",")}
    return "" if _word(scene) in words else f"{canaries[-1]} is the canary, and its owner has not approved of it yet"


def waits(scene: Scene, trouble: str) -> Finding:
    return Finding(
        reason="CanaryWaits",
        message=f'The roll stops: {trouble}. To go on, set the annotation {APPROVAL}: "{_word(scene)}" (with those '
        "that are there already, separated by commas); to go back, put the spec back.",
    )


def _word(scene: Scene) -> str:
    return f"{scene.roll.component}@{scene.cluster.generation}"


def _floor(scene: Scene) -> int:
    """Below a partition of the user's pods count as new, and nobody has replaced them."""
    return partition_of(scene.roll.desired["spec"]["updateStrategy"])


CANARIES = (Gate(name="CanaryApproved", objection=approved, finding=waits),)
