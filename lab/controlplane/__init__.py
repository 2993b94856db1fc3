"""A real Kubernetes control plane for demo, tests and benchmarks: no root, no Docker, no compiler.

`ControlPlane.start(directory)` returns a running one, `ControlPlane.attach(directory)` finds it from another process;
`python -m lab.controlplane` does the same for people. What it is made of and what its pods can be told: README.md.
"""

from lab.controlplane.errors import LabError
from lab.controlplane.plane import ControlPlane

attach = ControlPlane.attach

__all__ = ["ControlPlane", "LabError", "attach"]
