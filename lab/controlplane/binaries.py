"""The programs of the control plane: found where the user points, else built once from pinned Go modules and cached.

Each directory under go/ is a Go module that pins one project. What it builds is cached outside the tree under a key
made of its go.mod, go.sum and link flags: a changed pin is a new entry, an old one stays valid for older checkouts.
"""

import fcntl
import hashlib
import os
import platform
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.controlplane.errors import LabError
from lab.controlplane.toolchain import go

_SOURCES = Path(__file__).parent / "go"
_VERSION_PACKAGE = "k8s.io/component-base/version"


@dataclass(frozen=True)
class Module:
    """A pinned project: the programs it gives and how it is told its version."""

    name: str
    requirement: str  # the module in go.mod whose version this is
    programs: dict[str, str]  # program → its package
    version_flags: tuple[str, ...] = ()  # with {version}, {major}, {minor}
    sources: Path = _SOURCES

    @property
    def directory(self) -> Path:
        return self.sources / self.name

    @property
    def version(self) -> str:
        pinned = re.search(
            rf"^(?:require|\s)\s*{re.escape(self.requirement)} (v\S+)", self._read("go.mod"), re.MULTILINE
        )
        if pinned is None:
            raise LabError(f"{self.directory / 'go.mod'} does not pin {self.requirement}")
        return pinned[1]

    @property
    def link_flags(self) -> str:
        major, minor = self.version.removeprefix("v").split(".")[:2]
        names = {"version": self.version, "major": major, "minor": minor}
        return " ".join(["-s", "-w", *(f"-X {flag.format(**names)}" for flag in self.version_flags)])

    @property
    def key(self) -> str:
        parts = (self._read("go.mod"), self._read("go.sum"), self.link_flags, platform.machine())
        sources = [source.read_text() for source in sorted(self.directory.rglob("*.go"))]  # of programs of our own
        return hashlib.sha256("\0".join([*parts, *sources]).encode()).hexdigest()[:12]

    def _read(self, name: str) -> str:
        return (self.directory / name).read_text()


MODULES = (
    Module(
        name="etcd",
        requirement="go.etcd.io/etcd/server/v3",
        programs={"etcd": "go.etcd.io/etcd/server/v3"},
    ),
    Module(
        name="kwok",
        requirement="sigs.k8s.io/kwok",
        programs={"kwok": "sigs.k8s.io/kwok/cmd/kwok"},
        version_flags=("sigs.k8s.io/kwok/pkg/consts.Version={version}",),
    ),
    Module(
        name="kubernetes",
        requirement="k8s.io/kubernetes",
        programs={
            program: f"k8s.io/kubernetes/cmd/{program}"
            for program in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
        },
        version_flags=(
            f"{_VERSION_PACKAGE}.gitVersion={{version}}",
            f"{_VERSION_PACKAGE}.gitMajor={{major}}",
            f"{_VERSION_PACKAGE}.gitMinor={{minor}}",
            f"{_VERSION_PACKAGE}.gitTreeState=archive",
            "k8s.io/client-go/pkg/version.gitVersion={version}",  # for the user agent
        ),
    ),
)

VALIDATORS = Module(
    name="bundle",
    requirement="github.com/operator-framework/api",
    programs={"bundle-validate": ".", "monitoring-kinds": "./monitoring"},
)


def cache_directory() -> Path:
    """Where everything that outlives a checkout is kept."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "starrocks-operator-lab"


def ensure(report: Callable[[str], None], modules: Sequence[Module] | None = None) -> dict[str, Path]:
    """Every program of the control plane, or of these modules, by name, built now if it has not been built before."""
    modules = MODULES if modules is None else modules
    given = os.environ.get("KUBEBUILDER_ASSETS")
    found = {program: path for module in modules for program in module.programs if (path := _given(given, program))}
    for module in modules:
        home = cache_directory() / f"{module.name}-{module.version}-{module.key}"
        wanted = [program for program in module.programs if program not in found]
        if any(not (home / program).exists() for program in wanted):
            with _locked(home, report):
                for program in wanted:
                    if not (home / program).exists():
                        _build(module, program, home, report)
        found |= {program: home / program for program in wanted}
    return found


def _given(directory: str | None, program: str) -> Path | None:
    path = Path(directory or "") / program
    return path.resolve() if directory and os.access(path, os.X_OK) else None


def _build(module: Module, program: str, home: Path, report: Callable[[str], None]) -> None:
    report(f"building {program} {module.version} (once; all programs together take some minutes)")
    started = time.monotonic()
    compiler = go(cache_directory(), report)
    partial = home / f".{program}.{os.getpid()}.partial"
    command = [
        str(compiler),
        "build",
        "-mod=readonly",
        "-trimpath",
        f"-ldflags={module.link_flags}",
        "-o",
        str(partial),
    ]
    environment = os.environ | {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOFLAGS": "", "GOWORK": "off"}
    done = subprocess.run(
        [*command, module.programs[program]],
        cwd=module.directory,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        partial.unlink(missing_ok=True)
        raise LabError(
            f"{program} {module.version} could not be built from {module.directory}: see what go says below; it needs "
            f"the Go module proxy (GOPROXY) or a filled module cache.\n{done.stderr.strip()[-3000:]}"
        )
    partial.rename(home / program)
    report(f"built {program} in {time.monotonic() - started:.0f} s")


@contextmanager
def _locked(home: Path, report: Callable[[str], None]) -> Iterator[None]:
    """Let one process build at a time; the others wait for it and find its work done."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"waiting for another process that builds into {home}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
