"""Dashboard, alerts and pages speak of metrics that there are, and of all of them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml
from prometheus_client.metrics import MetricWrapperBase

from lab.monitoring.dashboard import FILE, written
from lab.stack import ROOT
from starrocks_operator.components import COMPONENTS
from tests.unit.test_docs import TROUBLESHOOTING, anchors
from watcher import metrics

MONITORING = ROOT / "deploy" / "monitoring"
PAGE = (ROOT / "docs" / "monitoring.md").read_text()
ALERTS = ROOT / "docs" / "alerts.md"
P = metrics.P
OF_PROMETHEUS = {"up", "ALERTS", "process_resident_memory_bytes", "process_cpu_seconds_total"}
METRIC = re.compile(r"\b(starrocks_(?:operator|fe|be)_\w+|jvm_\w+|process_\w+|up|ALERTS)\b")
RULES: list[dict[str, Any]] = [
    rule
    for path in sorted(MONITORING.glob("*-alerts.yaml"))
    for group in yaml.safe_load(path.read_text())["spec"]["groups"]
    for rule in group["rules"]
]
DASHBOARD = json.loads(FILE.read_text())
SHOWN = [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", ())]


def ours() -> dict[str, tuple[str, ...]]:
    """Every name under which the watcher shows something, without the endings of histograms, and its labels."""
    found = {}
    for value in vars(metrics).values():
        if isinstance(value, MetricWrapperBase):
            name = value._name + ("_total" if value._type == "counter" else "")
            found[name] = tuple(value._labelnames)
    return found


def used(expression: str) -> set[str]:
    bare = re.sub(r'"[^"]*"', '""', expression)
    return {re.sub(r"_bucket$", "", name) for name in METRIC.findall(bare)}


@pytest.mark.parametrize(
    "name", sorted({name for text in [*SHOWN, *(r["expr"] for r in RULES)] for name in used(text)})
)
def test_whatever_is_asked_for_exists(name: str) -> None:
    documented = f"`{name}`" in PAGE[PAGE.index("## Metrics of StarRocks") :]
    assert name in ours() or name in OF_PROMETHEUS or documented


@pytest.mark.parametrize("name", sorted(ours()))
def test_every_metric_is_documented(name: str) -> None:
    row = re.search(rf"^\| [^|]*`{name.removeprefix(f'{P}_')}`[^|]*\|([^|]*)\|", PAGE, re.MULTILINE)
    assert row, f"docs/monitoring.md has no row for {name}"
    of_each = ("kind", "namespace", "name") if name.startswith(f"{P}_resource_") else ()
    assert re.findall(r"`(\w+)`", row[1]) == [label for label in ours()[name] if label not in of_each]


def test_nothing_is_counted_by_pod() -> None:
    assert [name for name, labels in ours().items() if {"pod", "instance", "host"} & {*labels}] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_has_all_that_a_person_needs(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in ("critical", "warning", "info")
    assert rule["annotations"].keys() == {"summary", "description", "runbook_url"}
    page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    assert page == "docs/alerts.md"
    assert anchor == rule["alert"].lower()
    assert anchor in anchors(ALERTS)


def test_every_runbook_is_of_an_alert() -> None:
    headings = set(re.findall(r"^### (\w+)$", ALERTS.read_text(), re.MULTILINE))
    assert headings == {rule["alert"] for rule in RULES}


def test_alerts_know_reasons_that_there_are() -> None:
    told = [match for rule in RULES for match in re.findall(r'reason=~?"([^"]+)"', rule["expr"])]
    reasons = {reason for text in told for reason in text.split("|")}
    assert {reason for reason in reasons if f"`{reason}`" not in TROUBLESHOOTING} == set()


def test_the_dashboard_is_what_its_table_says() -> None:
    assert FILE.read_text() == written(), "python -m lab.monitoring.dashboard writes it anew"


def test_the_dashboard_is_of_no_installation() -> None:
    sources = re.findall(r'"uid": "([^"]*)"', FILE.read_text())
    assert set(sources) == {"${datasource}"}
    assert {"id", "uid", "__inputs"}.isdisjoint(DASHBOARD)
    assert [variable["name"] for variable in DASHBOARD["templating"]["list"]] == ["datasource", "namespace", "cluster"]


def test_panels_do_not_overlap_and_fill_their_rows() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(ids) == len(set(ids))


def test_clusters_are_scraped_where_they_listen() -> None:
    monitor = yaml.safe_load((MONITORING / "clusters-podmonitor.yaml").read_text())["spec"]
    web = {
        port.name
        for component in COMPONENTS.values()
        for port in component.container_ports
        if port.port == component.health_port
    }
    assert {endpoint["port"] for endpoint in monitor["podMetricsEndpoints"]} == web
    (among,) = [item["values"] for item in monitor["selector"]["matchExpressions"] if "values" in item]
    assert {"fe", "fe-observer", "be", "cn"} == {*among}


@pytest.mark.parametrize("owner", ["one-fe", "one-fe-observer", "one-be", "one-cn", "my-fe-be"])
def test_the_cluster_is_told_from_the_owner(owner: str) -> None:
    monitor = yaml.safe_load((MONITORING / "clusters-podmonitor.yaml").read_text())["spec"]
    for endpoint in monitor["podMetricsEndpoints"]:
        found = re.fullmatch(endpoint["relabelings"][0]["regex"], owner)
        assert found
        assert found[1] == ("my-fe" if owner.startswith("my") else "one")
