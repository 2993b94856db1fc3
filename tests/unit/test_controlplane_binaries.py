"""Which programs the lab runs, and whose processes it takes for its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab.controlplane import ControlPlane, LabError, binaries
from lab.controlplane.processes import Process, last_lines, spawn


@pytest.mark.parametrize(("name", "series"), [("kubernetes", "v1.36."), ("etcd", "v3.6."), ("kwok", "v0.8.")])
def test_versions_come_from_the_pins(name: str, series: str) -> None:
    module = next(module for module in binaries.MODULES if module.name == name)
    assert module.version.startswith(series)


def test_kubernetes_and_its_staging_modules_are_pinned_alike() -> None:
    module = next(module for module in binaries.MODULES if module.name == "kubernetes")
    staging = module.version.replace("v1.", "v0.")
    lines = (module.directory / "go.mod").read_text().splitlines()
    replaced = [line.split()[-1] for line in lines if " => " in line]
    assert replaced
    assert set(replaced) == {staging}


def test_a_program_is_told_its_version() -> None:
    module = next(module for module in binaries.MODULES if module.name == "kubernetes")
    assert f"gitVersion={module.version}" in module.link_flags
    assert "gitMinor=36" in module.link_flags


def test_kubebuilder_assets_win(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in binaries.MODULES:
        for program in module.programs:
            (tmp_path / program).touch(mode=0o755)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    programs = binaries.ensure(lambda line: pytest.fail(f"nothing is to be built: {line}"))
    assert programs["etcd"] == tmp_path / "etcd"
    assert len(programs) == 6


def test_a_build_that_fails_says_what_and_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    broken = binaries.Module(
        name="etcd", requirement="go.etcd.io/etcd/server/v3", programs={"etcd": "go.etcd.io/etcd/server/v3/nothing"}
    )
    monkeypatch.setattr(binaries, "MODULES", (broken,))
    with pytest.raises(LabError, match=r"etcd v3\.6.* could not be built"):
        binaries.ensure(lambda _: None)


def test_a_process_id_that_was_used_again_is_not_ours() -> None:
    stranger = Process(name="etcd", pid=os.getpid(), born=1.0)
    assert not stranger.running()
    stranger.stop()  # and we are still here


def test_a_process_ends_when_asked_and_its_words_are_kept(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path / "held", os.O_CREAT | os.O_RDWR)
    script = "import sys, time; print('hello', flush=True); sys.stdin.read(); time.sleep(60)"
    log = tmp_path / "log"
    process = spawn("sleeper", [sys.executable, "-c", script], log=log, cwd=tmp_path, keep=descriptor)
    os.close(descriptor)
    assert process.running()
    process.stop()
    assert not process.running()
    assert last_lines(tmp_path / "absent") == "(it wrote nothing)"


def test_no_lab_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="there is no lab in"):
        ControlPlane.attach(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "lab.controlplane", "down", "--directory", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("lab: there is no lab in")
