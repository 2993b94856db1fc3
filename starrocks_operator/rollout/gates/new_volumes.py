"""The gate on new volumes: a StatefulSet is made anew around pods that are all there, and takes no claim with it."""

from __future__ import annotations

from starrocks_operator.rollout.gates.gate import Gate
from starrocks_operator.rollout.scene import Scene
from starrocks_operator.storage.retention import goes_with_it


def volumes_can_come(scene: Scene) -> str:
    roll = scene.roll
    if not roll.renews:
        return ""
    if goes_with_it(roll.live, scene.observed.children):
        return (
            "its StatefulSet has to be made anew, and volumes would go with it: set "
            "persistentVolumeClaimRetentionPolicy.whenDeleted to Retain meanwhile"
        )
    if scene.context.wished.get(roll.component) != roll.replicas:
        return "its StatefulSet has to be made anew, and has not as many pods as the spec asks for"
    there = {pod.name for pod in roll.pods if not pod.pod.deleting} | {scene.target.name}
    missing = [name for n in range(roll.replicas) if (name := f"{roll.name}-{n}") not in there]
    return f"its StatefulSet has to be made anew, and pod {missing[0]} is not there" if missing else ""


NEW_VOLUMES = (Gate(name="VolumesCanCome", objection=volumes_can_come, protects_data=True),)
