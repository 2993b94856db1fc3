"""The control plane as a pytest fixture: one per session, or the one that LAB_DIRECTORY names.

With LAB_DIRECTORY the plane is started when it does not run yet and left running: the next session saves the start.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.controlplane.plane import ControlPlane


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    kept = os.environ.get("LAB_DIRECTORY")
    directory = Path(kept) if kept else tmp_path_factory.mktemp("lab")
    plane = ControlPlane.start(directory, name="tests", report=print)
    yield plane
    if not kept:
        plane.stop()
