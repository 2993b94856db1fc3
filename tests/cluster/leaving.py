"""What tests of scale-ins look at: FE's rows, the operator's deeds, and tables of which a known share can move."""

from __future__ import annotations

import re
from typing import Any

from lab.space import Document, Space
from lab.witness import Write

BE, CN = "starRocksBeSpec", "starRocksCnSpec"
AUTO_DROP = "drop_backend_after_decommission"


def fill(space: Space, cluster: str, *, moving: int, resting: int = 0, replication: int = 3) -> None:
    """Tablets: those that migrate, and those that stay where they are because their table is in the recycle bin."""
    for name, tablets in (("moving", moving), ("resting", resting)):
        if tablets:
            body = {"name": name, "tablets": tablets, "replication": replication, "tablet_gb": 0.1}
            space.simulator("POST", "/tables", {**_named(space, cluster), **body})
    if resting:
        throw_away(space, cluster, "resting")


def throw_away(space: Space, cluster: str, table: str) -> None:
    """DROP TABLE: it lies in the recycle bin."""
    space.simulator("DELETE", "/tables", {**_named(space, cluster), "name": table})


def empty_the_bin(space: Space, cluster: str) -> None:
    space.simulator("POST", "/recycle-bin/empty", _named(space, cluster))


def tell(space: Space, cluster: str, statement: str) -> Any:
    """What a person says at the console of the leader."""
    return space.simulator("POST", "/sql", {"pod": f"{cluster}-fe-0", "namespace": space.namespace, "sql": statement})


def backends(space: Space, cluster: str) -> dict[str, Document]:
    """FE's rows by the pods' names."""
    return {row["IP"].split(".")[0]: row for row in tell(space, cluster, "SHOW BACKENDS")["rows"]}


def compute_nodes(space: Space, cluster: str) -> dict[str, Document]:
    return {row["IP"].split(".")[0]: row for row in tell(space, cluster, "SHOW COMPUTE NODES")["rows"]}


def ids(space: Space, cluster: str) -> dict[str, str]:
    return {pod: row["BackendId"] for pod, row in backends(space, cluster).items()}


def leaving(space: Space, cluster: str) -> set[str]:
    """The backends that FE is emptying."""
    return {pod for pod, row in backends(space, cluster).items() if row["SystemDecommissioned"] == "true"}


def tablets(space: Space, cluster: str) -> dict[str, int]:
    return {pod: int(row["TabletNum"]) for pod, row in backends(space, cluster).items()}


def statistic(space: Space, cluster: str) -> Document:
    """Tablets, replicas and unhealthy ones of all tables that are not in the recycle bin."""
    found: Document = tell(space, cluster, "SHOW PROC '/statistic'")["rows"][-1]
    return found


def setting(space: Space, cluster: str, key: str = AUTO_DROP) -> str:
    return str(tell(space, cluster, f"ADMIN SHOW FRONTEND CONFIG LIKE '{key}'")["rows"][0]["Value"])


def set_config(space: Space, cluster: str, key: str, value: str) -> None:
    tell(space, cluster, f'ADMIN SET FRONTEND CONFIG ("{key}" = "{value}")')


def replicas(space: Space, stateful_set: str) -> int:
    return int(space.get("StatefulSet", stateful_set)["spec"]["replicas"])


def births(space: Space, prefix: str) -> dict[str, str]:
    """The uids of a component's pods."""
    pods = (pod["metadata"] for pod in space.all("Pod"))
    return {meta["name"]: meta["uid"] for meta in pods if meta["name"].startswith(prefix)}


def restarts(space: Space, prefix: str) -> int:
    """The restarts of a component's containers in all."""
    pods = (pod for pod in space.all("Pod") if pod["metadata"]["name"].startswith(prefix))
    return sum(each["restartCount"] for pod in pods for each in pod["status"].get("containerStatuses") or ())


def shrunk_to(space: Space, stateful_set: str) -> list[int]:
    """The replicas that the operator gave a StatefulSet, one after the other, each time they were fewer than before."""
    found, before = [], None
    for write in _writes(space):
        if write.resource == "statefulsets" and write.name == stateful_set and write.code < 300:
            now = int(write.answered["spec"]["replicas"])
            if before is not None and now < before:
                found.append(now)
            before = now
    return found


def said(space: Space, cluster: str, verb: str) -> list[str]:
    """The pods that the operator named in statements that begin so: `DECOMMISSION BACKEND`, `DROP COMPUTE NODE`."""
    found = []
    for line in space.stack.witness.statements():
        if (line["namespace"], line["cluster"], line["source"]) == (space.namespace, cluster, "client"):
            match = re.search(rf"(?:^|SYSTEM ){verb} \"([^\".]+)", line["statement"])
            found += [match[1]] if match else []
    return found


def finding(space: Space, cluster: str, reason: str) -> str:
    """The message of the condition that gives this reason; empty: none does."""
    conditions = space.status(cluster).get("conditions", [])
    return next((condition["message"] for condition in conditions if condition["reason"] == reason), "")


def _named(space: Space, cluster: str) -> Document:
    return {"cluster": cluster, "namespace": space.namespace}


def _writes(space: Space) -> list[Write]:
    return [write for write in space.stack.witness.writes() if write.namespace == space.namespace]
