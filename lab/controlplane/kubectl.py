"""kubectl against one cluster, with an end to its patience: `kubectl delete` may wait for ever."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from lab.controlplane.errors import LabError

PATIENCE = 300.0  # seconds; more than any --timeout that it is given here


def kubectl(program: Path, kubeconfig: Path, arguments: Sequence[str], *, input: str | None = None) -> str:
    """What it prints. LabError with its own words if it fails."""
    command = [str(program), f"--kubeconfig={kubeconfig}", *arguments]
    shown = " ".join(arguments)
    try:
        done = subprocess.run(command, input=input, capture_output=True, text=True, check=False, timeout=PATIENCE)
    except subprocess.TimeoutExpired as late:
        raise LabError(f"`kubectl {shown}` did not end within {PATIENCE:.0f} s") from late
    if done.returncode != 0:
        raise LabError(f"`kubectl {shown}` failed: {done.stderr.strip()}")
    return done.stdout
