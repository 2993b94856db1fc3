"""What is told of pods that somebody wants so many of, whatever runs in them and whoever makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starrocks_operator.membership import Pod


@dataclass(frozen=True, kw_only=True)
class Standing:
    """wanted: the replicas that the spec asks for. present: whether there is an object that makes the pods.

    rolled_out: every pod is as wanted, and that object has taken note of its latest spec.
    """

    wanted: int
    present: bool
    pods: tuple[Pod, ...]
    rolled_out: bool

    @property
    def ready(self) -> tuple[Pod, ...]:
        return tuple(pod for pod in self.pods if pod.ready)

    @property
    def failed(self) -> tuple[Pod, ...]:
        return tuple(pod for pod in self.pods if pod.failed)

    @property
    def trouble(self) -> str:
        """What is wrong with the pods that failed; empty: none has."""
        return "; ".join(f"pod {pod.name} {pod.trouble}" for pod in self.failed)

    @property
    def instances(self) -> dict[str, Any]:
        """The pods by state, as the status names them."""
        return {
            "runningInstances": [pod.name for pod in self.ready],
            "creatingInstances": [pod.name for pod in self.pods if not pod.ready and not pod.failed],
            "failedInstances": [pod.name for pod in self.failed],
            "readyReplicas": len(self.ready),
        }


def told(status: dict[str, Any]) -> dict[str, Any]:
    """Empty lists and texts stay away, as in the official operator's status."""
    return {key: value for key, value in status.items() if value not in ("", [], None)}
