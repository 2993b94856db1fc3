"""A traceback tells where, never with which values: a password may be among them."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
from watcher.logs import configure, logger
configure(form=%r, level="info")
log = logger("x")
def process(password):
    raise KeyError("what")
try:
    process("s3" + "cret")
except KeyError:
    log.error("left alone", exc_info=True)
"""


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_traceback_shows_no_values(form: str) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM % form], capture_output=True, text=True, check=True)
    assert "left alone" in done.stderr
    assert "KeyError" in done.stderr
    assert "s3cret" not in done.stderr
