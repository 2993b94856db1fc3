"""The gate of the metadata: before frontends change their minor release there is an image that the old one wrote."""

from __future__ import annotations

from dataclasses import replace

from starrocks_operator.rollout.gates.gate import Gate
from starrocks_operator.rollout.image import TRIES, Image, leading, next_image, process_of
from starrocks_operator.rollout.record import Record
from starrocks_operator.rollout.scene import Scene
from starrocks_operator.rollout.versions import reported
from starrocks_operator.step import Step

METADATA_IMAGE = "MetadataImage"


def has_image(scene: Scene) -> str:
    if not scene.versions.metadata:
        return ""
    leader, image = leading(scene.view), scene.record.image
    if scene.view is None or leader is None:
        return "no frontend leads, as far as is known"
    if scene.view.health is None:
        return "FE has not told how many images it has written"
    if image is None or image.purpose != _purpose(scene):
        return "the leader has yet to write an image of the metadata"
    if image.done:
        return ""
    if image.spent and image.late(scene.observed.now):
        return f"after {TRIES} times CREATE IMAGE the leader's metrics count no new image: its log fe.log tells why"
    if image.count is not None and image.leader == process_of(leader) and scene.view.health.images is None:
        return "the leader's metrics do not tell any more how many images it has written"
    return "the leader writes an image of the metadata"


def ordered(scene: Scene, record: Record) -> tuple[Record, Step | None]:
    """What is remembered before the leader is told, and the step that tells it; None: it has been."""
    leader, health = leading(scene.view), scene.view.health if scene.view else None
    if leader is None or health is None:
        return record, None
    image: Image = next_image(record.image, _purpose(scene), leader, health.images, scene.observed.now)
    return replace(record, image=image), image.step(leader) if image.said is None else None


def _purpose(scene: Scene) -> str:
    """Under another leader's release, or on the way back, it is another image."""
    leader = leading(scene.view)
    release = reported(leader.version) if leader else None
    minor = ".".join(map(str, release[:2])) if release else "unknown"
    return f"{minor} {scene.versions.direction}"


METADATA = (Gate(name=METADATA_IMAGE, objection=has_image),)
