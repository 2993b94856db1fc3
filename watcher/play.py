"""One Ansible run, in a process of its own: ansible-runner forks, and it is not made for threads.

This module is imported by the worker processes; it stays small, as each of them pays for what it imports.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from watcher.family import die_with_parent, kill_descendants


@dataclass(frozen=True, kw_only=True)
class Play:
    """What to run: the play's hosts and, for each, the document it is given."""

    documents: Mapping[str, Mapping[str, Any]] = field(repr=False)
    playbook: str
    scratch: str
    kubeconfig: str
    forks: int
    timeout: float


@dataclass
class HostRecord:
    """What was seen of one host while the play ran."""

    objects: list[dict[str, Any]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    failed_task: str = ""
    outcome: str = ""
    outcome_message: str = ""
    seconds: float = 0.0
    finished: bool = False


@dataclass
class Record:
    """What a run brought back, as plain data."""

    status: str
    hosts: dict[str, HostRecord]
    output: str = ""  # the end of Ansible's own words, if it broke down before any task


class Collector:
    """ansible-runner's event handler: keeps what matters, and lets nothing be written to disk."""

    def __init__(self, hosts: Mapping[str, Any]) -> None:
        self.hosts = {host: HostRecord() for host in hosts}

    def __call__(self, event: Mapping[str, Any]) -> bool:
        data = event.get("event_data") or {}
        if event.get("event") == "playbook_on_stats":
            for host in data.get("processed") or ():
                if host in self.hosts:
                    self.hosts[host].finished = True
        elif (record := self.hosts.get(data.get("host", ""))) is not None:
            self._keep(record, str(event.get("event")), data)
        return False

    def _keep(self, record: HostRecord, kind: str, data: Mapping[str, Any]) -> None:
        result = data.get("res") or {}
        record.seconds += float(data.get("duration") or 0.0)
        if kind in ("runner_on_failed", "runner_on_unreachable") and not data.get("ignore_errors"):
            record.failed_task = str(data.get("task", ""))
            record.errors.append(str(result.get("msg") or result.get("reason") or "no message"))
        if kind in ("runner_on_ok", "runner_on_failed"):
            record.objects += result.get("objects") or ()
            if "outcome" in result:
                record.outcome = str(result["outcome"])
                record.outcome_message = str(result.get("message") or result.get("msg") or "")


def warm() -> None:
    """What a worker process does before its first run."""
    die_with_parent()
    import ansible_runner  # noqa: F401


def ready() -> int:
    """Something to ask a new worker for."""
    return os.getpid()


def run(play: Play) -> Record:
    """Run the playbook for all hosts of `play`. Everything on disk is private, in memory, and gone afterwards."""
    import ansible_runner

    os.umask(0o077)
    directory = Path(tempfile.mkdtemp(prefix="starrocks-run-", dir=play.scratch))
    collector = Collector(play.documents)
    try:
        runner = ansible_runner.run(
            private_data_dir=str(directory),
            project_dir=str(Path(play.playbook).parent),
            playbook=play.playbook,
            inventory=str(_inventory(directory, play.documents)),
            envvars=_environment(play),
            settings={"job_timeout": int(play.timeout), "pexpect_timeout": 1},
            event_handler=collector,
            cancel_callback=lambda: False,  # else ansible-runner takes over our signals
            quiet=True,
            ident="run",
        )
        output = _last_words(directory) if not any(host.finished for host in collector.hosts.values()) else ""
        return Record(status=str(runner.status), hosts=collector.hosts, output=output)
    finally:
        kill_descendants()  # a timed-out run leaves workers in sessions of their own
        shutil.rmtree(directory, ignore_errors=True)


def _inventory(directory: Path, documents: Mapping[str, Mapping[str, Any]]) -> Path:
    """The hosts are clusters; each knows nothing but the path of its document."""
    files = directory / "clusters"
    files.mkdir(mode=0o700)
    hosts = {}
    for host, document in documents.items():
        path = files / f"{host}.json"
        path.write_text(json.dumps(document))
        hosts[host] = {"cluster_file": str(path)}
    everywhere = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    inventory = directory / "hosts.json"
    inventory.write_text(json.dumps({"all": {"hosts": hosts, "vars": everywhere}}))
    return inventory


def _environment(play: Play) -> dict[str, str]:
    """How ansible-playbook is found and set up: the one place that a warm parent would change."""
    root = Path(play.playbook).parent.parent
    binaries = str(Path(sys.executable).parent)
    environment = {
        "PATH": f"{binaries}:{os.environ.get('PATH', '/usr/bin:/bin')}",
        "PYTHONPATH": ":".join(filter(None, [str(root), os.environ.get("PYTHONPATH", "")])),
        "ANSIBLE_CONFIG": str(root / "ansible.cfg"),
        "ANSIBLE_FORKS": str(play.forks),
        "ANSIBLE_LOCAL_TEMP": play.scratch,
        "ANSIBLE_NOCOLOR": "1",
    }
    if play.kubeconfig:
        environment["KUBECONFIG"] = play.kubeconfig
    collections = root / ".cache" / "collections"
    if collections.exists():
        environment["ANSIBLE_COLLECTIONS_PATH"] = str(collections)
    return environment


def _last_words(directory: Path) -> str:
    output = directory / "artifacts" / "run" / "stdout"
    return output.read_text(errors="replace")[-2000:] if output.exists() else ""
