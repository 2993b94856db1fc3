"""python -m lab.monitoring.promtool: Prometheus' own checker of rules, found on PATH or installed; prints where it is.

It is a Debian package (`prometheus`), which a root user's machine is given; others are told what to install.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from lab.controlplane.errors import LabError

MISSING = "promtool is not on PATH: install Prometheus (Debian, Ubuntu: `apt-get install prometheus`), then try again"
INSTALL = ("apt-get", "install", "--yes", "--quiet", "--no-install-recommends", "prometheus")
QUIETLY = {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}  # the checker is wanted, not a server


def find() -> Path:
    """The program; a sentence if it is not there."""
    if (found := shutil.which("promtool")) is None:
        raise LabError(MISSING)
    return Path(found)


def ensure() -> Path:
    """The program, installed if need be and if that is ours to do."""
    if shutil.which("promtool") is None and os.geteuid() == 0 and shutil.which("apt-get"):
        print("installing Debian's package prometheus, for promtool", file=sys.stderr)
        for command in (("apt-get", "update", "--quiet"), INSTALL):
            done = subprocess.run(command, env=os.environ | QUIETLY, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise LabError(f"{MISSING}. apt-get says:\n{done.stderr.strip()[-1500:]}")
    return find()


if __name__ == "__main__":
    try:
        print(ensure())
    except LabError as error:
        sys.exit(str(error))
