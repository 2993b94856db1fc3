"""What must be so before a pod is replaced: named predicates, each with an off-switch of its own.

Pods that are broken already are exempt from all that do not protect data, so that a fix gets into a broken cluster.
"""

from __future__ import annotations

from dataclasses import dataclass

from starrocks_operator.decision import Finding
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.rollout.gates.canary import CANARIES
from starrocks_operator.rollout.gates.debugging import DEBUGGING
from starrocks_operator.rollout.gates.frontends import FRONTENDS
from starrocks_operator.rollout.gates.gate import Gate
from starrocks_operator.rollout.gates.members import GENERATION, MEMBERS
from starrocks_operator.rollout.gates.metadata import METADATA, METADATA_IMAGE, ordered
from starrocks_operator.rollout.gates.new_volumes import NEW_VOLUMES
from starrocks_operator.rollout.gates.tablets import TABLETS
from starrocks_operator.rollout.gates.volumes import VOLUMES
from starrocks_operator.rollout.scene import Scene

__all__ = ["GATES", "METADATA_IMAGE", "SKIPPED", "Gate", "Objection", "objection", "ordered", "switched_off"]

SKIPPED = "starrocks.com/skip-rollout-gates"
"""Names of gates, separated by commas, and the generation for which they are off: `BackendsAlive,NoBackup@12`."""

GATES = (*DEBUGGING, *VOLUMES, *NEW_VOLUMES, *GENERATION, *CANARIES, *FRONTENDS, *MEMBERS, *TABLETS, *METADATA)


@dataclass(frozen=True, kw_only=True)
class Objection:
    """gate: its name. why: the end of a sentence. finding: what a person has to be told, if anything."""

    gate: str
    why: str
    finding: Finding | None = None


def objection(scene: Scene) -> Objection | None:
    """That of the first gate that has one; None: the pod may be replaced."""
    off = switched_off(scene.cluster)
    for gate in GATES:
        if gate.name in off or (scene.broken and not gate.protects_data):
            continue
        if why := gate.objection(scene):
            return Objection(gate=gate.name, why=why, finding=gate.finding(scene, why) if gate.finding else None)
    return None


def switched_off(cluster: StarRocksCluster) -> frozenset[str]:
    """The gates that are off at this generation."""
    told, _, generation = cluster.annotations.get(SKIPPED, "").rpartition("@")
    names = frozenset(name.strip() for name in told.split(","))
    return names if generation.strip() == str(cluster.generation) else frozenset()
