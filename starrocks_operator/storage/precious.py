"""Where a component keeps what must not be lost: which volume, and which path in it.

Told from a StatefulSet's pod template and the component's configuration file, for the live one and the wanted one
alike. A directory that moves is as bad as a volume that goes: the pods would start on an empty one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starrocks_operator.components import DEFAULT_ROOT, Component
from starrocks_operator.observed import Raw

CLAIM, EMPTY_DIR, CONTAINER = "claim", "emptyDir", "container"
_CONFIGURED = {"fe": "meta_dir", "be": "storage_root_path"}
_DIRECTORY = {"fe": "meta", "be": "storage"}


@dataclass(frozen=True, kw_only=True)
class Place:
    """A directory on a volume.

    source: `claim`, `emptyDir`, `container` (the container's own file system), or the kind of another volume.
    """

    source: str
    volume: str
    path: str  # within the volume

    @property
    def volatile(self) -> bool:
        """Whether what lies there goes with the pod."""
        return self.source in (EMPTY_DIR, CONTAINER, "ephemeral")

    def __str__(self) -> str:
        within = f", path {self.path}" if self.path else ""
        return f"{self.source} {self.volume}{within}".strip()


def places(component: Component, stateful_set: Raw, properties: Mapping[str, str]) -> tuple[Place, ...]:
    """Where the precious directories of a component lie; none for a component that keeps nothing."""
    if component.process not in _DIRECTORY:
        return ()
    spec = stateful_set.get("spec") or {}
    pod = (spec.get("template") or {}).get("spec") or {}
    containers: Sequence[Mapping[str, Any]] = pod.get("containers") or ({},)
    container = next((item for item in containers if item.get("name") == component.process), containers[0])
    claims = {template["metadata"]["name"] for template in spec.get("volumeClaimTemplates") or ()}
    return tuple(_place(path, container, pod, claims) for path in _directories(component, container, properties))


def _directories(component: Component, container: Mapping[str, Any], properties: Mapping[str, str]) -> Iterator[str]:
    environment = {item.get("name"): item.get("value") for item in container.get("env") or ()}
    home = component.home(environment.get("STARROCKS_ROOT") or DEFAULT_ROOT)
    configured = properties.get(_CONFIGURED[component.process], "").replace("${STARROCKS_HOME}", home)
    for entry in configured.split(";"):  # each may go on with properties: /data,medium:ssd
        if path := entry.split(",")[0].strip().rstrip("/"):
            yield path
    if not configured.strip():
        yield f"{home}/{_DIRECTORY[component.process]}"


def _place(path: str, container: Mapping[str, Any], pod: Mapping[str, Any], claims: set[str]) -> Place:
    mounts = [mount for mount in container.get("volumeMounts") or () if _lies_in(path, str(mount.get("mountPath", "")))]
    if not mounts:
        return Place(source=CONTAINER, volume="", path=path)
    mount = max(mounts, key=lambda item: len(item["mountPath"]))
    below = path.removeprefix(mount["mountPath"].rstrip("/")).strip("/")
    within = "/".join(part for part in (str(mount.get("subPath") or "").strip("/"), below) if part)
    return Place(source=_source(mount["name"], pod, claims), volume=mount["name"], path=within)


def _source(name: str, pod: Mapping[str, Any], claims: set[str]) -> str:
    if name in claims:
        return CLAIM
    volume: Mapping[str, Any] = next((item for item in pod.get("volumes") or () if item.get("name") == name), {})
    kind = next((key for key in volume if key != "name"), EMPTY_DIR)
    return CLAIM if kind == "persistentVolumeClaim" else str(kind)


def _lies_in(path: str, directory: str) -> bool:
    directory = directory.rstrip("/")
    return bool(directory) and (path == directory or path.startswith(directory + "/"))
