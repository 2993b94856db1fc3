"""python -m lab.monitoring.dashboard: writes deploy/monitoring/starrocks-dashboard.json, for Grafana.

The data source, the namespaces and the clusters are chosen by whoever looks at it; no id of any installation is in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from lab.monitoring.panels import ROWS, Panel
from lab.stack import ROOT

FILE = ROOT / "deploy" / "monitoring" / "starrocks-dashboard.json"
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH = 24
Json = dict[str, Any]


def document() -> Json:
    return {
        "title": "StarRocks",
        "description": "StarRocks clusters and the operator that looks after them.",
        "tags": ["starrocks"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "timezone": "browser",
        "annotations": {"list": []},
        "links": [],
        "templating": {"list": list(_variables())},
        "panels": list(_panels()),
    }


def _variables() -> Iterator[Json]:
    yield {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "current": {}}
    yield _variable("namespace", "Namespace", "label_values(starrocks_operator_resource_info, namespace)")
    yield _variable(
        "cluster", "Cluster", 'label_values(starrocks_operator_resource_info{namespace=~"$namespace"}, name)'
    )


def _variable(name: str, label: str, query: str) -> Json:
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": SOURCE,
        "definition": query,
        "query": {"query": query, "refId": name},
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": ["All"], "value": ["$__all"]},
    }


def _panels() -> Iterator[Json]:
    number, top = 0, 0
    for row, panels in ROWS.items():
        number += 1
        place = {"x": 0, "y": top, "w": WIDTH, "h": 1}
        yield {"id": number, "type": "row", "title": row, "collapsed": False, "panels": [], "gridPos": place}
        top, left, height = top + 1, 0, 0
        for panel in panels:
            if left + panel.width > WIDTH:
                top, left, height = top + height, 0, 0
            number, height = number + 1, max(height, panel.height)
            yield _panel(panel, number) | {
                "gridPos": {"x": left, "y": top, "w": panel.width, "h": panel.height},
            }
            left += panel.width
        top += height


def _panel(panel: Panel, number: int) -> Json:
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.about,
        "datasource": SOURCE,
        "targets": [
            {
                "refId": chr(ord("A") + place),
                "datasource": SOURCE,
                "expr": query.written,
                "legendFormat": query.legend or "__auto",
                "instant": panel.kind == "stat",
                "range": panel.kind != "stat",
            }
            for place, query in enumerate(panel.queries)
        ],
        "fieldConfig": {"defaults": _defaults(panel), "overrides": []},
        "options": _stat_options() if panel.kind == "stat" else _line_options(),
    }


def _defaults(panel: Panel) -> Json:
    defaults: Json = {"unit": panel.unit, "min": 0}
    if panel.colours:
        steps = [{"color": colour, "value": value} for colour, value in panel.colours]
        defaults |= {"color": {"mode": "thresholds"}, "thresholds": {"mode": "absolute", "steps": steps}}
    if panel.kind == "timeseries":
        stacking = {"mode": "normal" if panel.stacked else "none", "group": "A"}
        defaults["custom"] = {"lineWidth": 1, "fillOpacity": 30 if panel.stacked else 8, "stacking": stacking}
    return defaults


def _stat_options() -> Json:
    reduce = {"calcs": ["lastNotNull"], "fields": "", "values": False}
    return {"reduceOptions": reduce, "colorMode": "background", "graphMode": "none", "textMode": "auto"}


def _line_options() -> Json:
    return {
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }


def written() -> str:
    return json.dumps(document(), indent=2) + "\n"


if __name__ == "__main__":
    FILE.write_text(written())
