"""Every alert, by Prometheus' own promtool: the rules are well-formed, and each fires when it should and only then."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.monitoring.promtool import find
from lab.stack import ROOT

FILES = sorted((ROOT / "deploy" / "monitoring").glob("*-alerts.yaml"))
CASES: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "cases.yaml").read_text())
LONG = 300  # minutes: longer than any alert waits

SPECS = {path.name: yaml.safe_load(path.read_text())["spec"] for path in FILES}
RULES = {rule["alert"]: rule for spec in SPECS.values() for group in spec["groups"] for rule in group["rules"]}


def series(given: dict[str, Any]) -> list[dict[str, str]]:
    return [
        {"series": name, "values": f"{value}x{LONG}" if str(value).isdigit() else str(value)}
        for name, value in given.items()
    ]


def question(alert: str, case: dict[str, Any]) -> dict[str, Any]:
    """One case in promtool's words. labels: it is to fire."""
    rule, expected = RULES[alert], []
    if "labels" in case:
        expected = [
            {
                "exp_labels": rule["labels"] | case["labels"],
                "exp_annotations": rule["annotations"] | {"description": case["says"]},
            }
        ]
    asked = {"eval_time": f"{case['for']}m", "alertname": alert, "exp_alerts": expected}
    return {"interval": "1m", "input_series": series(case["series"]), "alert_rule_test": [asked]}


def promtool(*arguments: str, cwd: Path) -> None:
    done = subprocess.run([find(), *arguments], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rules as Prometheus reads them: without what Kubernetes wraps around them."""
    directory = tmp_path_factory.mktemp("rules")
    for name, spec in SPECS.items():
        (directory / name).write_text(yaml.safe_dump(spec))
    return directory


def test_the_rules_are_well_formed(rules: Path) -> None:
    promtool("check", "rules", "--lint=all", "--lint-fatal", *SPECS, cwd=rules)


def test_every_alert_has_cases_for_both() -> None:
    assert RULES.keys() == CASES.keys()
    assert [alert for alert, case in CASES.items() if not case["fires"]["says"] or not case["quiet"]] == []


@pytest.mark.parametrize("alert", CASES)
def test_it_fires_when_it_should_and_only_then(alert: str, rules: Path) -> None:
    given = [CASES[alert]["fires"], *CASES[alert]["quiet"]]
    document = {
        "rule_files": list(SPECS),
        "evaluation_interval": "1m",
        "tests": [question(alert, case) for case in given],
    }
    (rules / f"{alert}.yaml").write_text(yaml.safe_dump(document))
    promtool("test", "rules", f"{alert}.yaml", cwd=rules)
