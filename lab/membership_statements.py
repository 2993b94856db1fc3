"""Statements that change who is a member, as they are found in the statement log, and the step that announces each."""

from __future__ import annotations

import re

STATEMENT = re.compile(
    r"\b(?P<verb>ADD|DROP|CANCEL\s+DECOMMISSION|DECOMMISSION)\s+"
    r"(?P<kind>FOLLOWER|OBSERVER|BACKEND|COMPUTE\s+NODE)\s+(?P<targets>[^;]*)",
    re.IGNORECASE,
)
TARGET = re.compile(r"[\"']([^\"']+)[\"']")
ADDRESS = re.compile(r"[\d.]+:\d+")
DROP_WAREHOUSE = re.compile(r"DROP\s+WAREHOUSE\s+IF\s+EXISTS\s+(\w+)", re.IGNORECASE)
STEPS = {
    ("DROP", "FOLLOWER"): "DropFollower",
    ("DROP", "OBSERVER"): "DropObserver",
    ("DROP", "BACKEND"): "DropBackend",
    ("DROP", "COMPUTE NODE"): "DropComputeNode",
    ("DECOMMISSION", "BACKEND"): "DecommissionBackend",
}
