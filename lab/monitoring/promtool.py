"""python -m lab.monitoring.promtool: Prometheus' own checker of rules, found on PATH or fetched; prints where it is.

Debian's and Ubuntu's package `prometheus` has it. Nothing is installed, so that no server is started by the way: the
package is fetched and checked by apt, and unpacked into the lab's cache. That needs no root, if apt's lists are there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from lab.controlplane import LabError
from lab.controlplane.binaries import cache_directory

MISSING = "{} is not on PATH: install Prometheus (Debian, Ubuntu: `apt-get install prometheus`), then try again"


def find(program: str = "promtool") -> Path:
    """promtool, or prometheus itself; a sentence if it is not there."""
    unpacked = _home() / "usr" / "bin" / program
    if found := shutil.which(program) or (str(unpacked) if unpacked.exists() else None):
        return Path(found)
    raise LabError(MISSING.format(program))


def ensure(program: str = "promtool") -> Path:
    """The same, fetched if it is not there and apt is."""
    try:
        return find(program)
    except LabError:
        if not shutil.which("apt-get"):
            raise
    print(f"fetching Debian's package prometheus, for {program}", file=sys.stderr)
    try:
        _fetch()
    except LabError:
        if os.geteuid() != 0:
            raise
        _run("apt-get", "update", "--quiet")
        _fetch()
    return find(program)


def _home() -> Path:
    return cache_directory() / "prometheus"


def _fetch() -> None:
    _home().parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=_home().parent) as directory:
        _run("apt-get", "download", "--quiet", "prometheus", cwd=directory)
        (package,) = Path(directory).glob("prometheus_*.deb")
        unpacked = Path(directory) / "unpacked"
        _run("dpkg", "--extract", str(package), str(unpacked))
        shutil.rmtree(_home(), ignore_errors=True)
        unpacked.rename(_home())


def _run(*command: str, cwd: str | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LabError(f"{MISSING.format('promtool')}. {' '.join(command)} says:\n{done.stderr.strip()[-1500:]}")


if __name__ == "__main__":
    try:
        print(ensure())
    except LabError as error:
        sys.exit(str(error))
