"""What the demo shows, as data: one look at the cluster, and what happened between two looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

COMPONENTS = {"fe": "frontends", "be": "backends", "cn": "compute nodes"}
MEMBER_KINDS = {"frontend": "fe", "backend": "be", "computeNode": "cn"}


@dataclass(frozen=True, kw_only=True)
class Member:
    """A pod and what FE says of it."""

    pod: str
    component: str
    phase: str = "waited for"
    ready: bool = False
    role: str = ""
    alive: bool = False


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One look at the cluster."""

    phase: str = "applied"
    cluster_id: str = ""
    objects: frozenset[str] = frozenset()
    members: Mapping[str, Member] = field(default_factory=dict)
    wanted: Mapping[str, int] = field(default_factory=dict)
    waiting_for: tuple[str, ...] = ()
    conditions: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # type -> (status, message)

    @property
    def finished(self) -> bool:
        return self.phase == "running" and self.conditions.get("Ready", ("", ""))[0] == "True"


def scene(cluster: Mapping[str, Any], pods: Sequence[Mapping[str, Any]], objects: frozenset[str]) -> Scene:
    """What a cluster, its pods and the names of its objects look like."""
    status = cluster.get("status", {})
    spec = cluster["spec"]
    known = {member["name"]: member for member in status.get("members", ())}
    members = {}
    for pod in pods:
        name = pod["metadata"]["name"]
        told = known.get(name, {})
        members[name] = Member(
            pod=name,
            component=pod["metadata"]["labels"]["app.kubernetes.io/component"],
            phase=pod.get("status", {}).get("phase", "Pending"),
            ready=any(
                condition["type"] == "Ready" and condition["status"] == "True"
                for condition in pod.get("status", {}).get("conditions", ())
            ),
            role=told.get("role", ""),
            alive=bool(told.get("alive")),
        )
    keys = {"fe": "starRocksFeSpec", "be": "starRocksBeSpec", "cn": "starRocksCnSpec"}
    return Scene(
        phase=status.get("phase", "applied"),
        cluster_id=status.get("bootstrap", {}).get("clusterId", ""),
        objects=objects,
        members=members,
        wanted={component: spec[key].get("replicas", 1) for component, key in keys.items() if key in spec},
        waiting_for=tuple(status.get("waitingFor", ())),
        conditions={
            condition["type"]: (condition["status"], condition.get("message", ""))
            for condition in status.get("conditions", ())
        },
    )


def story(before: Scene, after: Scene) -> list[str]:
    """What happened between two looks, one line each, in the order in which a person would tell it."""
    lines = [f"{name} is made" for name in sorted(after.objects - before.objects)]
    for name, member in sorted(after.members.items()):
        earlier = before.members.get(name, Member(pod=name, component=member.component))
        if member.ready and not earlier.ready:
            lines.append(f"pod {name} is ready")
        if member.alive and not earlier.alive:
            role = f" as {member.role.lower()}" if member.role else ""
            lines.append(f"{name} has joined{role}")
        elif earlier.alive and not member.alive:
            lines.append(f"{name} is not alive any more")
        elif member.alive and member.role != earlier.role and member.role == "LEADER":
            lines.append(f"{name} leads now")
    lines += [f"{name} is gone" for name in sorted(before.members.keys() - after.members.keys())]
    if after.cluster_id and not before.cluster_id:
        lines.append(f"the cluster is founded: id {after.cluster_id}, recorded once and for all")
    if after.phase != before.phase:
        lines.append(f"phase: {before.phase} → {after.phase}")
    return lines
