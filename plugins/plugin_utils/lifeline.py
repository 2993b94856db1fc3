"""A task that writes ends with the run that it is part of, even if that is killed.

Ansible runs tasks in forks with sessions of their own, which outlive ansible-playbook. A step taken by such an orphan
would be taken beside the next operator's.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal

_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """In a fork of ansible-playbook: be killed when it dies. Elsewhere, nothing; where the kernel cannot, neither."""
    parent = multiprocessing.parent_process()
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if parent is None or prctl is None:
        return
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent.pid:  # it died before we could say so
        os._exit(1)
