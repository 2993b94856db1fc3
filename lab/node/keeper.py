"""Holds a node's namespaces, and takes the whole node down when the process it was made for is gone, however it went.

Should the keeper itself be killed, the kernel ends the first process of the namespaces, and all others with it.
"""

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil

from lab.controlplane.pki import write_private
from lab.node.place import Place

_NAMESPACES = ("--mount", "--net", "--pid", "--fork", "--kill-child=KILL")


def main() -> None:
    directory, number = Path(sys.argv[1]), int(sys.argv[2])
    owner = int(sys.argv[3])  # 0: nobody
    place = Place(directory=directory, number=number)
    command = ["unshare", *_NAMESPACES, sys.executable, "-m", "lab.node.init", str(directory), str(number)]
    watched = select.poll()
    if owner:
        with suppress(ProcessLookupError):  # it may be gone already: then nothing is waited for
            watched.register(os.pidfd_open(owner), select.POLLIN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout is not None
            if holder.stdout.readline().strip() != "ready":
                sys.exit(f"the namespaces in {directory} could not be furnished: see above")
            first = psutil.Process(holder.pid).children()[0]
            write_private(place.keeper_state, json.dumps({"pid": first.pid, "born": first.create_time()}).encode())
            watched.register(os.pidfd_open(first.pid), select.POLLIN)
            if not owner or psutil.pid_exists(owner):
                watched.poll()
        finally:
            holder.kill()
    if owner:
        from lab.node.remains import clear

        clear(directory, keeper=False)


if __name__ == "__main__":
    main()
