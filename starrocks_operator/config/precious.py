"""Entries of a configuration that members cannot change once they are there: what FE knows them by, and where data is.

They are compared with those in force, which the StatefulSet remembers: a file that was changed in place does not say
what it said before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from starrocks_operator.components import Component

_HOME = "${STARROCKS_HOME}"
_KNOWN_BY = "FE knows its members by it, and would take each for dead"
_ONE_FOR_ALL = "all frontends must have the same, which they have not while they are replaced one by one"
_TRUTH = ("true", "1", "yes", "on")


@dataclass(frozen=True, kw_only=True)
class Precious:
    """processes: whose files have it. why: what a change would do, as the end of a sentence."""

    key: str
    processes: tuple[str, ...]
    default: str
    why: str


PRECIOUS = (
    Precious(key="edit_log_port", processes=("fe",), default="9010", why=_KNOWN_BY),
    Precious(key="query_port", processes=("fe",), default="9030", why=_ONE_FOR_ALL),
    Precious(key="http_port", processes=("fe",), default="8030", why=_ONE_FOR_ALL),
    Precious(
        key="meta_dir",
        processes=("fe",),
        default=f"{_HOME}/meta",
        why="the frontends would start without their metadata",
    ),
    Precious(
        key="run_mode",
        processes=("fe",),
        default="shared_nothing",
        why="it is decided when the cluster is founded, and frontends do not start with another one",
    ),
    Precious(key="heartbeat_service_port", processes=("be", "cn"), default="9050", why=_KNOWN_BY),
    Precious(
        key="storage_root_path",
        processes=("be",),
        default=f"{_HOME}/storage",
        why="the tablets in a directory that is left out would be lost. Directories may be added",
    ),
)
"""`priority_networks` is none of them: members are known by name."""

RESETS = ("bdbje_reset_election_group", "metadata_failure_recovery")
"""For the rescue of one frontend by hand. In the configuration of all, each would found a cluster of its own."""


def accepted_of(component: Component, properties: Mapping[str, str]) -> dict[str, str]:
    """The precious entries of a configuration."""
    keys = [entry.key for entry in PRECIOUS if component.process in entry.processes]
    return {key: properties[key] for key in keys if key in properties}


def refusals(
    component: Component, properties: Mapping[str, str], accepted: Mapping[str, str] | None, *, home: str, founded: str
) -> Iterator[tuple[str, str]]:
    """Key and sentence of each entry that must not be. accepted: what is in force; None: that is not known, and what
    is there counts as accepted. founded: the cluster's id; empty: it may still become anything."""
    if component.process == "fe":
        yield from _rescues(properties)
        mine = properties.get("cluster_id", "")
        if founded and mine.isdecimal() and mine not in ("-1", founded):
            yield "cluster_id", f"cluster_id is {mine}, and the cluster was founded as {founded}: remove it."
    if accepted is None or not founded:
        return
    for entry in PRECIOUS:
        if component.process not in entry.processes:
            continue
        was, now = (found.get(entry.key, entry.default).strip() for found in (accepted, properties))
        if not _same(entry, was, now, home):
            yield entry.key, f"{entry.key} must stay {was!r}, and is to be {now!r}: {entry.why}."


def _rescues(properties: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for key in RESETS:
        if properties.get(key, "").strip().lower() in _TRUTH:
            yield key, f"{key} is for the rescue of one frontend: with it, each would found a cluster of its own."


def _same(entry: Precious, was: str, now: str, home: str) -> bool:
    if entry.key == "storage_root_path":
        return _directories(was, home) <= _directories(now, home)
    if entry.key == "meta_dir":
        return _directories(was, home) == _directories(now, home)
    return was.lower() == now.lower()


def _directories(value: str, home: str) -> set[str]:
    """Each may go on with properties: /data,medium:ssd."""
    paths = (part.split(",")[0].strip().replace(_HOME, home).rstrip("/") for part in value.split(";"))
    return {path for path in paths if path}
