"""operator-framework's own validators on the bundle: no errors, and no warnings that are not understood."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from install.bundle import BUNDLE
from lab.controlplane import binaries

# They take any rule on `events` for the removed events.k8s.io/v1beta1; ours is asked for as events.k8s.io/v1.
UNDERSTOOD = ("Migrate the API(s) for events:",)


@pytest.fixture(scope="module")
def validator() -> Path:
    return binaries.ensure(print, (binaries.VALIDATORS,))["bundle-validate"]


def validate(validator: Path, bundle: Path) -> tuple[int, list[dict[str, str]]]:
    done = subprocess.run([validator, bundle], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def test_the_bundle_is_valid(validator: Path) -> None:
    code, findings = validate(validator, BUNDLE)
    assert [found for found in findings if not any(known in found["detail"] for known in UNDERSTOOD)] == []
    assert code == 0


@pytest.mark.parametrize(
    ("line", "instead", "said"),
    [
        ("  installModes:", "  noInstallModes:", "install modes not found"),
        ("        kind: ComputeNodeGroup", "        kind: Nobody", "Nobody"),
        ("  minKubeVersion: 1.30.0", "  minKubeVersion: newest", "newest"),
    ],
)
def test_an_invalid_one_is_refused(validator: Path, tmp_path: Path, line: str, instead: str, said: str) -> None:
    shutil.copytree(BUNDLE, tmp_path / "bundle")
    (csv,) = (tmp_path / "bundle" / "manifests").glob("*.clusterserviceversion.yaml")
    text = csv.read_text()
    assert f"\n{line}" in text
    csv.write_text(text.replace(f"\n{line}", f"\n{instead}"))
    code, findings = validate(validator, tmp_path / "bundle")
    assert code == 1
    assert any(said in found["detail"] for found in findings if found["level"] == "error")
