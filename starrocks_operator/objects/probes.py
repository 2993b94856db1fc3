"""The probes of a main container, every five seconds, as patient as the user says.

As the official operator has them: by HTTP, one question for all three. Or by a script of ours inside of the container
(profile `safe`), which tells what waits, joins, serves and hangs apart: see `scripts/pod_probe.sh`. Then there is no
probe of the start unless the user limits its time: a frontend that waits for its peers must not be killed for that.
"""

from __future__ import annotations

from typing import Any

from starrocks_operator.components import PROBE_PERIOD_SECONDS, Component
from starrocks_operator.model import LoadSpec

_DEFAULT_SECONDS = {"startupProbe": 300, "livenessProbe": 15, "readinessProbe": 15}


_INSIDE = {"startupProbe": "started", "livenessProbe": "alive", "readinessProbe": "ready"}
_INSIDE_TIMEOUT = 5


def probes(component: Component, spec: LoadSpec, port: int) -> dict[str, Any]:
    """The probes by field name; one whose patience is set to 0 is left out."""
    asked = {"httpGet": {"path": component.health_path, "port": port}}
    return {name: {**_patient(seconds), **asked} for name, seconds in _patience(spec).items()}


def inside_probes(spec: LoadSpec, command: list[str], port: int) -> dict[str, Any]:
    """The same by a script; command: the one that it takes, without what is asked for and the port."""
    return {
        name: {
            **_patient(seconds),
            "timeoutSeconds": _INSIDE_TIMEOUT,
            "exec": {"command": [*command, _INSIDE[name], str(port)]},
        }
        for name, seconds in _patience(spec).items()
        if name != "startupProbe" or spec.startup_probe_failure_seconds
    }


def _patience(spec: LoadSpec) -> dict[str, int]:
    """Seconds until each has failed; without those that are turned off."""
    wished = {
        "startupProbe": spec.startup_probe_failure_seconds,
        "livenessProbe": spec.liveness_probe_failure_seconds,
        "readinessProbe": spec.readiness_probe_failure_seconds,
    }
    told = {
        name: default if (seconds := wished[name]) is None else seconds for name, default in _DEFAULT_SECONDS.items()
    }
    return {name: seconds for name, seconds in told.items() if seconds > 0}


def _patient(seconds: int) -> dict[str, int]:
    return {"failureThreshold": -(-seconds // PROBE_PERIOD_SECONDS), "periodSeconds": PROBE_PERIOD_SECONDS}
