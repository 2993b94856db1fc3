"""Every command of docs/install.md and docs/security.md, word for word and in order, on a control plane of its own.

Programs that are not here, or reach out of the lab, have stand-ins that keep what they were told. The pods are played,
so the operator's never runs: what it does is told by the other tests.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from install.identity import IMAGE
from lab.controlplane.plane import ControlPlane
from lab.stack import ROOT
from tests.cluster.installing import install_olm_kinds

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STANDINS = ("docker", "kind", "operator-sdk")
STANDIN = '#!/bin/sh\necho "${0##*/} $*" >> "$TOLD"\n'


def blocks(page: str) -> list[str]:
    return BLOCK.findall((ROOT / "docs" / page).read_text())


INSTALL = blocks("install.md")
UNINSTALL = next(block for block in INSTALL if "kubectl delete src" in block)
# Where a reader of security.md is, the operator is installed
IN_ORDER = [*(block for block in INSTALL if block != UNINSTALL), *blocks("security.md"), UNINSTALL]


@dataclass(frozen=True)
class Terminal:
    """A shell in a copy of what a checkout has to install from."""

    directory: Path
    environment: dict[str, str]

    def run(self, block: str) -> str:
        command = ["bash", "-euo", "pipefail", "-c", block]
        done = subprocess.run(
            command, cwd=self.directory, env=self.environment, capture_output=True, text=True, check=False, timeout=180
        )
        assert done.returncode == 0, f"{block}\n{done.stdout}{done.stderr}"
        return done.stdout

    @property
    def told(self) -> list[str]:
        """What the stand-ins were told."""
        return Path(self.environment["TOLD"]).read_text().splitlines()


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    directory = tmp_path_factory.mktemp("docs")
    plane = ControlPlane.start(directory / "lab", name="docs")
    checkout, programs = directory / "checkout", directory / "bin"
    for part in ("deploy", "crds", "bundle"):
        shutil.copytree(ROOT / part, checkout / part)
    programs.mkdir()
    scripts = dict.fromkeys(STANDINS, STANDIN) | {
        "kubectl": kubectl(plane.kubectl_program),
        # no process of it is started, and its words are understood
        "make": f'#!/bin/sh\nexec {shutil.which("make")} --dry-run -C {ROOT} "$@"\n',
    }
    for name, script in scripts.items():
        (programs / name).write_text(script)
        (programs / name).chmod(0o755)
    (directory / "told").touch()
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(directory),
        "KUBECONFIG": str(plane.kubeconfig),
        "TOLD": str(directory / "told"),
    }
    try:
        install_olm_kinds(plane)
        yield Terminal(checkout, environment)
    finally:
        plane.stop()


def kubectl(program: Path) -> str:
    """The real one. `logs` asks a kubelet, and there is none: here it asks whether that whose log it is exists."""
    return f"""#!/bin/sh
if [ "$1" = logs ]; then exec {program} get "$2" "$3" "$4"; fi
exec {program} "$@"
"""


def test_every_command_works_in_this_order(terminal: Terminal) -> None:
    assert len(IN_ORDER) > 12
    for block in IN_ORDER:
        terminal.run(block)
    builds = [re.search(r"-f (\S+) -t (\S+)", line) for line in terminal.told if line.startswith("docker build")]
    files = {found[1]: found[2] for found in builds if found}
    assert files["images/operator/Dockerfile"] == IMAGE
    assert (ROOT / "bundle.Dockerfile").exists()
    assert f"kind load docker-image {IMAGE}" in terminal.told


def test_what_is_left_is_what_the_page_says(terminal: Terminal) -> None:
    """After the last command of the page, in the test before."""
    assert terminal.run("kubectl get crd -o name | grep starrocks.com || true") == ""
    assert terminal.run("kubectl get clusterrole -o name | grep starrocks-operator || true") == ""
    assert "lakehouse" in terminal.run("kubectl get namespace -o name")


@pytest.mark.parametrize("page", ["install.md", "security.md"])
def test_no_command_stands_outside_of_the_blocks_that_are_run(page: str) -> None:
    languages = re.findall(r"^```(\w+)$", (ROOT / "docs" / page).read_text(), re.MULTILINE)
    assert set(languages) <= {"sh", "mermaid"}
