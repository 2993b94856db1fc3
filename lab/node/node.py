"""A running node with its control plane: start it, find it again, bring it images, end it."""

import fcntl
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.controlplane.errors import LabError
from lab.controlplane.layout import Layout
from lab.controlplane.plane import ControlPlane
from lab.controlplane.processes import Process, last_lines, spawn
from lab.controlplane.site import Site
from lab.node import base, cgroups, components, images, namespaces, packages, programs, settings
from lab.node.place import Place
from lab.node.remains import Record, clear

_PATIENCE = 120.0
_INTERVAL = 0.1
_TREE = Path(__file__).resolve().parents[2]  # where `lab` is imported from


def _silent(_: str) -> None:
    return


@dataclass(frozen=True)
class Node:
    """A node and the control plane it has joined."""

    place: Place
    control_plane: ControlPlane
    record: Record

    @classmethod
    def start(cls, directory: Path, *, kept: bool = False, report: Callable[[str], None] = _silent) -> "Node":
        """Start a node in `directory`, or return the one that runs there. It ends with this process unless `kept`."""
        directory = directory.resolve()
        if Place(directory=directory, number=0).too_long:
            raise LabError(f"{directory} is too long a path: sockets below it could not be named; choose a shorter one")
        packages.ensure(report)
        built = programs.ensure(report)
        directory.mkdir(parents=True, exist_ok=True, mode=0o755)
        with _exclusive(directory):
            existing = cls.find(directory)
            if existing is not None:
                return existing
            clear(directory)
            try:
                return _Start(directory, kept=kept, programs=built, report=report).run()
            except BaseException:
                clear(directory)
                raise

    @classmethod
    def find(cls, directory: Path) -> "Node | None":
        """The node that runs in `directory`, whole, or None."""
        record = Record.read(directory.resolve())
        if record is None or not record.ready or not all(process.running() for process in record.processes):
            return None
        place = Place(directory=directory.resolve(), number=record.number)
        plane = ControlPlane.attach(place.plane)
        return None if plane.dead() else cls(place=place, control_plane=plane, record=record)

    @classmethod
    def attach(cls, directory: Path) -> "Node":
        found = cls.find(directory)
        if found is None:
            raise LabError(f"no node runs in {directory}: start one with `python -m lab.node up`")
        return found

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig, good on this machine and nowhere else."""
        return self.control_plane.kubeconfig

    @property
    def kubectl_program(self) -> Path:
        return self.control_plane.kubectl_program

    def kubectl(self, *arguments: str, input: str | None = None) -> str:
        """Run kubectl as the administrator and return what it prints."""
        return self.control_plane.kubectl(*arguments, input=input)

    def client(self) -> Any:
        """A kubernetes.client.ApiClient of the administrator, made for this call."""
        return self.control_plane.client()

    def load(self, tag: str) -> None:
        """Bring an image that `lab.node.images` built to the node, so that pods can run it without a pull."""
        archive = self.place.directory / "image.tar"
        try:
            images.save(tag, archive)
            images.ctr(self.place, "images", "import", str(archive))
        finally:
            archive.unlink(missing_ok=True)

    def ctr(self, *arguments: str) -> str:
        """Run containerd's own client in Kubernetes' namespace."""
        return images.ctr(self.place, *arguments)

    def stop(self) -> None:
        """End everything and remove it. Only the logs stay."""
        clear(self.place.directory)


class _Start:
    """One start, step by step; what it has begun is always written down first."""

    def __init__(
        self, directory: Path, *, kept: bool, programs: dict[str, Path], report: Callable[[str], None]
    ) -> None:
        self.directory = directory
        self.kept = kept
        self.programs = programs
        self.report = report
        self.deadline = time.monotonic() + _PATIENCE
        self.processes: tuple[Process, ...] = ()
        self.plane: ControlPlane | None = None

    def run(self) -> Node:
        site = Site(
            components=components.PLANE,
            clients=components.CLIENTS,
            address=lambda layout: Place.of(layout).machine_address,
            prepare=self._prepare,
        )
        self.plane = plane = ControlPlane.start(self.directory / "plane", name="node", report=self.report, site=site)
        place = self.place
        self._spawn("containerd", namespaces.entered(self.first, self.joins, components.containerd(place)))
        self._until("containerd answers", lambda: bool(images.ctr(place, "version")))
        base.load_pause(place, self.programs["pause"])
        plane.kubectl("apply", "--server-side", "-f", "-", input=base.objects(place))
        for name, command in components.others(place, self.programs).items():
            self._spawn(name, namespaces.entered(self.first, self.joins, command))
        self._spawn("volumes", [sys.executable, "-m", "lab.node.volumes", str(self.directory), str(place.number)])
        self._until(
            "the node is Ready",
            lambda: bool(plane.kubectl("wait", "node", "--all", "--for=condition=Ready", "--timeout=2s")),
        )
        self._until("pods may be made", lambda: bool(plane.kubectl("get", "serviceaccount/default")))
        record = Record(number=place.number, processes=self.processes, ready=True)
        record.write(place)
        return Node(place=place, control_plane=plane, record=record)

    def _prepare(self, layout: Layout) -> None:
        """Before the control plane: the namespaces, and the wire by which the API server will be reached."""
        self.place = place = Place.of(layout)
        for name, content in settings.files(place).items():
            path = place.config / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        Record(number=place.number).write(place)
        self.joins = cgroups.make(place.cgroup)
        owner = 0 if self.kept else os.getpid()
        command = [sys.executable, "-m", "lab.node.keeper", str(self.directory), str(place.number), str(owner)]
        self._spawn("keeper", command)
        self._until("the namespaces are there", place.keeper_state.exists)
        self.first = namespaces.first(place)
        namespaces.connect(place, self.first)

    def _spawn(self, name: str, command: list[str]) -> None:
        place = self.place
        process = spawn(name, command, log=place.log(name), cwd=_TREE)
        self.processes = (*self.processes, process)
        Record(number=place.number, processes=self.processes).write(place)

    def _until(self, what: str, holds: Callable[[], bool]) -> None:
        while True:
            try:
                if holds():
                    return
                said = ""
            except LabError as error:
                said = f": {error}"
            self._check()
            if time.monotonic() > self.deadline:
                raise LabError(f"waited {_PATIENCE:.0f} s until {what}, in {self.directory}{said}")
            time.sleep(_INTERVAL)

    def _check(self) -> None:
        """Say which part has ended, with its last words, if one has."""
        for process in self.processes:
            if not process.running():
                log = self.place.log(process.name)
                raise LabError(f"{process.name} has ended; the end of {log}:\n{last_lines(log)}")
        if self.plane is not None:
            self.plane.check()


@contextmanager
def _exclusive(directory: Path) -> Iterator[None]:
    with (directory / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
