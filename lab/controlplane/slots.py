"""Give each running lab a number of its own, and take it back when the lab is gone, however it went.

The number is held by a lock on a file, and the lock by the lab's own processes, which inherit its descriptor: it is
free again exactly when the last of them has ended, so there are no stale locks to clean up. A port in use rules a
number out as well, which covers labs of other users.
"""

import fcntl
import hashlib
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lab.controlplane.errors import LabError
from lab.controlplane.layout import HIGHEST_NUMBER, LOWEST_NUMBER, Layout


@dataclass(frozen=True)
class Slot:
    """A claimed number. `descriptor` holds the claim: pass it on to every process of the lab."""

    layout: Layout
    descriptor: int


def claim(*, directory: Path, name: str, slots: Path) -> Slot:
    """Claim a free number for the lab in `directory`; the same directory gets the same number when it can."""
    slots.mkdir(parents=True, exist_ok=True, mode=0o700)
    for number in candidates(directory):
        layout = Layout(directory=directory, name=name, number=number)
        descriptor = os.open(slots / str(number), os.O_RDWR | os.O_CREAT, 0o600)
        if _lock(descriptor) and all(_port_is_free(port) for port in layout.ports):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(directory).encode(), 0)
            return Slot(layout=layout, descriptor=descriptor)
        os.close(descriptor)
    raise LabError(
        f"no number between {LOWEST_NUMBER} and {HIGHEST_NUMBER} is free for another lab: "
        "stop one with `python -m lab.controlplane down`"
    )


def candidates(directory: Path) -> Iterator[int]:
    """Every number once, from one that the directory decides."""
    count = HIGHEST_NUMBER - LOWEST_NUMBER + 1
    start = int.from_bytes(hashlib.sha256(str(directory).encode()).digest()[:4], "big")
    return (LOWEST_NUMBER + (start + step) % count for step in range(count))


def taken(slots: Path) -> dict[int, Path]:
    """The labs that run for this user: number and directory."""
    found = {}
    for path in slots.glob("*"):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            if not _lock(descriptor, exclusive=False):
                found[int(path.name)] = Path(path.read_text())
        finally:
            os.close(descriptor)
    return dict(sorted(found.items()))


def _lock(descriptor: int, *, exclusive: bool = True) -> bool:
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _port_is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
