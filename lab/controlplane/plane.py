"""A running control plane: start it, find it again from another process, talk to it, end it."""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from lab.controlplane import binaries, slots
from lab.controlplane.components import Component, plane
from lab.controlplane.errors import LabError
from lab.controlplane.kubectl import kubectl
from lab.controlplane.layout import CONFIG, Layout
from lab.controlplane.pki import write_credentials, write_private
from lab.controlplane.processes import Process, last_lines, spawn
from lab.controlplane.readiness import PROBES, wait_until_served
from lab.controlplane.site import Site

_STATE = "state.json"
_PATIENCE = 60.0
_STOP_PATIENCE = 3.0  # an apiserver with watchers would wait for them; nothing here is kept that could be lost


def _silent(_: str) -> None:
    return


@dataclass(frozen=True)
class ControlPlane:
    """One lab's control plane, described by what its state file says."""

    layout: Layout
    kubectl_program: Path
    processes: tuple[Process, ...]
    ready: bool  # it came up whole once; a start that was cut short leaves False behind

    @classmethod
    def start(
        cls,
        directory: Path,
        *,
        name: str = "default",
        audit: bool = True,
        report: Callable[[str], None] = _silent,
        site: Site | None = None,
    ) -> Self:
        """Start a plane that is empty but for its node, or return the one that runs in `directory` already.

        With a `site` there is no node either: who brings one joins it.
        """
        directory = directory.resolve()
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        programs = binaries.ensure(report)
        with _exclusive(directory):
            if (directory / _STATE).exists():
                existing = cls.attach(directory)
                if existing.ready and not existing.dead():
                    return existing
                existing.stop()
            return cls._start_empty(directory, name=name, audit=audit, programs=programs, site=site)

    @classmethod
    def attach(cls, directory: Path) -> Self:
        """The plane of `directory`, from its state file; whether it runs is another question."""
        path = directory.resolve() / _STATE
        try:
            state = json.loads(path.read_text())
        except FileNotFoundError:
            raise LabError(f"there is no lab in {directory}: start one with `python -m lab.controlplane up`") from None
        layout = Layout(
            directory=directory.resolve(),
            name=state["name"],
            number=state["number"],
            address=state.get("address", Layout.address),
        )
        processes = tuple(Process(**process) for process in state["processes"])
        return cls(
            layout=layout, kubectl_program=Path(state["kubectl"]), processes=processes, ready=state.get("ready", False)
        )

    @property
    def directory(self) -> Path:
        return self.layout.directory

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.layout.kubeconfig

    @property
    def audit_log(self) -> Path:
        return self.layout.audit_log

    @property
    def cidr(self) -> str:
        """Where this lab's pods have their addresses."""
        return self.layout.cidr

    @property
    def server(self) -> str:
        return self.layout.server

    def dead(self) -> list[str]:
        """The parts that should run and do not."""
        return [process.name for process in self.processes if not process.running()]

    def kubectl(self, *arguments: str, input: str | None = None) -> str:
        """Run kubectl as the administrator and return what it prints."""
        try:
            return kubectl(self.kubectl_program, self.kubeconfig, arguments, input=input)
        except LabError as failure:
            raise LabError(f"lab {self.layout.name}: {failure}{self._obituary()}") from failure

    def client(self) -> Any:
        """A kubernetes.client.ApiClient of the administrator, made for this call."""
        from kubernetes import config  # it takes most of a second to import, and most callers need no client

        return config.new_client_from_config(str(self.kubeconfig))

    def stop(self) -> None:
        """End every process, the last started first. What they wrote stays until the next start."""
        for process in reversed(self.processes):
            process.stop(patience=_STOP_PATIENCE)
        (self.directory / _STATE).unlink(missing_ok=True)

    @classmethod
    def _start_empty(
        cls, directory: Path, *, name: str, audit: bool, programs: dict[str, Path], site: Site | None
    ) -> Self:
        slot = slots.claim(directory=directory, name=name, slots=binaries.cache_directory() / "slots")
        lab = cls(layout=slot.layout, kubectl_program=programs["kubectl"], processes=(), ready=False)
        if site is not None:
            lab = replace(lab, layout=replace(slot.layout, address=site.address(slot.layout)))
        deadline = time.monotonic() + _PATIENCE
        try:
            shutil.rmtree(lab.layout.etcd_data, ignore_errors=True)
            lab.audit_log.unlink(missing_ok=True)
            write_credentials(lab.layout, more=site.clients if site else None)
            if site is not None:
                site.prepare(lab.layout)
            for component in site.components if site else plane(audit=audit):
                lab = lab._with(component, program=programs[component.name], slot=slot)
                if component.name in PROBES:
                    wait_until_served(component.name, lab.layout, still_alive=lab.check, deadline=deadline)
            if site is None:
                lab._furnish(deadline)
            lab = replace(lab, ready=True)
            lab._save()
        except BaseException:
            lab.stop()
            raise
        finally:
            os.close(slot.descriptor)  # the processes hold the claim from here on
        return lab

    def _with(self, component: Component, *, program: Path, slot: slots.Slot) -> Self:
        """This plane and one more component, written down at once so that nothing is ever left behind unknown."""
        command = [str(program), *component.arguments(self.layout)]
        log = self.layout.log(component.name)
        process = spawn(component.name, command, log=log, cwd=self.directory, keep=slot.descriptor)
        lab = replace(self, processes=(*self.processes, process))
        lab._save()
        return lab

    def _furnish(self, deadline: float) -> None:
        """Give the plane its node and storage class, and wait until a pod could be made and would run."""
        self.kubectl("apply", "--server-side", "-f", str(CONFIG / "base.yaml"))
        for waiting in (
            ("serviceaccount/default", "--namespace=default", "--for=create"),
            ("node", "--all", "--for=condition=Ready"),
        ):
            while not self._holds(*waiting):
                self.check()
                if time.monotonic() > deadline:
                    raise LabError(f"lab {self.layout.name} was not ready in time: `kubectl wait {' '.join(waiting)}`")

    def _holds(self, *condition: str) -> bool:
        try:
            self.kubectl("wait", *condition, "--timeout=3s")
        except LabError:
            return False
        return True

    def check(self) -> None:
        """Say which part has ended, with its last words, if one has."""
        obituary = self._obituary()
        if obituary:
            raise LabError(
                f"lab {self.layout.name} in {self.directory} has lost a part of its control plane.{obituary}"
            )

    def _obituary(self) -> str:
        return "".join(
            f"\n{part} has ended; the end of {self.layout.log(part)}:\n{last_lines(self.layout.log(part))}"
            for part in self.dead()
        )

    def _save(self) -> None:
        state = {
            "name": self.layout.name,
            "number": self.layout.number,
            "address": self.layout.address,
            "kubectl": str(self.kubectl_program),
            "processes": [asdict(process) for process in self.processes],
            "ready": self.ready,
        }
        write_private(self.directory / _STATE, json.dumps(state, indent=2).encode())


@contextmanager
def _exclusive(directory: Path) -> Iterator[None]:
    """One start at a time in a directory; the second then finds the first one's plane."""
    with (directory / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
