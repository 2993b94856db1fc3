"""Which release pods have and which they shall have: from the image's tag or its owner's word, never guessed.

Backends understand older frontends and not the reverse, so an upgrade begins with the backends and a downgrade with
the frontends. Minor releases are taken one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from starrocks_operator.components import COMPONENTS
from starrocks_operator.decision import Finding
from starrocks_operator.membership import Rosters
from starrocks_operator.membership.pods import main_container
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.prestop import release_of
from starrocks_operator.observed import Children, Raw
from starrocks_operator.rollout.roll import Method, Roll, RollPod
from starrocks_operator.rollout.rows import row_of

VERSION = "starrocks.com/version"
"""Annotation of the cluster: the release that the wanted images are, where their tags do not say."""
ACCEPTED_PATH = "starrocks.com/accept-version-path-at-generation"
"""Annotation: at this generation of the spec, its owner vouches for the way from one release to the other."""

REFUSED = "VersionPathRefused"

Release = tuple[int, int, int]

MINORS = (
    (2, 0),
    (2, 1),
    (2, 2),
    (2, 3),
    (2, 4),
    (2, 5),
    (3, 0),
    (3, 1),
    (3, 2),
    (3, 3),
    (3, 4),
    (3, 5),
    (4, 0),
    (4, 1),
)
"""In the order in which they are taken; a later one follows the one before it by its number."""
LOWEST_DOWNGRADE: Mapping[tuple[int, int], Release] = {(4, 1): (4, 0, 6), (3, 0): (2, 5, 3)}
"""From this minor release, down to nothing older than that."""

_REPORTED = re.compile(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?:-.*)?")


class Direction(StrEnum):
    """Where the releases go, as far as the order of components depends on it."""

    SAME = "same"  # or only one of frontends and the others changes
    UPGRADE = "upgrade"
    DOWNGRADE = "downgrade"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class Change:
    """A pod that gets another image. before, after: its release; None: that cannot be told."""

    component: str
    pod: str
    before: Release | None
    after: Release | None


@dataclass(frozen=True, kw_only=True)
class Course:
    """What is to be known of releases before the first pod moves. minor: whether a minor release changes; metadata:
    that of frontends, who write it."""

    direction: Direction = Direction.SAME
    minor: bool = False
    metadata: bool = False
    finding: Finding | None = None


def release_in(image: str) -> Release | None:
    """The release that an image's tag names; a digest alone names none."""
    return release_of(image.partition("@")[0])


def reported(version: str) -> Release | None:
    """The release in what a member says of itself, such as `3.3.9-7e897e2`."""
    match = _REPORTED.fullmatch(version)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def version_course(
    cluster: StarRocksCluster, children: Children, rosters: Rosters, rolls: Mapping[str, Roll]
) -> Course:
    """Direction and objections, from the pods that are still to be replaced."""
    changes = tuple(_changes(cluster, children, rosters, rolls))
    if not changes:
        return Course()
    direction = _direction(changes)
    vouched = cluster.annotations.get(ACCEPTED_PATH) == str(cluster.generation)
    finding = None if vouched else _objection(cluster, changes, direction, rosters, rolls)
    minors = [change for change in changes if change.before and change.after and change.before[:2] != change.after[:2]]
    metadata = any(_is_frontend(change.component) for change in minors)
    return Course(direction=direction, minor=bool(minors), metadata=metadata, finding=finding)


def wrong_way(cluster: StarRocksCluster, component: str, live: Raw, wanted: Raw) -> Finding | None:
    """Of a StatefulSet that sleeps: the release on its volumes is that of its template, whatever it shall be now."""
    before, image = release_in(image_in(live["spec"]["template"])), image_in(wanted["spec"]["template"])
    after = reported(cluster.annotations.get(VERSION, "")) or release_in(image)
    trouble = _trouble_with(Change(component=component, pod="", before=before, after=after))
    same = image == image_in(live["spec"]["template"])
    vouched = cluster.annotations.get(ACCEPTED_PATH) == str(cluster.generation)
    return None if same or vouched or not trouble else _refused(cluster, trouble)


def wanted_release(cluster: StarRocksCluster, roll: Roll) -> Release | None:
    """What pods of this component shall be."""
    return reported(cluster.annotations.get(VERSION, "")) or release_in(image_in(roll.desired["spec"]["template"]))


def image_in(pod: Raw) -> str:
    """The image of a pod's, or of a pod template's, main container."""
    return str(main_container(pod).get("image") or "")


def _changes(
    cluster: StarRocksCluster, children: Children, rosters: Rosters, rolls: Mapping[str, Roll]
) -> Iterator[Change]:
    for name, roll in rolls.items():
        if roll.method == Method.OWNER or not (roll.old or roll.lagging):
            continue
        image, after = image_in(roll.desired["spec"]["template"]), wanted_release(cluster, roll)
        for target in roll.pods if roll.lagging else roll.old:  # meanwhile nobody can tell which are old
            had = image_in(children.get("Pod", target.name) or {})
            if had != image:
                yield Change(component=name, pod=target.name, before=_before(had, rosters, name, target), after=after)


def _before(image: str, rosters: Rosters, component: str, target: RollPod) -> Release | None:
    """What FE was told by the member itself counts more than the tag."""
    row = row_of(rosters, component, target)
    return (reported(row.version) if row else None) or release_in(image)


def _is_frontend(component: str) -> bool:
    return COMPONENTS[component].process == "fe"


def _direction(changes: Sequence[Change]) -> Direction:
    """Decided by the frontends: as long as they do not change, no order is wrong."""
    frontends = [change for change in changes if _is_frontend(change.component)]
    others = [change for change in changes if not _is_frontend(change.component)]
    if any(change.before and change.after and change.after < change.before for change in frontends or others):
        return Direction.DOWNGRADE
    if any(change.before is None or change.after is None for change in frontends):
        return Direction.UNKNOWN if others else Direction.SAME
    if any(change.after != change.before for change in frontends):
        return Direction.UPGRADE
    return Direction.SAME


def _objection(
    cluster: StarRocksCluster,
    changes: Sequence[Change],
    direction: Direction,
    rosters: Rosters,
    rolls: Mapping[str, Roll],
) -> Finding | None:
    if direction == Direction.UNKNOWN:
        blind = next(
            change for change in changes if _is_frontend(change.component) and not (change.before and change.after)
        )
        which = "wanted" if blind.after is None else "present"
        return Finding(
            reason="VersionUnknown",
            message=f"The images of frontends and of backends or compute nodes change, and the {which} release of "
            f"{blind.pod} cannot be read from its image's tag: an upgrade begins with the backends, a downgrade with "
            "the frontends, and which of the two this is must not be guessed. No pod is replaced. Use tags like 3.3.9, "
            f'say the wanted release with the annotation {VERSION}: "3.3.9", or change one of the two first.',
            degraded=True,
        )
    troubles = dict.fromkeys(trouble for change in changes if (trouble := _trouble_with(change)))
    if not troubles and (mixed := _backends_older(changes, rosters, rolls)):
        troubles = {mixed: None}
    if not troubles:
        return None
    return _refused(cluster, " ".join(troubles))


def _refused(cluster: StarRocksCluster, troubles: str) -> Finding:
    return Finding(
        reason=REFUSED,
        message=f"No pod is replaced: {troubles} Correct the images; or, if you know that this way is safe, "
        f'set the annotation {ACCEPTED_PATH}: "{cluster.generation}".',
        degraded=True,
    )


def _trouble_with(change: Change) -> str:
    if change.before is None or change.after is None:
        return ""
    title, way = f"{COMPONENTS[change.component].title}s", f"from {_words(change.before)} to {_words(change.after)}"
    hops = _place(change.after) - _place(change.before)
    if abs(hops) > 1:
        return f"{title} would go {way}, and minor releases are taken one by one."
    lowest = LOWEST_DOWNGRADE.get(change.before[:2])
    if hops < 0 and lowest and change.after < lowest:
        return (
            f"{title} would go {way}, and from {_words(change.before[:2])} only {_words(lowest)} can be gone back to."
        )
    return ""


def _place(release: Release) -> int:
    """Where a release's minor stands in the row of all of them."""
    minor = release[:2]
    if minor in MINORS:
        return MINORS.index(minor)
    newest = MINORS[-1]
    return (
        len(MINORS)
        - 1
        + (minor[1] - newest[1] if minor[0] == newest[0] else minor[1] + 1 + 100 * (minor[0] - newest[0] - 1))
    )


def _backends_older(changes: Sequence[Change], rosters: Rosters, rolls: Mapping[str, Roll]) -> str:
    """Whether backends, or compute nodes, would in the end be of an older minor release than the frontends."""
    frontends = {change.after for change in changes if _is_frontend(change.component)} or _present(rosters.fe.slots)
    for name, rows in (("be", rosters.be.slots), ("cn", rosters.cn.slots)):
        if name not in rolls:
            continue
        touched = {change.after for change in changes if change.component == name}
        ends = touched or _present(rows)
        for older in ends:
            for newer in frontends:
                if older and newer and older[:2] < newer[:2]:
                    return (
                        f"{COMPONENTS[name].title}s would be {_words(older)} and frontends {_words(newer)}, and "
                        "frontends must not be newer than those they command."
                    )
    return ""


def _present(slots: Sequence[object]) -> set[Release | None]:
    return {reported(row.version) for slot in slots for row in getattr(slot, "rows", ())}


def _words(release: Sequence[int]) -> str:
    return ".".join(map(str, release))
