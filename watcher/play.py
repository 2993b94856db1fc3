"""One Ansible run, in a process of its own: ansible-runner forks, and it is not made for threads.

Used by the worker processes; it stays small, as each of them pays for what it imports.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from watcher.family import bury, kill_descendants

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Play:
    """What to run: the play's hosts and, for each, the document it is given."""

    documents: Mapping[str, Mapping[str, Any]] = field(repr=False)
    playbook: str
    scratch: str
    forks: int
    timeout: float


@dataclass
class HostRecord:
    """What was seen of one host while the play ran. awaited: the parts whose results are still to come."""

    awaited: list[str] = field(default_factory=list)
    objects: list[Json] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    outcome: str = ""
    outcome_message: str = ""
    seconds: float = 0.0
    finished: bool = False


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How a run ended. output: Ansible's last words, if it did not get as far as any host."""

    status: str
    output: str = ""


Tell = Callable[[str, HostRecord], None]


class Collector:
    """ansible-runner's event handler: keeps what matters, and lets nothing be written to disk.

    A host is told about as soon as it is finished: it need not wait for the slower ones.
    """

    def __init__(self, documents: Mapping[str, Mapping[str, Any]], tell: Tell) -> None:
        self.hosts = {host: HostRecord(awaited=_parts_of(document)) for host, document in documents.items()}
        self._tell = tell

    def __call__(self, event: Mapping[str, Any]) -> bool:
        data = event.get("event_data") or {}
        if event.get("event") == "playbook_on_stats":
            for host in data.get("processed") or ():
                if host in self.hosts:
                    self._finish(host)
        elif (record := self.hosts.get(data.get("host", ""))) is not None:
            answered = self._keep(record, str(event.get("event")), data)
            if record.errors or (answered and not record.awaited):
                self._finish(data["host"])
        return False

    def _finish(self, host: str) -> None:
        if not self.hosts[host].finished:
            self.hosts[host].finished = True
            self._tell(host, self.hosts[host])

    def _keep(self, record: HostRecord, kind: str, data: Mapping[str, Any]) -> bool:
        """Whether one of the awaited parts has answered."""
        result, awaited = data.get("res") or {}, len(record.awaited)
        record.seconds += float(data.get("duration") or 0.0)
        if kind in ("runner_on_failed", "runner_on_unreachable") and not data.get("ignore_errors"):
            record.errors.append(str(result.get("msg") or result.get("reason") or "no message"))
        if kind in ("runner_on_ok", "runner_on_failed"):
            part = _part_of(data, result)
            record.awaited = [name for name in record.awaited if name != part]
            record.objects += result.get("objects") or ()
            if "outcome" in result:
                record.outcome = str(result["outcome"])
                record.outcome_message = str(result.get("message") or result.get("msg") or "")
        return len(record.awaited) < awaited


def _parts_of(document: Mapping[str, Any]) -> list[str]:
    """The parts of the play that have something to tell about a host: its due components, the prune, the step."""
    return [*(document.get("due") or ()), *(part for part in ("prune", "step") if document.get(part))]


def _part_of(data: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """The part that a task's result is of: a role's last name, which has no dashes, or what the tasks after the roles
    do."""
    if "outcome" in result:
        return "step"
    if "objects" not in result:
        return ""
    return str(data.get("role") or "prune").rpartition(".")[2].replace("_", "-")


def run(play: Play, tell: Tell) -> Ending:
    """Run the playbook for all hosts of `play`. Everything on disk is private, in memory, and gone afterwards."""
    import ansible_runner

    os.umask(0o077)
    directory = Path(tempfile.mkdtemp(prefix="run-", dir=play.scratch))
    collector = Collector(play.documents, tell)
    try:
        runner = ansible_runner.run(
            private_data_dir=str(directory),
            project_dir=str(Path(play.playbook).parent),
            playbook=play.playbook,
            inventory=str(_inventory(directory, play.documents)),
            forks=play.forks,
            settings={"job_timeout": int(play.timeout), "pexpect_timeout": 1},
            envvars={"TMPDIR": str(_temporary(directory))},
            event_handler=collector,
            cancel_callback=lambda: False,  # else ansible-runner takes over our signals
            quiet=True,
            ident="run",
        )
        reached = any(host.finished for host in collector.hosts.values())
        return Ending(status=str(runner.status), output="" if reached else _last_words(directory))
    finally:
        kill_descendants()  # a timed-out run leaves workers in sessions of their own
        bury()
        shutil.rmtree(directory, ignore_errors=True)


def _temporary(directory: Path) -> Path:
    """For the temporary files of everything below: most of those processes never get to remove their own."""
    temporary = directory / "tmp"
    temporary.mkdir(mode=0o700)
    return temporary


def _inventory(directory: Path, documents: Mapping[str, Mapping[str, Any]]) -> Path:
    """The hosts are clusters; each knows the path of its document, and no value of the resource."""
    files = directory / "clusters"
    files.mkdir(mode=0o700)
    hosts = {}
    for host, document in documents.items():
        path = files / f"{host}.json"
        path.write_text(json.dumps(document))
        only_objects = not (document.get("prune") or document.get("step"))
        hosts[host] = {"cluster_file": str(path), "only_objects": only_objects}
    everywhere = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    inventory = directory / "hosts.json"
    inventory.write_text(json.dumps({"all": {"hosts": hosts, "vars": everywhere}}))
    return inventory


def _last_words(directory: Path) -> str:
    output = directory / "artifacts" / "run" / "stdout"
    return output.read_text(errors="replace")[-2000:] if output.exists() else ""
