"""The processes that we started, and their end: none outlives the watcher.

Ansible's workers open sessions of their own and pexpect tells ansible-playbook to ignore hang-ups, so neither process
groups nor terminals reach everyone. The tree is walked instead; orphans come to us, as we are their subreaper. And
for a parent that is killed without a word, ansible-playbook is told by the kernel, and so are its forks (`lifeline`,
among the plugins).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
from pathlib import Path
from types import FrameType

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Make this process the parent of every descendant whose own parent dies."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """For a worker: when the parent dies, even by SIGKILL, end with all descendants."""
    signal.signal(signal.SIGTERM, _end_of_line)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C in the terminal is the watcher's to handle
    adopt_orphans()
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def be_killed_with(parent: int) -> None:
    """For ansible-playbook, before it begins: when this parent dies, even by SIGKILL, it dies at once."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before we could say so
        os._exit(1)


def descendants(root: int | None = None) -> list[int]:
    """Every living process below `root` (ourselves), children before grandchildren."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
                if state != "Z":
                    children.setdefault(int(parent), []).append(int(entry.name))
    found, frontier = [], [os.getpid() if root is None else root]
    while frontier:
        below = children.get(frontier.pop(0), [])
        found += below
        frontier += below
    return found


def kill_descendants() -> int:
    """Kill until nobody is left: whoever forked meanwhile is found in the next round. Returns how many."""
    killed: set[int] = set()
    for _ in range(50):
        if not (alive := descendants()):
            break
        for pid in alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in alive:
            _wait_briefly(pid)
        killed.update(alive)
    return len(killed)


def bury() -> None:
    """Collect the ended processes that we adopted, when no child of our own is waited for."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _wait_briefly(pid: int) -> None:
    with contextlib.suppress(OSError):
        descriptor = os.pidfd_open(pid)
        try:
            select.select([descriptor], [], [], 0.5)
        finally:
            os.close(descriptor)


def _end_of_line(number: int, frame: FrameType | None) -> None:
    del number, frame
    kill_descendants()
    os._exit(1)


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}) failed")
