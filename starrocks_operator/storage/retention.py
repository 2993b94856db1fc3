"""Whether claims would go with their StatefulSet."""

from __future__ import annotations

from starrocks_operator.observed import Children, Raw


def goes_with_it(stateful_set: Raw, children: Children) -> bool:
    """Whether claims belong to the StatefulSet. Orphaned they would stay, but for a race that nobody should run."""
    policy = (stateful_set.get("spec") or {}).get("persistentVolumeClaimRetentionPolicy") or {}
    uid = stateful_set["metadata"].get("uid")
    return policy.get("whenDeleted") == "Delete" or any(
        owner.get("uid") == uid
        for claim in children.of_kind("PersistentVolumeClaim")
        for owner in claim["metadata"].get("ownerReferences") or ()
    )
