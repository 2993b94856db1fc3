"""Recognising a frontend that lost its metadata: its volume is younger than its membership.

The member's name in FE ends with the millisecond at which it was added (`<host>_<edit log port>_<ms>`). A volume
that was made later cannot hold that member's metadata: the pod would wait for ever to be let in. It must be dropped
and added anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from starrocks_operator.components import DEFAULT_ROOT, FE
from starrocks_operator.membership.pods import Pod, instant
from starrocks_operator.observed import FrontendRow, Raw

CLOCK_MARGIN = timedelta(seconds=5)
"""FE's clock and the apiserver's may differ by so much; frontends further apart do not work together anyway."""


def added_at(name: str) -> datetime | None:
    """When the member was added, read from its name in FE."""
    milliseconds = name.rpartition("_")[2]
    if not milliseconds.isascii() or not milliseconds.isdecimal() or len(milliseconds) not in (13, 14):
        return None
    return datetime.fromtimestamp(int(milliseconds) / 1000, tz=UTC)


def meta_claim(pod: str, workload: Raw | None, *, meta_dir: str = "") -> str:
    """The name of the claim that holds a frontend pod's metadata; empty if no claim template of its own makes one."""
    spec = (workload or {}).get("spec") or {}
    container = _container(spec)
    volume = _volume_at(_meta_dir(meta_dir, container), container) if container else None
    templates = spec.get("volumeClaimTemplates") or ()
    made = any((template.get("metadata") or {}).get("name") == volume for template in templates)
    return f"{volume}-{pod}" if volume and made else ""


def meta_born_at(pod: Pod, claims: Mapping[str, Raw], workload: Raw | None, *, meta_dir: str = "") -> datetime | None:
    """When the volume that holds a frontend pod's metadata was made; None if that cannot be told.

    workload: the frontends' StatefulSet, which says what is mounted where.
    """
    spec = (workload or {}).get("spec") or {}
    container = _container(spec)
    if not container:
        return None
    volume = _volume_at(_meta_dir(meta_dir, container), container)
    if volume is None:
        return pod.created  # in the container's own file system
    if claim := meta_claim(pod.name, workload, meta_dir=meta_dir):
        return born_at(claims.get(claim))
    template = (spec.get("template") or {}).get("spec") or {}
    source: Mapping[str, Any] = next((item for item in template.get("volumes") or () if item.get("name") == volume), {})
    if "persistentVolumeClaim" in source:
        return born_at(claims.get((source["persistentVolumeClaim"] or {}).get("claimName", "")))
    return pod.created if "emptyDir" in source or "ephemeral" in source else None


def lost_its_volume(
    row: FrontendRow, pod: Pod, claims: Mapping[str, Raw], workload: Raw | None, *, meta_dir: str = ""
) -> bool:
    """Whether this frontend joined once, is dead, and stands on a volume made after it had been added."""
    if row.alive or not row.joined or pod.deleting:
        return False
    added, born = added_at(row.name), meta_born_at(pod, claims, workload, meta_dir=meta_dir)
    if added is None or born is None or born <= added + CLOCK_MARGIN:
        return False
    started = instant(row.start_time)  # in FE's time zone: an error of some hours only makes this more careful
    return started is None or started < born  # what started on this volume has its metadata there


def _container(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """The main container of the StatefulSet's template; empty if there is none."""
    template = (spec.get("template") or {}).get("spec") or {}
    return next(iter(template.get("containers") or ()), {})


def born_at(claim: Raw | None) -> datetime | None:
    return instant((claim.get("metadata") or {}).get("creationTimestamp")) if claim else None


def _meta_dir(configured: str, container: Mapping[str, Any]) -> str:
    """The directory of the metadata; `${STARROCKS_HOME}` is the component's own directory."""
    environment = {item.get("name"): item.get("value") for item in container.get("env") or ()}
    home = FE.home(environment.get("STARROCKS_ROOT") or DEFAULT_ROOT)
    return configured.replace("${STARROCKS_HOME}", home).rstrip("/") or f"{home}/meta"


def _volume_at(path: str, container: Mapping[str, Any]) -> str | None:
    """The name of the volume with the longest mount path that `path` lies in."""
    mounts = [mount for mount in container.get("volumeMounts") or () if _lies_in(path, str(mount.get("mountPath", "")))]
    return str(max(mounts, key=lambda mount: len(mount["mountPath"])).get("name")) if mounts else None


def _lies_in(path: str, directory: str) -> bool:
    directory = directory.rstrip("/")
    return bool(directory) and (path == directory or path.startswith(directory + "/"))
