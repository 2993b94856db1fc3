"""Real runs of a small playbook by real worker processes, begun warm and cold."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from starrocks_operator.model import Key
from tests.unit.watcher_fakes import settings
from watcher.family import descendants
from watcher.job import Job, Result
from watcher.runner import Runner
from watcher.scratch import PREFIX

PLAYBOOK = """
- name: Fail for the bad, and let the good go on
  hosts: all
  gather_facts: false
  strategy: host_pinned
  tasks:
    - name: Fail
      ansible.builtin.fail:
        msg: "this one is bad"
      when: inventory_hostname == "ns.bad"
    - name: Read the document
      ansible.builtin.assert:
        that: (lookup('ansible.builtin.file', cluster_file) | ansible.builtin.from_json).cluster == "secret"
    - name: Hang
      ansible.builtin.command: sleep 1000
      when: inventory_hostname == "ns.hangs"
"""


# A run may take -2 + 5 s for each host: long enough on a busy machine, too, when there are several.
PATIENT = ("good", "second", "third", "fourth")


@pytest.fixture(params=["warm", "cold"])
async def runner(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Runner]:
    playbook = tmp_path / "playbooks" / "test.yml"
    playbook.parent.mkdir()
    playbook.write_text(PLAYBOOK)
    options = ("--playbook", str(playbook), "--scratch", str(tmp_path), "--run-timeout", "-2")
    runner = Runner(settings("--ansible", request.param, "--concurrency", "1", *options))
    await runner.warm()
    yield runner
    await runner.close()
    assert list(tmp_path.glob(f"{PREFIX}*")) == []


def job(name: str) -> Job:
    return Job(key=Key("ns", name), fingerprint="f", document={"cluster": "secret"})


async def run(runner: Runner, *names: str) -> dict[str, Result]:
    results: dict[str, Result] = {}
    await runner.run([job(name) for name in names], lambda job, result: results.update({job.key.name: result}))
    return results


async def test_each_host_gets_its_own_result_and_the_worker_is_used_again(runner: Runner, tmp_path: Path) -> None:
    before = descendants()
    results = await run(runner, "good", "bad", "other")
    assert {name: result.report.succeeded for name, result in results.items()} == {
        "good": True,
        "bad": False,
        "other": True,
    }
    assert results["bad"].report.message == "this one is bad"
    assert (await run(runner, *PATIENT))["good"].report.succeeded
    assert descendants() == before
    assert list(tmp_path.glob(f"{PREFIX}*/run-*")) == [], "nothing of a run stays on disk"


async def test_a_run_that_hangs_is_ended_with_everything_below_it(runner: Runner) -> None:
    before = descendants()
    results = await run(runner, "hangs")
    assert results["hangs"].report.reason == "RunTimedOut"
    assert descendants() == before
    assert (await run(runner, *PATIENT))["good"].report.succeeded


async def test_a_worker_that_dies_is_replaced(runner: Runner) -> None:
    os.kill(max(descendants()), signal.SIGKILL)
    assert (await run(runner, "good"))["good"].report.reason == "RunnerCrashed"
    assert (await run(runner, *PATIENT))["good"].report.succeeded
