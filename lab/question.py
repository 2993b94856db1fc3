"""Put a question to a frontend, as any client of the cluster would."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pymysql
import pymysql.cursors

from lab.controlplane import ControlPlane, LabError
from lab.given import GivenCluster


def ask(address: str, statement: str, *, user: str = "root", password: str = "", port: int = 9030) -> Sequence[Any]:
    """The rows that the frontend at `address` answers, each a mapping from column to text."""
    connection = pymysql.connect(
        host=address,
        port=port,
        user=user,
        password=password,
        connect_timeout=5,
        read_timeout=15,
        cursorclass=pymysql.cursors.DictCursor,
    )
    with connection, connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


def leader_address(plane: ControlPlane | GivenCluster, namespace: str, cluster: str) -> str:
    """The address of the pod that leads, as the cluster's status tells."""
    document = json.loads(plane.kubectl("get", "src", cluster, f"--namespace={namespace}", "--output=json"))
    for member in document.get("status", {}).get("members", ()):
        if member.get("role") == "LEADER" and member.get("alive"):
            pod = plane.kubectl("get", "pod", member["name"], f"--namespace={namespace}", "--output=json")
            return str(json.loads(pod)["status"]["podIP"])
    raise LabError(f"StarRocksCluster {namespace}/{cluster} has no leader yet")
