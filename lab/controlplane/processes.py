"""Start and end the lab's programs, and tell a program of ours from one that later got the same process id."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

_LINES_SHOWN = 8
_children: list[subprocess.Popen[bytes]] = []  # kept, so that an interpreter that ends first does not complain


@dataclass(frozen=True)
class Process:
    """One program of the lab: its id and the moment it was born, which together name it for good."""

    name: str
    pid: int
    born: float

    def running(self) -> bool:
        process = self._find()
        return process is not None and process.status() != psutil.STATUS_ZOMBIE

    def stop(self, *, patience: float = 10.0) -> None:
        """Ask it to end, then insist. A program that is gone already is fine."""
        process = self._find()
        if process is None:
            return
        try:
            process.terminate()
            process.wait(patience)
        except psutil.TimeoutExpired:
            process.kill()
            process.wait(patience)
        except psutil.NoSuchProcess:
            return

    def _find(self) -> psutil.Process | None:
        try:
            process = psutil.Process(self.pid)
            return process if abs(process.create_time() - self.born) < 1.0 else None
        except psutil.NoSuchProcess:
            return None


def spawn(
    name: str,
    command: Sequence[str],
    *,
    log: Path,
    cwd: Path,
    keep: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> Process:
    """Start a program in a session of its own, its output in `log`, the descriptor `keep` handed on to it.

    It gets our environment with `environment` on top, but never the KUBECONFIG that happens to be set.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    inherited = {key: value for key, value in os.environ.items() if key != "KUBECONFIG"}
    with log.open("wb") as output:
        child = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env={**inherited, **(environment or {})},
            pass_fds=() if keep is None else (keep,),
            start_new_session=True,
        )
    _children.append(child)
    return Process(name=name, pid=child.pid, born=psutil.Process(child.pid).create_time())


def last_lines(log: Path) -> str:
    """The end of a log, to be shown when its program has failed."""
    try:
        lines = log.read_text(errors="replace").splitlines()
    except FileNotFoundError:
        return "(it wrote nothing)"
    return "\n".join("  " + line[:500] for line in lines[-_LINES_SHOWN:]) or "(it wrote nothing)"
