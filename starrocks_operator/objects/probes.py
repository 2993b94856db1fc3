"""The probes of a main container: HTTP, every five seconds, as patient as the user says."""

from __future__ import annotations

from typing import Any

from starrocks_operator.components import PROBE_PERIOD_SECONDS, Component
from starrocks_operator.model import LoadSpec

_DEFAULT_SECONDS = {"startupProbe": 300, "livenessProbe": 15, "readinessProbe": 15}


def probes(component: Component, spec: LoadSpec, port: int) -> dict[str, Any]:
    """The probes by field name; one whose patience is set to 0 is left out."""
    wished = {
        "startupProbe": spec.startup_probe_failure_seconds,
        "livenessProbe": spec.liveness_probe_failure_seconds,
        "readinessProbe": spec.readiness_probe_failure_seconds,
    }
    return {
        name: _probe(default if wished[name] is None else wished[name] or 0, component.health_path, port)
        for name, default in _DEFAULT_SECONDS.items()
        if wished[name] is None or (wished[name] or 0) > 0
    }


def _probe(seconds: int, path: str, port: int) -> dict[str, Any]:
    return {
        "failureThreshold": -(-seconds // PROBE_PERIOD_SECONDS),
        "periodSeconds": PROBE_PERIOD_SECONDS,
        "httpGet": {"path": path, "port": port},
    }
