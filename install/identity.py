"""What is called what: names, the version and the image, once for every manifest."""

from __future__ import annotations

from pathlib import Path

from starrocks_operator import __version__

ROOT = Path(__file__).resolve().parent.parent
NAME = "starrocks-operator"
VERSION = __version__
NAMESPACE = "starrocks"

# No registry carries the image yet: whoever installs it builds it under this name, or puts another one in its place.
IMAGE = f"registry.example.com/{NAME}:{VERSION}"

MIN_KUBERNETES = "1.30.0"
"""The CRD's rules compare an object with its former self by `optionalOldSelf`, which 1.30 switched on."""

LABELS = {"app.kubernetes.io/name": NAME}
"""How Services, monitors and network policies find the operator's pods: it stays."""

METRICS_PORT = 8080
PROBES_PORT = 8081
PORTS = {"metrics": METRICS_PORT, "probes": PROBES_PORT}
