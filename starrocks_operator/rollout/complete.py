"""Whether a StatefulSet has been rolled out: what it shall be is written, and all its pods are that, and ready.

With `waitForFullRollout` backends and compute nodes wait for this of the frontends. Their spec is then applied only
when the new configuration is known to work on every frontend.
"""

from __future__ import annotations

from collections.abc import Sequence

from starrocks_operator.membership import Pod
from starrocks_operator.observed import Raw
from starrocks_operator.rollout.roll import Roll

WAITS_FOR_ROLLOUT = "held until every frontend has been rolled out (waitForFullRollout)"


def is_rolled_out(roll: Roll) -> bool:
    """Whether nothing of what is wanted is still to come in the live StatefulSet or its pods."""
    ready = [item for item in roll.pods if item.pod.ready and not item.pod.deleting]
    wanted = int(roll.desired["spec"]["replicas"])
    return not roll.open and not roll.lagging and wanted == roll.replicas == len(ready) == len(roll.pods)


def of_one_revision(live: Raw, pods: Sequence[Pod]) -> bool:
    """By the pods' own labels: under OnDelete the StatefulSet's currentRevision stays behind for ever."""
    status = live.get("status") or {}
    revision = status.get("updateRevision", "")
    current = status.get("observedGeneration", 0) >= live["metadata"].get("generation", 0)
    return bool(revision) and current and all(pod.revision == revision for pod in pods)
