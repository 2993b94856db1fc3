"""What a real node needs of the machine: root, Linux, and a few Debian packages, installed when they are missing."""

import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from lab.controlplane.errors import LabError

# program → the Debian package that has it
PROGRAMS = {
    "containerd": "containerd",
    "ctr": "containerd",
    "runc": "runc",
    "/usr/lib/cni/bridge": "containernetworking-plugins",
    "nft": "nftables",
    "conntrack": "conntrack",
    "ip": "iproute2",
    "mount": "mount",
    "nsenter": "util-linux",
    "mmdebstrap": "mmdebstrap",
    "buildah": "buildah",
}


def impossible() -> str | None:
    """Why there can be no real node on this machine, or None."""
    advice = "name a cluster of yours instead, such as kind's: make e2e KUBECONFIG=path"
    if platform.system() != "Linux":
        return f"a real node needs Linux, this is {platform.system()}; {advice}"
    if os.geteuid() != 0:
        return f"a real node needs root (namespaces, mounts, cgroups), you are user {os.geteuid()}; {advice}"
    if missing() and shutil.which("apt-get") is None:
        programs = ", ".join(sorted(missing()))
        return f"a real node needs {programs}, and without apt-get nobody installs them here; {advice}"
    if not _may_make_namespaces():
        return f"a real node needs namespaces of its own, which nobody may make here, as in most containers; {advice}"
    return None


def _may_make_namespaces() -> bool:
    command = ("unshare", "--net", "--mount", "--pid", "--fork", "mount", "-t", "proc", "proc", "/proc")
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def missing() -> dict[str, str]:
    """The programs that are not on this machine, each with its Debian package."""
    return {program: package for program, package in PROGRAMS.items() if shutil.which(program) is None}


def ensure(report: Callable[[str], None]) -> None:
    """Install what is missing; LabError says what stands in the way."""
    reason = impossible()
    if reason:
        raise LabError(reason)
    wanted = sorted(set(missing().values()))
    if not wanted:
        return
    report(f"installing Debian's {' '.join(wanted)}")
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update", "-qq"],
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *wanted],
    ):
        _run(command, environment)
    if missing():
        raise LabError(f"after installing {' '.join(wanted)} there is still no {', '.join(sorted(missing()))}")


def _run(command: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LabError(f"`{' '.join(command)}` failed; install the packages by hand:\n{done.stderr.strip()[-2000:]}")


def debian() -> str:
    """The release whose packages the base image is made of."""
    release = Path("/etc/os-release")
    fields = dict(line.split("=", 1) for line in release.read_text().splitlines() if "=" in line)
    return fields.get("VERSION_CODENAME", "").strip('"')
