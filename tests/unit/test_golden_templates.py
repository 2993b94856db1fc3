"""The pod templates of every sample, as they were last agreed on: an operator upgrade must not change them unnoticed.

If this fails, pods of existing clusters would be made anew (or keep an outdated template, and a remark tells their
owners). If that is meant, renew the files and say in CHANGELOG.md that templates changed:

    python -m tests.unit.test_golden_templates
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.stack import ROOT
from starrocks_operator.model import parse
from starrocks_operator.objects import build
from starrocks_operator.objects.metadata import TEMPLATE_SOURCE
from tests.unit.object_samples import UID, context

GOLDEN = Path(__file__).parent / "golden"
SAMPLES = sorted(
    path.stem for path in (ROOT / "crds" / "samples").glob("*.yaml") if "kind: StarRocksCluster" in path.read_text()
)
PROFILES = ("safe", "upstream")
RENEW = f"Read the head of {Path(__file__).name} before you renew the file."


def templates(sample: str, profile: str) -> dict[str, Any]:
    """Template and source of each StatefulSet in the sample, by name."""
    text = (ROOT / "crds" / "samples" / f"{sample}.yaml").read_text()
    raw = next(raw for raw in yaml.safe_load_all(text) if raw["apiVersion"].startswith("starrocks.com/"))
    raw["metadata"] |= {"uid": UID, "namespace": raw["metadata"].get("namespace", "default"), "generation": 1}
    cluster = parse(raw)
    made = build(cluster, context(cluster, profile=profile))
    sets = [item for items in made.values() for item in items if item["kind"] == "StatefulSet"]
    found = {
        item["metadata"]["name"]: {
            "source": item["metadata"]["annotations"][TEMPLATE_SOURCE],
            "template": item["spec"]["template"],
        }
        for item in sets
    }
    return json.loads(json.dumps(found, sort_keys=True))  # type: ignore[no-any-return]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("sample", SAMPLES)
def test_templates_are_as_agreed(sample: str, profile: str) -> None:
    agreed = json.loads((GOLDEN / f"{sample}.{profile}.json").read_text())
    assert templates(sample, profile) == agreed, RENEW


def renew() -> None:
    GOLDEN.mkdir(exist_ok=True)
    for sample in SAMPLES:
        for profile in PROFILES:
            text = json.dumps(templates(sample, profile), indent=1, sort_keys=True)
            (GOLDEN / f"{sample}.{profile}.json").write_text(text + "\n")


if __name__ == "__main__":
    renew()
