"""A pod as membership and status need it: does it run, since when, and if not, why not in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from starrocks_operator.components import COMPONENTS
from starrocks_operator.objects.pod_scripts import registers_itself
from starrocks_operator.observed import Raw

FAILURES = frozenset(
    {
        "CrashLoopBackOff",
        "CreateContainerConfigError",
        "CreateContainerError",
        "ErrImageNeverPull",
        "ErrImagePull",
        "ImageInspectError",
        "ImagePullBackOff",
        "InvalidImageName",
        "RunContainerError",
    }
)
"""Reasons for which a container waits that do not pass by themselves."""

_PROCESSES = frozenset(component.process for component in COMPONENTS.values())

REVISION_LABEL = "controller-revision-hash"


@dataclass(frozen=True, kw_only=True)
class Pod:
    """What matters of one pod.

    running_since: when its main container started; None while it does not run.
    trouble: why it is not ready, as the end of a sentence about its pod; empty if it is ready.
    failed: whether it needs a person. unready_since: None while it is ready. registers_itself: whether what starts it
    adds it to the cluster. claims: names of its volumes that are claims.
    """

    name: str
    created: datetime | None
    address: str
    revision: str
    deleting: bool
    ready: bool
    running_since: datetime | None
    trouble: str
    failed: bool
    uid: str = ""
    unready_since: datetime | None = None
    registers_itself: bool = True
    claims: frozenset[str] = frozenset()

    @classmethod
    def of(cls, raw: Raw) -> Pod:
        metadata = raw.get("metadata") or {}
        status = raw.get("status") or {}
        ready = any(c.get("type") == "Ready" and c.get("status") == "True" for c in status.get("conditions") or ())
        deleting = bool(metadata.get("deletionTimestamp"))
        stuck = _stuck_container(status)
        failed = status.get("phase") == "Failed" or (stuck is not None and stuck[0] in FAILURES)
        return cls(
            name=metadata.get("name", ""),
            created=instant(metadata.get("creationTimestamp")),
            address=status.get("podIP") or "",
            revision=(metadata.get("labels") or {}).get(REVISION_LABEL, ""),
            deleting=deleting,
            ready=ready and not deleting,
            running_since=None if deleting else _running_since(raw),
            trouble="" if ready and not deleting else _trouble(status, deleting=deleting, stuck=stuck),
            failed=failed and not deleting,
            uid=str(metadata.get("uid", "")),
            unready_since=None if ready else _turned(status) or instant(metadata.get("creationTimestamp")),
            registers_itself=registers_itself(raw),
            claims=frozenset(
                volume.get("name", "")
                for volume in (raw.get("spec") or {}).get("volumes") or ()
                if "persistentVolumeClaim" in volume
            ),
        )


def _turned(status: Mapping[str, Any]) -> datetime | None:
    """When it was last found to be ready, or not to be any more."""
    found = (c.get("lastTransitionTime") for c in status.get("conditions") or () if c.get("type") == "Ready")
    return instant(next(found, None))


def instant(text: Any) -> datetime | None:
    """A Kubernetes timestamp; None if there is none, or none that can be read."""
    if isinstance(text, datetime):
        return text if text.tzinfo else text.replace(tzinfo=UTC)
    try:
        parsed = datetime.fromisoformat(str(text))
        return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _running_since(raw: Raw) -> datetime | None:
    status = raw.get("status") or {}
    if status.get("phase") != "Running":
        return None
    main = main_container(raw).get("name")
    for container in status.get("containerStatuses") or ():
        if container.get("name") == main:
            running = (container.get("state") or {}).get("running")
            return instant(running.get("startedAt")) if running else None
    return instant(status.get("startTime"))


def main_container(pod: Raw) -> Mapping[str, Any]:
    """The container of a pod, or of a template, that runs StarRocks: others may have been put in front of it."""
    containers: Sequence[Mapping[str, Any]] = (pod.get("spec") or {}).get("containers") or ({},)
    return next((container for container in containers if container.get("name") in _PROCESSES), containers[0])


def _container_statuses(status: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    yield from status.get("initContainerStatuses") or ()
    yield from status.get("containerStatuses") or ()


def _stuck_container(status: Mapping[str, Any]) -> tuple[str, str] | None:
    """Reason and image of the first container that cannot start."""
    for container in _container_statuses(status):
        reason = ((container.get("state") or {}).get("waiting") or {}).get("reason")
        if reason and reason not in ("ContainerCreating", "PodInitializing"):
            return reason, container.get("image", "")
    return None


def _trouble(status: Mapping[str, Any], *, deleting: bool, stuck: tuple[str, str] | None) -> str:
    """Without the texts that change by the second (back-off times), so that the status stays quiet."""
    phase = status.get("phase") or "Pending"
    if deleting:
        return "is being deleted"
    if stuck:
        reason, image = stuck
        about = f": image {image}" if "Image" in reason and image else ""
        return f"is {phase} ({reason}{about})"
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return f"cannot be scheduled ({str(condition.get('message') or condition.get('reason'))[:200]})"
    if phase == "Running":
        return "runs but is not ready"
    return f"is {phase}"
