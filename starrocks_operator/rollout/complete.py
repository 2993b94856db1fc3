"""Whether a StatefulSet has been rolled out: what it shall be is written, and all its pods are that, and ready.

With `waitForFullRollout` backends and compute nodes wait for this of the frontends. Their spec is then applied only
when the new release or configuration is known to work on every frontend.
"""

from __future__ import annotations

from collections.abc import Sequence

from starrocks_operator.membership import Pod
from starrocks_operator.observed import Raw
from starrocks_operator.storage import template_changes

WAITS_FOR_ROLLOUT = "held until every frontend has been rolled out (waitForFullRollout)"


def is_rolled_out(desired: Raw, live: Raw | None, pods: Sequence[Pod]) -> bool:
    """Whether nothing of `desired` is still to come in the live StatefulSet or its pods."""
    if live is None or template_changes(desired, live):
        return False
    wanted = int(desired["spec"]["replicas"])
    has = int((live.get("spec") or {}).get("replicas", 1))
    ready = [pod for pod in pods if pod.ready and not pod.deleting]
    return wanted == has == len(ready) == len(pods) and of_one_revision(live, pods)


def of_one_revision(live: Raw, pods: Sequence[Pod]) -> bool:
    """By the pods' own labels: under OnDelete the StatefulSet's currentRevision stays behind for ever."""
    status = live.get("status") or {}
    revision = status.get("updateRevision", "")
    current = status.get("observedGeneration", 0) >= live["metadata"].get("generation", 0)
    return bool(revision) and current and all(pod.revision == revision for pod in pods)
