"""deploy/monitoring as the Prometheus Operator reads it: by its own types, and with no field that it does not know."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from install.text import parse
from lab.controlplane import binaries
from lab.stack import ROOT

FILES = sorted(path for path in (ROOT / "deploy" / "monitoring").glob("*.yaml") if path.name != "kustomization.yaml")


def problems(*items: Mapping[str, Any]) -> list[str]:
    program = binaries.ensure(print, (binaries.VALIDATORS,))["monitoring-kinds"]
    lines = "\n".join(json.dumps(item) for item in items)
    done = subprocess.run([program], input=lines, capture_output=True, text=True, check=False)
    assert done.returncode == bool(done.stdout), done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_prometheus_operator_knows_every_field(path: Path) -> None:
    assert problems(*parse(path)) == []


def test_a_field_that_it_does_not_know_is_told() -> None:
    monitor = next(item for path in FILES for item in parse(path) if item["kind"] == "PodMonitor")
    spoiled = {**monitor, "spec": {**monitor["spec"], "podMetricEndpoints": []}}
    assert problems(spoiled) == ['PodMonitor: json: unknown field "podMetricEndpoints"']
    assert problems({**monitor, "kind": "PodMonitoring"})
