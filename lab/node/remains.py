"""What a node leaves on the machine, found by what it wrote down, and how it is removed. Nothing is looked for by name.

A node writes its number and its keeper down before anything else, and each of its processes when it starts.
"""

import json
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from lab.controlplane.errors import LabError
from lab.controlplane.pki import write_private
from lab.controlplane.plane import ControlPlane
from lab.controlplane.processes import Process
from lab.node import cgroups
from lab.node.place import Place

_KEPT = {"logs", ".lock"}


@dataclass(frozen=True)
class Record:
    """What a node has of its own so far: enough to end it."""

    number: int
    processes: tuple[Process, ...] = ()  # the keeper first
    ready: bool = False

    @classmethod
    def read(cls, directory: Path) -> "Record | None":
        try:
            state = json.loads((directory / "node.json").read_text())
        except FileNotFoundError:
            return None
        processes = tuple(Process(**process) for process in state["processes"])
        return cls(number=state["number"], processes=processes, ready=state["ready"])

    def write(self, place: Place) -> None:
        write_private(place.state, json.dumps(asdict(self), indent=2).encode())


def clear(directory: Path, *, keeper: bool = True) -> None:
    """End the node of `directory` and remove all it made but its logs. `keeper=False`: the keeper itself asks."""
    record = Record.read(directory)
    if record is not None:
        place = Place(directory=directory, number=record.number)
        for process in reversed(record.processes[0 if keeper else 1 :]):
            process.stop(patience=2.0)
        _end_namespaces(place)
        cgroups.remove(place.cgroup)
        _stop_plane(place)
        _remove_wire(place)
    _remove_files(directory)


def _end_namespaces(place: Place) -> None:
    """The first process of the namespaces takes all others with it, if the keeper has not ended it already."""
    try:
        first = Process(name="init", **json.loads(place.keeper_state.read_text()))
    except FileNotFoundError:
        return
    first.stop(patience=2.0)


def _stop_plane(place: Place) -> None:
    try:
        ControlPlane.attach(place.plane).stop()
    except LabError:
        return  # it was never started, or is stopped


def _remove_wire(place: Place) -> None:
    """It goes with the node's network, if a moment later than its last process."""
    subprocess.run(["ip", "link", "delete", place.wire], capture_output=True, check=False)


def _remove_files(directory: Path) -> None:
    for mount in _mounts_below(directory):
        subprocess.run(["umount", "--lazy", mount], check=True)
    for path in directory.iterdir():
        if path.name in _KEPT:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _mounts_below(directory: Path) -> Iterable[str]:
    """Deepest first. There are none unless somebody mounted by hand: the node's own go with its namespace."""
    mounted = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    return sorted((path for path in mounted if path.startswith(f"{directory}/")), key=len, reverse=True)
