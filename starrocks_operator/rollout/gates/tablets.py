"""Gates on tablets: none has fewer good copies than before the roll, and none is being moved or saved."""

from __future__ import annotations

from starrocks_operator.rollout.gates.gate import Gate
from starrocks_operator.rollout.scene import Scene

NOT_ASKED = "FE has not been asked yet how its tablets are"


def no_unhealthy(scene: Scene) -> str:
    """Those that were unhealthy before the roll do not count. A release that cannot tell is taken at its backends.

    The last backend's copies are made good before others go; between minor releases they may not be repaired else.
    """
    if "be" not in (scene.roll.component, scene.record.component) and not scene.record.minor:
        return ""
    health = scene.view.health if scene.view else None
    if health is None:
        return NOT_ASKED
    before = scene.record.baseline or 0
    if health.unhealthy is None or health.unhealthy <= before:
        return ""
    since = f", {before} of them since before this roll" if before else ""
    return f"{health.unhealthy} tablets lack good copies{since}"


def no_pending_clones(scene: Scene) -> str:
    """A backend that goes meanwhile may be where a copy comes from."""
    if scene.roll.component != "be":
        return ""
    health = scene.view.health if scene.view else None
    if health is None:
        return NOT_ASKED
    return f"{health.clones} tablets are being copied, or wait for it" if health.clones else ""


def no_backup(scene: Scene) -> str:
    """A backup or a restore ends with an error when its leader or a backend goes."""
    health = scene.view.health if scene.view else None
    if health is None or not health.backups or scene.roll.component == "cn":
        return ""
    return f"{health.backups} backup or restore jobs are running"


TABLETS = (
    Gate(name="NoUnhealthyTablets", objection=no_unhealthy),
    Gate(name="NoPendingClones", objection=no_pending_clones),
    Gate(name="NoBackup", objection=no_backup),
)
