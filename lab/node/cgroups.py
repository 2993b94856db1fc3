"""The control groups of a node: one in each hierarchy of the machine, in which everything of the node runs.

Whoever is in them is the node's, wherever it forked to: so they also tell what to end.
"""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from lab.controlplane.errors import LabError

_ROOT = Path("/sys/fs/cgroup")
_INHERITED = ("cpuset.cpus", "cpuset.mems")  # empty in a new cpuset of the first version, which then takes nobody
_BESIDE = "unified"  # the second version beside the first: it holds nothing
_PATIENCE = 20.0


def make(name: str) -> list[Path]:
    """Make the node's group everywhere and return where a process of the node writes its id to join."""
    groups = [hierarchy / name for hierarchy in _hierarchies()]
    for group in groups:
        group.mkdir(exist_ok=True)
        for setting in _INHERITED:
            if (group / setting).exists() and not _unified():
                (group / setting).write_text((group.parent / setting).read_text())
    if not _unified():
        return [group / "cgroup.procs" for group in groups]
    # In the second version a group with children has no processes: the node's own programs get a child, too.
    for parent in (_ROOT, groups[0]):
        controllers = (parent / "cgroup.controllers").read_text().split()
        (parent / "cgroup.subtree_control").write_text(" ".join(f"+{controller}" for controller in controllers))
    own = groups[0] / "node"
    own.mkdir(exist_ok=True)
    return [own / "cgroup.procs"]


def remove(name: str) -> None:
    """End whoever is left in the node's groups, then remove them."""
    deadline = time.monotonic() + _PATIENCE
    while processes := members(name):
        for process in processes:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        if time.monotonic() > deadline:
            raise LabError(
                f"processes {sorted(processes)} in the control group {name} do not end: they may hang in I/O"
            )
        time.sleep(0.05)
    for hierarchy in (*_hierarchies(), _ROOT / _BESIDE):  # runc makes its own there, whoever asked it to
        for group in _below(hierarchy / name):
            group.rmdir()


def members(name: str) -> set[int]:
    """Every process in the node's groups."""
    found = set()
    for hierarchy in _hierarchies():
        for group in _below(hierarchy / name):
            found |= {int(line) for line in (group / "cgroup.procs").read_text().split()}
    return found


def _below(group: Path) -> Iterator[Path]:
    """The group and all of its children, children first."""
    if not group.is_dir():
        return
    for path, _, _ in os.walk(group, topdown=False):
        yield Path(path)


def _hierarchies() -> list[Path]:
    if _unified():
        return [_ROOT]
    named = [path for path in _ROOT.iterdir() if path.is_dir() and not path.is_symlink()]
    return sorted(path for path in named if (path / "cgroup.procs").exists() and path.name != _BESIDE)


def _unified() -> bool:
    return (_ROOT / "cgroup.controllers").exists()
