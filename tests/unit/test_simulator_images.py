"""The simulator's images: what the operator's pod templates call is in them, and all that the world needs is locked."""

from __future__ import annotations

import os
import re
import subprocess
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from starrocks_operator.components import BE, CN, FE, Component

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "images" / "simulator"
_WORLD = ("aiohttp", "cryptography", "mysql-mimic")


@pytest.mark.parametrize("component", [FE, BE, CN], ids=str)
def test_the_programs_of_a_pod_template_are_there(component: Component, tmp_path: Path) -> None:
    for name in ("fe", "be"):
        (tmp_path / name).symlink_to(IMAGES / "starrocks" / name)
    (tmp_path / "cn").symlink_to("be")
    start = tmp_path / component.process / "bin" / f"start_{component.process}.sh"
    for program in (start, Path(component.stop_script(str(tmp_path)))):
        assert os.access(program, os.X_OK), program
    assert os.access(IMAGES / "starrocks" / f"{component.process}_entrypoint.sh", os.X_OK)
    conf = tmp_path / component.process / "conf" / component.configuration_file
    for port in component.ports.values():
        assert not port.default or re.search(rf"^({'|'.join(port.keys)}) = {port.default}$", conf.read_text(), re.M)


def test_the_worlds_packages_are_all_in_the_lock_file() -> None:
    done = subprocess.run(
        ["awk", "-f", "locked.awk", "requirements.txt", str(ROOT / "requirements-dev.lock")],
        cwd=IMAGES,
        capture_output=True,
        text=True,
        check=True,
    )
    locked = re.findall(r"^([a-z0-9-]+)==", done.stdout, re.M)
    assert locked == (IMAGES / "requirements.txt").read_text().split()
    assert done.stdout.count("--hash=sha256:") >= len(locked)
    assert _needed(*_WORLD) <= set(locked)


def test_a_package_that_is_not_locked_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "wanted").write_text("aiohttp\nno-such-thing\n")
    command = ["awk", "-f", str(IMAGES / "locked.awk"), str(tmp_path / "wanted"), str(ROOT / "requirements-dev.lock")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "not in the lock file: no-such-thing\n"


def _needed(*names: str) -> set[str]:
    """These and all that they need, here and now."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            wanted = [Requirement(text) for text in requires(name) or []]
            waiting += [
                each.name.lower().replace("_", "-") for each in wanted if not each.marker or each.marker.evaluate()
            ]
    return found
