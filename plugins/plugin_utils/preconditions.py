"""What has to hold before an object is written: it is ours or free, and no member is taken away by the way.

Pure rules; each answers with the reason not to write, for a person, or with nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.metadata import COMPONENT_LABEL, owner_label

HELD_COMPONENTS = ("fe", "fe-observer", "be")  # they hold metadata and tablets, and leave one by one

Raw = Mapping[str, Any]


def holds_data(wanted: Raw) -> bool:
    """Whether these are the pods of frontends or backends."""
    labels = wanted["metadata"].get("labels") or {}
    return wanted["kind"] == "StatefulSet" and labels.get(COMPONENT_LABEL) in HELD_COMPONENTS


def objection(live: Raw, wanted: Raw, cluster: StarRocksCluster) -> str:
    """Why the wanted object must not be applied over the live one; empty if it may."""
    return takeover(live, cluster) or (fewer(live, wanted) if holds_data(wanted) else "")


def takeover(live: Raw, cluster: StarRocksCluster) -> str:
    """Why this object is not ours to write. What was orphaned, and has our label, is taken in again."""
    metadata = live.get("metadata") or {}
    controller = controller_of(metadata)
    if controller is not None and controller.get("uid") == cluster.uid:
        return ""
    if controller is not None:
        owner = f"{controller.get('kind')} {controller.get('name')} (uid {controller.get('uid')})"
        return f"exists and is not ours but belongs to {owner}: rename or delete it"
    if (metadata.get("labels") or {}).get(owner_label(cluster)) == cluster.name:
        return ""
    return "exists and is not ours: rename or delete it"


def fewer(live: Raw, wanted: Raw) -> str:
    """Whether applying would take frontends or backends away."""
    has, applied = _replicas(live), _replicas(wanted)
    if has <= applied:
        return ""
    return f"has {has} replicas and {applied} were to be applied: fewer frontends or backends are never applied"


def controller_of(metadata: Raw) -> Raw | None:
    return next((owner for owner in metadata.get("ownerReferences") or () if owner.get("controller")), None)


def _replicas(raw: Raw) -> int:
    """Kubernetes takes one for none said."""
    replicas = (raw.get("spec") or {}).get("replicas")
    return 1 if replicas is None else int(replicas)
