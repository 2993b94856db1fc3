"""As the first process of a pod has to: the watcher leaves no dead processes lying about."""

from __future__ import annotations

import subprocess
import sys

from lab.stack import ROOT

PROGRAM = """
import asyncio, os, signal
from pathlib import Path
from watcher.family import adopt_orphans
from watcher.workers import Nursery

def children():
    states = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if int(parent) == os.getpid():
                states[int(entry.name)] = state
    return states

async def main():
    adopt_orphans()
    nursery = Nursery({"STARROCKS_WARM_ANSIBLE": "0"})
    await nursery.worker()
    (parent,) = children()
    os.kill(parent, signal.SIGKILL)
    while parent in children() or set(children().values()) != {"Z"}:
        await asyncio.sleep(0.05)
    await nursery.worker()
    print("dead:", [state for state in children().values() if state == "Z"])
    await nursery.close()

asyncio.run(main())
"""


def test_workers_whose_parent_was_killed_are_buried() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "dead: []\n", done.stderr
