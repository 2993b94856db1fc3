"""Reach into a node's namespaces from the machine: the wire between the two, and how a program is started inside."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from lab.controlplane.errors import LabError
from lab.node.place import Place

# Joins the node's control groups, then becomes the program. (nsenter, not `ip netns exec`, which mounts another /sys.)
_JOIN = 'for group in $0; do echo $$ >"$group"; done; exec "$@"'


def first(place: Place) -> int:
    """The first process of the namespaces, as the machine counts."""
    return int(json.loads(place.keeper_state.read_text())["pid"])


def entered(pid: int, groups: Sequence[Path], command: Sequence[str]) -> list[str]:
    """The command line that runs `command` in the namespaces of `pid` and in these control groups."""
    joins = " ".join(map(str, groups))
    enter = ["nsenter", f"--target={pid}", "--mount", "--net", "--pid", "--", *command]
    return ["sh", "-c", _JOIN, joins, *enter]


def connect(place: Place, pid: int) -> None:
    """Lay the wire between the machine and the node, and tell the node what lies beyond it: the API server alone."""
    inside = ["nsenter", f"--target={pid}", "--net", "--"]
    _run("ip", "link", "add", place.wire, "type", "veth", "peer", "name", "wire", "netns", str(pid))
    _run("ip", "address", "add", f"{place.machine_address}/30", "dev", place.wire)
    _run("ip", "link", "set", place.wire, "up")
    _run(*inside, "ip", "address", "add", f"{place.address}/30", "dev", "wire")
    _run(*inside, "ip", "link", "set", "wire", "up")
    # Service addresses are translated before they are routed anywhere; the kernel only wants to know some way.
    _run(*inside, "ip", "route", "add", place.services, "dev", "wire")
    _run(*inside, "nft", "-f", str(place.config / "nat.nft"))


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LabError(f"`{' '.join(command)}` failed: {done.stderr.strip()}")
