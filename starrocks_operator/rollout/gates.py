"""What must be so before a pod is replaced: named predicates, each with an off-switch of its own.

A gate says, as the end of a sentence, why the pod must not be replaced now; empty: it may. Pods that are broken
already are exempt, so that a fix gets into a broken cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from starrocks_operator.decision import Context
from starrocks_operator.membership import Quorum, Rosters
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.observed import Observed
from starrocks_operator.rollout.roll import Roll, RollPod

SKIPPED = "starrocks.com/skip-rollout-gates"
"""Names of gates, separated by commas, and the generation for which they are off: `BackendsAlive@12`."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What gates judge on. target: the pod that is to be replaced."""

    cluster: StarRocksCluster
    observed: Observed
    context: Context
    rosters: Rosters
    roll: Roll
    target: RollPod


@dataclass(frozen=True)
class Gate:
    """name: CamelCase, stable: it is the reason in status, and what switches it off."""

    name: str
    objection: Callable[[Scene], str]


def _backends_alive(scene: Scene) -> str:
    view = scene.observed.view
    if view is None or view.backends is None:
        return "FE has not told of its backends"
    dead = [row.host.split(".")[0] for row in view.backends if not row.alive]
    return f"{', '.join(dead)} is not alive" if dead else ""


def _quorum(scene: Scene) -> str:
    view = scene.observed.view
    if scene.roll.component != "fe":
        return ""
    if view is None or view.frontends is None:
        return "no frontend leads, as far as is known"
    quorum = Quorum.of(view.frontends)
    return "" if quorum.margin >= 1 else f"only {quorum.alive} of {quorum.registered} followers are alive"


GATES = (Gate("QuorumAfterStop", _quorum), Gate("BackendsAlive", _backends_alive))


def objection(scene: Scene) -> tuple[str, str] | None:
    """Name of the first gate that objects, and why; None: the pod may be replaced."""
    off = _switched_off(scene.cluster)
    for gate in GATES:
        if gate.name not in off and (why := gate.objection(scene)):
            return gate.name, why
    return None


def _switched_off(cluster: StarRocksCluster) -> frozenset[str]:
    told, _, generation = cluster.annotations.get(SKIPPED, "").partition("@")
    return frozenset(name.strip() for name in told.split(",")) if generation == str(cluster.generation) else frozenset()
