"""`make adopt-check`, as a user runs it, for the namespace of a test."""

from __future__ import annotations

import subprocess
import sys

from lab.space import Space
from lab.stack import ROOT


def adopt_check(space: Space, *arguments: str) -> tuple[int, str]:
    """Its exit code, and what it prints."""
    command = [sys.executable, "-m", "watcher.adopt_check", "--kubeconfig", str(space.stack.plane.kubeconfig)]
    done = subprocess.run(
        [*command, "--namespace", space.namespace, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr
