"""Whose a node, a pod or a claim is, and what the truth log says of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

OWNER = "app.starrocks.ownerreference/name"
COMPONENT = "app.kubernetes.io/component"
NAMED_LOSS = "starrocks.com/force-drop-backend"


def warehouse_of(target: str) -> str:
    """The warehouse after whose pod a compute node is named, by the name that its objects have; empty: none."""
    match = re.match(r"(.+-warehouse)-cn-\d+\.", target)
    return match[1] if match else ""


def is_of(target: str, cluster: str) -> bool:
    """Named after a pod of this cluster. One that is known by its address is judged by the simulator's marks alone."""
    host = target.rpartition(":")[0]
    return re.fullmatch(rf"{re.escape(cluster)}-(fe|fe-observer|be|cn)-\d+\..*|[\d.]+", host) is not None


def uid_asked(write: Any) -> str:
    """The uid that a delete was bound to; empty: to none."""
    asked = write.asked if isinstance(write.asked, Mapping) else {}
    return str((asked.get("preconditions") or {}).get("uid") or "")


def member_of(write: Any) -> tuple[str, str]:
    """The cluster and the pod that a pod or claim belongs to; empty: it is no member's."""
    metadata = (write.answered if isinstance(write.answered, Mapping) else {}).get("metadata") or {}
    labels = metadata.get("labels") or {}
    owner, ordinal = labels.get(OWNER, ""), write.name.rpartition("-")[2]
    cluster = owner.removesuffix(f"-{labels.get(COMPONENT)}")
    if cluster in ("", owner) or not ordinal.isdecimal():
        return "", ""
    return cluster, f"{owner}-{ordinal}"


def frontend_of(write: Any) -> tuple[str, str]:
    """The same, of frontends alone."""
    cluster, pod = member_of(write)
    group = pod.removeprefix(f"{cluster}-").rpartition("-")[0]
    return (cluster, pod) if group in ("fe", "fe-observer") else ("", "")


def given_up(metadata: Mapping[str, Any]) -> str:
    pod, _, generation = str((metadata.get("annotations") or {}).get(NAMED_LOSS, "")).strip().partition("@")
    return pod if generation == str(metadata.get("generation")) else ""


def frontends_of(truth: Mapping[str, Any] | None) -> dict[str, Mapping[str, Any]]:
    return {row["host"].split(".")[0]: row for row in (truth or {}).get("frontends", ())}


def not_empty(truth: Mapping[str, Any], pod: str) -> Iterator[str]:
    for row in truth["nodes"]:
        if row["kind"] != "be" or row["host"].split(".")[0] != pod or truth["shared_data"]:
            continue
        if not (row["decommissioned"] and row["empty"]):
            state = "holds tablets" if not row["empty"] else "was never told to leave"
            yield f"I2: {pod} was taken away, and backend {row['id']} {state}"


def owner_of(write: Any) -> str:
    """The cluster that an object belongs to, by its label."""
    answered = write.answered if isinstance(write.answered, Mapping) else {}
    return str(((answered.get("metadata") or {}).get("labels") or {}).get(OWNER, ""))


def not_alone(write: Any) -> Iterator[str]:
    """Of a StatefulSet that was deleted: what went with it."""
    asked = write.asked if isinstance(write.asked, Mapping) else {}
    if asked.get("propagationPolicy") != "Orphan":
        yield "I2: a StatefulSet was deleted with its pods"
    if not uid_asked(write):
        yield "I2: a StatefulSet was deleted without a uid"


def still_needed(write: Any, truth: Mapping[str, Any] | None, *, named: str) -> Iterator[str]:
    """Of a backend's claim that was deleted: whether FE counts tablets on it. named: `<pod>@<uid>` that may go."""
    pod, uid = member_of(write)[1], uid_asked(write)
    rows = [row for row in (truth or {}).get("nodes", ()) if row["host"].split(".")[0] == pod]
    if named != f"{pod}@{uid}" and not (uid and all(row["empty"] for row in rows)):
        yield f"I5: claim {write.name} was deleted with tablets on {pod}, and nobody named it"
