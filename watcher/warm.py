"""How ansible-runner starts ansible-playbook: as a fork that dies with its parent, and as a rule a warm one.

Most of a small run is imports: Ansible, the Kubernetes client, our own model. ansible-runner starts the command
`ansible-playbook` under a pseudo-terminal; between fork and exec the child turns to the code that the parent has in
memory, and never execs. The parent is single-threaded and has never run a play, so its children find Ansible as new.
"""

from __future__ import annotations

import functools
import importlib
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import ansible_runner
import ansible_runner.runner
import pexpect  # type: ignore[import-untyped]

from watcher.family import be_killed_with

PRELOADED = (
    "ansible.cli.playbook",
    "ansible.executor.playbook_executor",
    "ansible.executor.task_queue_manager",
    "ansible.plugins.action",
    "ansible.plugins.callback.default",
    "ansible.plugins.connection.local",
    "ansible.plugins.inventory.yaml",
    "ansible.plugins.lookup.file",
    "ansible.plugins.strategy.host_pinned",
    "kubernetes.client",
    "kubernetes.config",
    "kubernetes.config.kube_config",
    "starrocks_operator.decide",
    "starrocks_operator.frontend.take",
    "urllib3",
)


def environment() -> dict[str, str]:
    """What Ansible reads while it is imported, and ansible-runner would say only later."""
    callbacks = os.path.join(os.path.dirname(ansible_runner.__file__), "display_callback", "callback")  # noqa: PTH118, PTH120
    return {"ANSIBLE_CALLBACK_PLUGINS": callbacks, "ANSIBLE_STDOUT_CALLBACK": "awx_display"}


def preload() -> None:
    """Import what every run needs, and make ansible-runner fork instead of exec; unless that is not wanted."""
    if os.environ.get("STARROCKS_WARM_ANSIBLE") == "0":
        _start_with(_spawn_cold)
        return
    told = environment()
    os.environ.update(told)
    for name in PRELOADED:
        importlib.import_module(name)
    for name in told:
        del os.environ[name]  # ansible-runner would take it for the user's own choice
    _start_with(_spawn)


def _start_with(spawn: Callable[..., pexpect.spawn]) -> None:
    ansible_runner.runner.pexpect = SimpleNamespace(
        spawn=spawn, exceptions=pexpect.exceptions, EOF=pexpect.EOF, TIMEOUT=pexpect.TIMEOUT
    )


def _spawn(command: str, arguments: Sequence[str], *, env: Mapping[str, str], **options: Any) -> pexpect.spawn:
    become = functools.partial(_become, [command, *arguments], env, os.getpid())
    return pexpect.spawn(command, list(arguments), env=env, preexec_fn=become, **options)


def _spawn_cold(command: str, arguments: Sequence[str], *, env: Mapping[str, str], **options: Any) -> pexpect.spawn:
    bound = functools.partial(be_killed_with, os.getpid())  # what the kernel was told outlives the exec
    return pexpect.spawn(command, list(arguments), env=env, preexec_fn=bound, **options)


def _become(arguments: list[str], env: Mapping[str, str], parent: int) -> None:
    """In the child: be ansible-playbook. Does not return."""
    be_killed_with(parent)
    os.closerange(3, 4096)  # among them the pipe that pexpect waits on until it is closed, as exec would do
    os.environ.clear()
    os.environ.update(env)
    tempfile.tempdir = None  # this run has a place of its own for temporary files
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w", buffering=1), open(2, "w", buffering=1)  # noqa: SIM115
    code = 250
    try:
        from ansible.cli.playbook import PlaybookCLI

        PlaybookCLI.cli_executor(arguments)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(bool(end.code))
    finally:
        sys.stdout.flush()
        os._exit(code)
