"""What stands between a changed spec and the data: the volumes that a StatefulSet was made with, and pods without any.

- Claims of an existing StatefulSet cannot be changed in place. A grown size is the business of `volumes`, an additional
  volume that of `rollout.new_volumes`. Any other difference (a volume removed, of another class, or mounted elsewhere)
  would give pods an empty directory where their data was, or be refused by Kubernetes at every later change: the
  component is held until spec and pods agree.
- Where metadata or tablets go with the pod, replacing a pod loses them: see `rollout.gates.volumes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from starrocks_operator.components import COMPONENTS, Component
from starrocks_operator.decision import Finding
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects import drift
from starrocks_operator.objects.metadata import TEMPLATE_HASH
from starrocks_operator.objects.volumes import Claim
from starrocks_operator.observed import FrontendView, Raw
from starrocks_operator.storage.added import claims_in, offered, ungiven
from starrocks_operator.storage.precious import places

LOSS_CONSENT = "starrocks.com/accept-data-loss-at-generation"

Object = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What the guard judges. wanted, live: StatefulSets by component. founded: whether anything could be lost."""

    cluster: StarRocksCluster
    wanted: Mapping[str, Object]
    live: Mapping[str, Raw]
    properties: Mapping[str, Mapping[str, str]]
    view: FrontendView | None
    now: datetime
    founded: bool


def guarded(scene: Scene) -> tuple[tuple[str, Finding], ...]:
    """What is wrong with each component's change; a component with a degrading finding must not be applied."""
    return tuple(
        (name, finding)
        for name in scene.live.keys() & scene.wanted.keys()
        for finding in (*_claims(scene, COMPONENTS[name]), *_moved(scene, name))
    )


def stateful_sets(wanted: Mapping[str, Sequence[Object]]) -> dict[str, Object]:
    """The StatefulSet among each component's objects."""
    found = {name: [item for item in items if item["kind"] == "StatefulSet"] for name, items in wanted.items()}
    return {name: items[0] for name, items in found.items() if items}


def template_changes(desired: Object, stateful_set: Raw) -> bool:
    """Whether applying would replace pods. What we applied last is known by its hash; of another operator's
    StatefulSet only what we would add or change can be seen."""
    if (desired["spec"].get("updateStrategy") or {}).get("type") == "OnDelete":
        return False  # its owner replaces pods by hand
    recorded = (stateful_set["metadata"].get("annotations") or {}).get(TEMPLATE_HASH)
    if recorded is not None:
        return bool(recorded != desired["metadata"]["annotations"][TEMPLATE_HASH])
    live, wanted = (stateful_set.get("spec") or {}).get("template") or {}, desired["spec"]["template"]
    return drift.missing({"template": live}, {"template": wanted}) is not None


def _claims(scene: Scene, component: Component) -> Iterator[Finding]:
    desired, there = scene.wanted[component.name], scene.live[component.name]
    wanted = {claim.name: claim for claim in claims_in(desired)}
    live = {claim.name: claim for claim in claims_in(there) if claim.name not in offered(there)}
    for name in ungiven(desired, there):
        why = "is new, and their updateStrategy keeps the operator from replacing every pod"
        yield _unsupported(component, f"Volume {name} of the {component.title}s {why}.")
    for name in sorted(live):
        if trouble := _difference(wanted.get(name), live[name]):
            yield _unsupported(component, f"Volume {name} of the {component.title}s {trouble}.")


def _moved(scene: Scene, name: str) -> Iterator[Finding]:
    component, properties = COMPONENTS[name], scene.properties.get(name) or {}
    before = places(component, scene.live[name], properties)
    after = places(component, scene.wanted[name], properties)
    if scene.founded and before != after:
        was, will = (", ".join(map(str, found)) for found in (before, after))
        yield _unsupported(component, f"The data of the {component.title}s lies in {was} and would lie in {will}.")


def _unsupported(component: Component, trouble: str) -> Finding:
    return Finding(
        reason="VolumeChangeNotSupported",
        message=f"{trouble} The volumes of existing pods cannot be changed yet, and the data on them would be lost: "
        f"nothing of the {component.title}s is applied until the spec says what they were made with.",
        degraded=True,
    )


def _difference(wanted: Claim | None, live: Claim) -> str:
    if wanted is None:
        return "is no longer in the spec as a volume of its own"
    if wanted.storage_class is not None and wanted.storage_class != live.storage_class:
        return f"shall have storage class {wanted.storage_class!r} and was made with {live.storage_class!r}"
    return ""
