"""A directory in memory for this process and all below it: whatever they write to disk is private, and goes with it.

Libraries put credentials into temporary files (the kubernetes client does, with the certificates of a kubeconfig) and
remove them at a graceful end only; forked and killed processes have none. So the place for such files is in here, too.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "starrocks-operator-"


class ScratchError(Exception):
    """There is no place for temporary files; the message is a sentence."""


class Scratch:
    """The directory of this process below `root`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.path = root / f"{PREFIX}{os.getpid()}"
        self._prepared = False

    def prepare(self) -> None:
        """A directory of our own, and none of operators that died without a chance to clean up."""
        if self._prepared and self.path.exists():
            return
        self._prepared = True
        for left in self._root.glob(f"{PREFIX}*"):
            ours = left == self.path  # in a container every operator has the same process id
            if ours or (left.name.removeprefix(PREFIX).isdigit() and not _alive(left)):
                shutil.rmtree(left, ignore_errors=True)
        self.path.mkdir(mode=0o700, parents=True)

    def take_temporary_files(self) -> None:
        """From now on temporary files of this process, and of those that it starts, are made in here."""
        try:
            self.prepare()
            keep_temporary_files(self.path / "tmp")
        except OSError as error:
            raise ScratchError(f"Cannot write to {self._root} ({error.strerror}): choose another --scratch.") from error

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def keep_temporary_files(directory: Path) -> None:
    """Make temporary files in this directory, which is made."""
    directory.mkdir(mode=0o700, exist_ok=True)
    os.environ["TMPDIR"] = str(directory)
    tempfile.tempdir = None  # what was found before does not count


def _alive(directory: Path) -> bool:
    """Whether the operator of that process id runs; one that only waits to be reaped does not."""
    try:
        state = Path(f"/proc/{directory.name.removeprefix(PREFIX)}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
