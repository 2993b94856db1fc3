"""The first process of a node's namespaces: it furnishes them, says "ready", and buries whoever dies in them.

When it ends, the kernel ends every other process of the node, and with the last one its mounts and its network vanish.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

from lab.node.place import Place

# The kubelet sets these for the whole machine unless it finds them so: it is shown a file that says they are.
_SYSCTLS = {
    "vm/overcommit_memory": "1",
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
    "kernel/keys/root_maxkeys": "1000000",
    "kernel/keys/root_maxbytes": "25000000",
}
# Fixed paths of the programs, each shown a directory of the node's own.
_OWN = ("/var/lib/cni", "/var/log/containers", "/run/containerd")


def main() -> None:
    directory, number = Path(sys.argv[1]), int(sys.argv[2])
    _furnish(Place(directory=directory, number=number))
    print("ready", flush=True)
    for number_of_end in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number_of_end, lambda *_: sys.exit(0))
    while True:
        try:
            os.wait()
        except ChildProcessError:
            signal.sigtimedwait([signal.SIGCHLD], 1.0)


def _furnish(place: Place) -> None:
    _mount("--make-rshared", "/")
    _mount("-t", "proc", "proc", "/proc")
    for name, value in _SYSCTLS.items():
        shown = place.directory / "sysctl" / name.replace("/", ".")
        shown.parent.mkdir(exist_ok=True)
        shown.write_text(value + "\n")
        _mount("--bind", str(shown), f"/proc/sys/{name}")
    for path in _OWN:
        own = place.directory / "own" / path.strip("/").replace("/", "-")
        own.mkdir(parents=True, exist_ok=True)
        Path(path).mkdir(parents=True, exist_ok=True)
        _mount("--bind", str(own), path)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1\n")


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


if __name__ == "__main__":
    main()
