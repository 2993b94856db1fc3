"""Whoever is killed without a word leaves nobody behind that would still take its step."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from starrocks_operator.model import Key
from starrocks_operator.step import Step, StepKind
from tests.unit.watcher_fakes import settings
from watcher.family import adopt_orphans, descendants
from watcher.job import Job, Result
from watcher.runner import Runner

ROOT = Path(__file__).parents[2]

PLAYBOOK = """
- name: Take a step
  hosts: all
  gather_facts: false
  strategy: host_pinned
  tasks:
    - name: Take it
      starrocks.operator.member:
        cluster_file: "{{ cluster_file }}"
"""

STEP = Step(kind=StepKind.DROP_BACKEND, target="a.b.c:9050", reason="It has left.", reversible=False)
DOCUMENT = {
    "cluster": {"metadata": {"namespace": "ns", "name": "sample", "uid": "uid-1"}},
    "step": STEP.document(),
    "operator": {"identity": "me", "lease": {"namespace": "ns", "name": "lease"}},
}


class SilentServer:
    """An API server that takes a request and never answers. asked: for each, whether its asker is gone."""

    def __init__(self) -> None:
        self.asked: asyncio.Queue[asyncio.Future[None]] = asyncio.Queue()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        await reader.readuntil(b"\r\n\r\n")
        self.asked.put_nowait(gone)
        await reader.read()
        writer.close()
        gone.set_result(None)


@asynccontextmanager
async def silence(kubeconfig: Path) -> AsyncIterator[SilentServer]:
    silent = SilentServer()
    async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        kubeconfig.write_text(
            "{apiVersion: v1, kind: Config, current-context: c, users: [{name: u, user: {}}],"
            f" clusters: [{{name: k, cluster: {{server: 'http://127.0.0.1:{port}'}}}}],"
            " contexts: [{name: c, context: {cluster: k, user: u}}]}"
        )
        yield silent


@pytest.mark.parametrize("begun", ["warm", "cold"])
async def test_a_step_under_way_ends_with_a_worker_that_is_killed(
    begun: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    playbook, kubeconfig = tmp_path / "playbooks" / "test.yml", tmp_path / "kubeconfig"
    playbook.parent.mkdir()
    playbook.write_text(PLAYBOOK)
    collections = tmp_path / ".cache" / "collections" / "ansible_collections" / "starrocks"
    collections.mkdir(parents=True)
    (collections / "operator").symlink_to(ROOT)
    adopt_orphans()
    options = ("--playbook", str(playbook), "--scratch", str(tmp_path), "--kubeconfig", str(kubeconfig))
    runner = Runner(settings("--ansible", begun, "--concurrency", "1", *options))
    results: list[Result] = []
    async with silence(kubeconfig) as server:
        await runner.warm()
        parent, worker = descendants()[-2:]
        job = Job(key=Key("ns", "sample"), fingerprint="f", document=DOCUMENT)
        taking = asyncio.create_task(runner.run([job], lambda job, result: results.append(result)))
        asked = asyncio.create_task(server.asked.get())
        await asyncio.wait((asked, taking), return_when=asyncio.FIRST_COMPLETED)
        assert not taking.done(), results
        gone = await asked
        below = set(descendants(worker))
        assert below, "ansible-playbook, and the fork that takes the step"
        os.kill(worker, signal.SIGKILL)
        await gone
        while below & set(descendants()):
            assert server.asked.empty(), "it lived on and asked again"
            await asyncio.sleep(0.01)
        await taking
        assert results[0].report.reason == "RunnerCrashed"
        assert parent in descendants()
        await runner.close()
