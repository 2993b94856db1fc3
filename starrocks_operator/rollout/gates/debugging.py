"""The gate of pods that their owner debugs: what he looks at is not taken away, broken or not."""

from __future__ import annotations

from starrocks_operator.objects.debugging import DEBUG, names_in
from starrocks_operator.rollout.gates.gate import Gate
from starrocks_operator.rollout.scene import Scene


def debugged(scene: Scene) -> str:
    if scene.target.name not in names_in(scene.context.debugged):
        return ""
    return f"its owner debugs it (annotation {DEBUG}), and takes its name out of that when it may go"


DEBUGGING = (Gate(name="NotDebugged", objection=debugged, protects_data=True),)
