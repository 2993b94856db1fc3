"""What the tables of backends and compute nodes stand on, gathered from the cluster, its status and what was seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from starrocks_operator.decision import Context
from starrocks_operator.membership.auto_drop import AUTO_DROP
from starrocks_operator.membership.backends import BACKENDS, SHARED_DATA_BACKENDS
from starrocks_operator.membership.memory import US, Memory
from starrocks_operator.membership.named_loss import NamedLoss, replacement_of
from starrocks_operator.membership.node_table import DEFAULT_DRAIN, DEFAULT_STALL, SCHEDULING, Ground, Kind
from starrocks_operator.membership.slots import DEFAULT_GRACE
from starrocks_operator.model import ComponentName, StarRocksCluster
from starrocks_operator.model.status import Member
from starrocks_operator.objects.names import stateful_set_name
from starrocks_operator.observed import Children, Observed, Outcome, Questions

STALL_SECONDS = "starrocks.com/stall-seconds"
"""Annotation: how long a leaving backend may lose no tablet until `ScaleInStalled` is said; and how long no pod may be
replaced in a roll until `RolloutStalled` is."""

DRAIN_SECONDS = "starrocks.com/query-drain-seconds"
"""Annotation: how long a leaving compute node may take to finish its queries."""

_NOWHERE = ("leaving", "stalled", "given-up")
ROLLED_SETTINGS = ("tablet_sched_disable_balance", "tablet_sched_disable_colocate_balance", SCHEDULING)
"""What is held while minor releases change: see `rollout.settings`."""
LONGEST = 7 * 86400


def node_ground(
    cluster: StarRocksCluster, observed: Observed, *, since: datetime | None, grace: timedelta = DEFAULT_GRACE
) -> Ground:
    view = observed.view
    return Ground(
        now=observed.now,
        since=since,
        grace=grace,
        memory=Memory.of(cluster, observed.children),
        settings=view.settings if view else None,
        replication=view.replication if view else None,
        blacklists=view.blacklists if view else None,
        unheard=view is not None and any(answer.outcome != Outcome.ANSWERED for answer in view.answers),
        drain=_seconds(cluster.annotations, DRAIN_SECONDS, DEFAULT_DRAIN),
        stall=stall_of(cluster),
        named=NamedLoss.of(cluster),
    )


def stall_of(cluster: StarRocksCluster) -> timedelta:
    """How long nothing may move until it is said."""
    return _seconds(cluster.annotations, STALL_SECONDS, DEFAULT_STALL)


def backend_kind(context: Context) -> Kind:
    """By the frontends' configuration, which cannot be changed after the founding."""
    mode = (context.properties.get("fe") or {}).get("run_mode", "")
    return SHARED_DATA_BACKENDS if mode.strip().lower() == "shared_data" else BACKENDS


def questions_of(cluster: StarRocksCluster, children: Children, *, http_port: int = 0) -> Questions:
    """What the leader is asked besides its members: everything before backends are told to leave, or if one gets
    nowhere; while they do leave, only what must be noticed when a frontend forgets it. http_port: FE's, at which those
    of a warehouse are asked whether there can be one."""
    asked = _questions_of(cluster, children)
    rollout = (cluster.status.rollout if cluster.status else None) or {}
    memory = Memory.of(cluster, children)
    lists = bool(memory.quiet) or (bool(rollout) and not str(rollout.get("component", "")).startswith("fe"))
    if cluster.warehouse:  # FE's settings and tablets are its cluster's to look after
        return replace(asked, http_port=http_port, blacklists=asked.blacklists or lists)
    if _is_to_be_replaced(cluster, children):
        asked = replace(asked, health=True, copies=True)
    keys = ROLLED_SETTINGS if rollout.get("minor") or any(key in memory.held for key in ROLLED_SETTINGS) else ()
    if not (rollout or lists or keys):
        return asked
    asked = replace(
        asked,
        settings=tuple(dict.fromkeys((*asked.settings, *keys))),
        blacklists=asked.blacklists or lists,
        backend_blacklists=lists,
    )
    if not rollout:
        return asked
    claims = (children.get("StatefulSet", stateful_set_name(cluster, "be")) or {}).get("spec") or {}
    return replace(
        asked, health=True, copies=asked.copies or not claims.get("volumeClaimTemplates"), jobs_port=http_port
    )


def _is_to_be_replaced(cluster: StarRocksCluster, children: Children) -> bool:
    """Whether a backend is named, with the volume that it still has."""
    _, uid = replacement_of(cluster)
    claims = children.of_kind("PersistentVolumeClaim") if uid else ()
    return any(claim["metadata"].get("uid") == uid for claim in claims)


def _questions_of(cluster: StarRocksCluster, children: Children) -> Questions:
    memory = Memory.of(cluster, children)
    members = tuple(memory.members.values())
    blacklists = _told("computeNode", members) > 0 or _to_tell(cluster, children, members, "cn", "computeNode") > 0
    if _to_tell(cluster, children, members, "be", "backend") > 0:
        return Questions(settings=(AUTO_DROP, SCHEDULING), replication=True, blacklists=blacklists)
    held = _told("backend", members) > 0 or AUTO_DROP in memory.held
    return Questions(settings=(AUTO_DROP,) if held else (), blacklists=blacklists)


def _told(kind: str, members: Iterable[Member]) -> int:
    return sum(member.kind == kind and member.ordered_by == US for member in members)


def _to_tell(
    cluster: StarRocksCluster, children: Children, members: Sequence[Member], component: ComponentName, kind: str
) -> int:
    """How many have yet to be told to leave, or get nowhere."""
    spec = cluster.spec.component(component)
    live = children.get("StatefulSet", stateful_set_name(cluster, component))
    places = int(((live or {}).get("spec") or {}).get("replicas", 1)) if live else 0
    surplus = places - (spec.replicas if spec is not None else places) - _told(kind, members)
    return max(surplus, 0) + sum(member.kind == kind and member.state in _NOWHERE for member in members)


def _seconds(annotations: Mapping[str, str], name: str, default: timedelta) -> timedelta:
    """A number of seconds; what is none, or out of all bounds, is as if it were not there."""
    text = annotations.get(name, "")
    if not text.isascii() or not text.isdecimal() or not 0 < len(text) < 8:
        return default
    return timedelta(seconds=min(int(text), LONGEST))
