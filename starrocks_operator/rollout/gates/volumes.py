"""The gate on volumes: what goes with a pod that has none of its own must be there a second time (I2).

It holds for pods that are broken already, too: a process that is down may come back, what lay in an emptyDir does not.
"""

from __future__ import annotations

from datetime import timedelta

from starrocks_operator.components import COMPONENTS
from starrocks_operator.decision import Finding
from starrocks_operator.membership.quorum import VOTING_ROLES, majority
from starrocks_operator.observed import ComputeRow
from starrocks_operator.rollout.gates.gate import Gate
from starrocks_operator.rollout.scene import Scene
from starrocks_operator.storage import LOSS_CONSENT
from starrocks_operator.storage.precious import places

REJOINING_FRONTENDS = 3
"""So many can lose one after the other, and take each in again."""
FRESH = timedelta(seconds=30)
"""An older count of tablets says nothing: a table may have been made since."""

REPORTED = timedelta(minutes=3)
"""Backends report their tablets every minute, and what is missing is noticed in the minute after."""


def volume_survives(scene: Scene) -> str:
    if not scene.founded or not volatile(scene):
        return ""
    if scene.cluster.annotations.get(LOSS_CONSENT) == str(scene.cluster.generation):
        return ""
    if scene.roll.component == "fe":
        return _of_frontend(scene)
    return _of_backend(scene) if scene.roll.component == "be" else ""


def volatile(scene: Scene) -> str:
    """Where the pod keeps what would go with it; empty: nowhere."""
    component = scene.roll.component
    properties = scene.context.properties.get(component) or {}
    found = places(COMPONENTS[component], scene.roll.live, properties)
    return ", ".join(str(place) for place in found if place.volatile)


def is_volatile(scene: Scene, trouble: str) -> Finding:
    title = COMPONENTS[scene.roll.component].title
    return Finding(
        reason="VolatileStorage",
        message=f"{title.capitalize()} {scene.target.name} is to be replaced, and what it holds goes with its pod "
        f"({volatile(scene)}): {trouble}. Its pod stays. Undo the change; or, if the data may be lost, set the "
        f'annotation {LOSS_CONSENT}: "{scene.cluster.generation}".',
        degraded=True,
    )


def _of_frontend(scene: Scene) -> str:
    """It is dropped, and added again, by the rules of the membership: all others must be there for it."""
    rows = (scene.view.frontends if scene.view else None) or ()
    followers = [row for row in rows if row.role in VOTING_ROLES]
    others = [row for row in followers if row != scene.row]
    enough = len(followers) >= REJOINING_FRONTENDS and all(row.alive and row.joined for row in others)
    if enough and len(others) >= majority(len(followers)):
        return ""
    return "with fewer than three living frontends the cluster's metadata would be gone"


def _of_backend(scene: Scene) -> str:
    view, row = scene.view, scene.row
    if view is None or view.backends is None or scene.observed.now - view.asked_at > FRESH:
        return "how many tablets it holds is not known just now"
    if not isinstance(row, ComputeRow):
        return ""  # FE knows of no backend there
    if row.tablets is None:
        return "how many tablets it holds is not known"
    if not row.tablets:
        return ""
    health = view.health
    counted = f"{row.tablets} tablet replicas are counted on it"
    if health is None or health.unhealthy is None or health.fewest_copies is None:
        return f"{counted}, and whether there are other live copies is not known"
    if health.fewest_copies < 2 or health.unhealthy:
        return f"{counted}, and not all of them have another live copy"
    if young := _not_reported(scene):
        return f"{counted}, and {young} may not yet have told FE what it still has"
    dead = [other.host.split(".")[0] for other in view.backends if not other.alive and other != row]
    return f"{counted}, and {dead[0]} is not alive" if dead else ""


def _not_reported(scene: Scene) -> str:
    """A backend that came back without its tablets is counted on until it has told FE what it has."""
    for item in scene.roll.pods:
        since = item.pod.running_since
        if item.name != scene.target.name and (since is None or scene.observed.now - since < REPORTED):
            return item.name
    return ""


VOLUMES = (Gate(name="VolumeSurvives", objection=volume_survives, protects_data=True, finding=is_volatile),)
