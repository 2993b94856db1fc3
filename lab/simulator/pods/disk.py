"""What a process keeps on its volume: which metadata or tablets these are, and the volume's own name.

All of it lies where the real process keeps its files, so that the volume's fate is theirs: who loses it loses them,
and start scripts find what they look for. Stdlib only: agents run in images that have nothing else.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path

_NAME = ".simulated-volume"
# In the order in which they are written: with ROLE, a frontend's metadata counts.
FILES = {
    "fe": ("bdb/00000000.jdb", "image/image.0", "image/VERSION", "image/ROLE"),
    "be": ("cluster_id",),
    "cn": ("cluster_id",),
}
_KEYS = {"fe": "meta_dir", "be": "storage_root_path", "cn": "storage_root_path"}
_DIRECTORIES = {"fe": "meta", "be": "storage", "cn": "storage"}


def directory(component: str, conf: Mapping[str, str], home: Path) -> Path:
    """Of several storage paths the first: tablets live and die together here."""
    said = conf.get(_KEYS[component], "").replace("${STARROCKS_HOME}", str(home))
    first = said.split(";")[0].split(",")[0].strip()
    return Path(first) if first else home / _DIRECTORIES[component]


class Disk:
    def __init__(self, component: str, path: Path) -> None:
        self._names = FILES[component]
        self.path = path

    def name(self) -> str:
        """Which volume this is; a new one gets its name now."""
        file = self.path / _NAME
        if not file.exists():
            self.path.mkdir(parents=True, exist_ok=True)
            file.write_text(uuid.uuid4().hex)
        return file.read_text()

    def files(self) -> dict[str, str]:
        return {name: (self.path / name).read_text() for name in self._names if (self.path / name).is_file()}

    def write(self, wanted: Mapping[str, str]) -> None:
        """Make the files what they should be; those that are not named go."""
        for name in self._names:
            file = self.path / name
            if name not in wanted:
                file.unlink(missing_ok=True)
            elif not file.is_file() or file.read_text() != wanted[name]:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(wanted[name])
