"""The samples that are shipped, by what they are."""

from __future__ import annotations

from pathlib import Path

import yaml

ALL = sorted((Path(__file__).parents[1] / "crds" / "samples").glob("*.yaml"))
CLUSTERS = [path for path in ALL if yaml.safe_load(path.read_text())["kind"] == "StarRocksCluster"]
