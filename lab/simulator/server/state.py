"""The whole world as plain data, for people and tests that look from outside."""

from __future__ import annotations

from typing import Any

from lab.simulator.model import World
from lab.simulator.model.container import Container
from lab.simulator.model.database import Database
from lab.simulator.model.process import Faults


def world_state(world: World) -> dict[str, Any]:
    return {
        "now": round(world.now, 3),
        "pods": [_pod(container) for container in world.pods.values()],
        "databases": [_database(database) for database in world.databases.values()],
        "violations": [mark.as_dict() for mark in world.violations],
        "consented": [mark.as_dict() for mark in world.consented],
        "losses": [mark.as_dict() for mark in world.losses],
        "refused_logins": dict(world.refused_logins),
    }


def _pod(container: Container) -> dict[str, Any]:
    facts, frontend = container.facts, container.frontend
    healthy = Faults()
    return {
        "namespace": facts.namespace,
        "name": facts.name,
        "address": facts.address,
        "component": facts.component.value,
        "version": facts.version,
        "entrypoint": facts.entrypoint.value,
        "healthy": container.healthy,
        "restarts": container.restarts,
        "activity": (frontend.waiting if frontend is not None else "") or container.activity,
        "volume": container.volume.key,
        "meta": container.volume.meta.name if container.volume.meta is not None else None,
        "faults": {name: value for name, value in vars(container.faults).items() if value != getattr(healthy, name)},
    }


def _database(database: Database) -> dict[str, Any]:
    return {
        "cluster": "/".join(database.cluster),
        "cluster_id": database.cluster_id,
        "leader": database.leader.facts.name if database.leader is not None else None,
        "quorum": database.has_quorum(),
        "group": sorted(database.group),
        "frontends": [
            {"name": row.name, "role": row.role, "joined": row.joined, "alive": row.alive}
            for row in database.state.frontends
        ],
        "nodes": [
            {
                "id": row.node_id,
                "kind": row.kind.value,
                "target": row.target,
                "alive": row.alive,
                "decommissioned": row.decommissioned,
                "tablets": database.tablets.count(row.node_id),
                "behind": database.tablets.behind(row.node_id),
                "error": row.error,
            }
            for row in database.state.nodes
        ],
    }
