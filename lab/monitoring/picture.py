"""python -m lab.monitoring.picture: draws docs/dashboard.svg from what `lab.monitoring.record` kept.

Panels, places, queries and thresholds are the dashboard's own; only the drawing is ours, as Grafana's is not to be had
here. The page that shows it says so.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

from lab.monitoring.dashboard import document
from lab.monitoring.record import RECORD, SHOWN
from lab.stack import ROOT

PICTURE = ROOT / "docs" / "dashboard.svg"
COLUMN, LINE, GAP, TOP = 46, 26, 6, 34
COLOURS = ("#73bf69", "#f2cc0c", "#8ab8ff", "#ff780a", "#f2495c", "#b877d9", "#5794f2", "#37872d", "#96d98d", "#ffa6b0")
NAMED = {"green": "#299c46", "red": "#d44a3a", "orange": "#e5812c"}
UNITS = {"s": " s", "ops": "/s", "percentunit": " %", "bytes": " MiB", "short": ""}
SCALES = {"percentunit": 100.0, "bytes": 1 / 1048576}
Json = dict[str, Any]
Points = list[tuple[float, float]]


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    w: float
    h: float


def draw(record: Json) -> str:
    panels = list(_shown())
    width = 24 * COLUMN + GAP
    height = max(_box(panel).y + _box(panel).h for panel in panels) + 2 * GAP
    parts = [part for panel in panels for part in _panel(panel, record)]
    head = (
        f'<text x="10" y="22" class="head">StarRocks</text><text x="{width - 10}" y="22" class="dim" text-anchor="end">'
    )
    head += f"{escape('Namespace: All · Cluster: All')} · {record['ended'] - record['began']:.0f} s</text>"
    style = (
        "text{font:11px sans-serif;fill:#ccccdc}.head{font-size:16px}.title{font-weight:600}"
        ".dim{fill:#8e8e9a;font-size:10px}.number{font-size:30px;font-weight:600;fill:#fff}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height:.0f}" '
        f'viewBox="0 0 {width} {height:.0f}"><style>{style}</style>'
        f'<rect width="100%" height="100%" fill="#111217"/>{head}{"".join(parts)}</svg>\n'
    )


def _shown() -> Iterator[Json]:
    """The panels of the rows that were recorded."""
    row = ""
    for panel in document()["panels"]:
        row = panel["title"] if panel["type"] == "row" else row
        if row in SHOWN:
            yield panel


def _box(panel: Json) -> Box:
    place = panel["gridPos"]
    return Box(place["x"] * COLUMN + GAP, place["y"] * LINE + TOP, place["w"] * COLUMN - GAP, place["h"] * LINE - GAP)


def _panel(panel: Json, record: Json) -> Iterator[str]:
    box = _box(panel)
    if panel["type"] == "row":
        yield f'<text x="{box.x}" y="{box.y + 15}" class="title">⌄ {escape(panel["title"])}</text>'
        return
    lines = dict(_lines(panel, record))
    fill = _background(panel, lines) if panel["type"] == "stat" else "#181b1f"
    yield f'<rect x="{box.x}" y="{box.y}" width="{box.w}" height="{box.h}" rx="2" fill="{fill}" stroke="#2c2e33"/>'
    yield f'<text x="{box.x + 8}" y="{box.y + 17}" class="title">{escape(panel["title"])}</text>'
    if panel["type"] == "stat":
        place = f'x="{box.x + box.w / 2}" y="{box.y + box.h - 22}"'
        yield f'<text {place} class="number" text-anchor="middle">{_number(_last(lines))}</text>'
    else:
        yield from _graph(panel, lines, box, record)


def _lines(panel: Json, record: Json) -> Iterator[tuple[str, Points]]:
    scale = SCALES.get(panel["fieldConfig"]["defaults"]["unit"], 1.0)
    for target in panel["targets"]:
        for series in record["answers"].get(target["expr"], ()):
            name = _legend(target["legendFormat"], series["metric"])
            points = [(float(at), float(value) * scale) for at, value in series["values"]]
            points = [(at, value) for at, value in points if math.isfinite(value)]
            if points:
                yield name, points


def _legend(form: str, labels: dict[str, str]) -> str:
    """The lab's addresses say nothing to anybody."""
    name = re.sub(r"{{(\w+)}}", lambda word: labels.get(word[1], ""), form)
    return re.sub(r"127\.0\.0\.1:\d+", "operator", name)


def _last(lines: dict[str, Points]) -> float:
    return next(iter(lines.values()))[-1][1] if lines else 0.0


def _background(panel: Json, lines: dict[str, Points]) -> str:
    colour = "#1f60c4"
    for step in panel["fieldConfig"]["defaults"].get("thresholds", {}).get("steps", ()):
        if step["value"] is None or _last(lines) >= step["value"]:
            colour = NAMED[step["color"]]
    return colour


def _graph(panel: Json, lines: dict[str, Points], box: Box, record: Json) -> Iterator[str]:
    if not lines:
        yield f'<text x="{box.x + box.w / 2}" y="{box.y + box.h / 2}" class="dim" text-anchor="middle">No data</text>'
        return
    plot = Box(box.x + 44, box.y + 28, box.w - 56, box.h - 76)
    stacked = panel["fieldConfig"]["defaults"]["custom"]["stacking"]["mode"] == "normal"
    drawn = _stack(lines) if stacked else lines
    top = max(value for points in drawn.values() for _, value in points)
    top = _round_up(top or 1.0)
    unit = UNITS[panel["fieldConfig"]["defaults"]["unit"]]
    for part in (0.0, 0.5, 1.0):
        y = plot.y + plot.h * (1 - part)
        yield f'<line x1="{plot.x}" x2="{plot.x + plot.w}" y1="{y}" y2="{y}" stroke="#2c2e33"/>'
        yield f'<text x="{plot.x - 4}" y="{y + 4}" class="dim" text-anchor="end">{_number(top * part)}{unit}</text>'
    for seconds, _ in record["events"]:
        x = plot.x + plot.w * seconds / (record["ended"] - record["began"])
        ends = f'x1="{x:.1f}" x2="{x:.1f}" y1="{plot.y}" y2="{plot.y + plot.h}"'
        yield f'<line {ends} stroke="#44464f" stroke-dasharray="2,3"/>'
    for place, (name, points) in enumerate(reversed(drawn.items()) if stacked else drawn.items()):
        colour = COLOURS[list(drawn).index(name) % len(COLOURS)]
        yield from _line(points, plot, top, record, colour, filled=stacked)
        if place < 9:
            column, row = place % 3, place // 3
            x, y = box.x + 10 + column * (box.w - 16) / 3, plot.y + plot.h + 16 + row * 13
            yield f'<rect x="{x}" y="{y - 6}" width="9" height="3" fill="{colour}"/>'
            yield f'<text x="{x + 13}" y="{y}" class="dim">{escape(name[:20])}</text>'


def _stack(lines: dict[str, Points]) -> dict[str, Points]:
    """Each line on top of those before it; where it says nothing, it adds nothing."""
    times = sorted({at for points in lines.values() for at, _ in points})
    below, stacked = dict.fromkeys(times, 0.0), {}
    for name, points in lines.items():
        values = dict(points)
        below = {at: below[at] + values.get(at, 0.0) for at in times}
        stacked[name] = list(below.items())
    return stacked


def _line(points: Points, plot: Box, top: float, record: Json, colour: str, *, filled: bool) -> Iterator[str]:
    """As many strokes as there are stretches without a gap."""
    length = record["ended"] - record["began"]
    stretch: list[tuple[float, float, float]] = []
    for at, value in [*points, (math.inf, 0.0)]:
        if stretch and at - stretch[-1][2] > 5:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in stretch)
            base = plot.y + plot.h
            if filled:
                area = f"{stretch[0][0]:.1f},{base:.1f} {path} {stretch[-1][0]:.1f},{base:.1f}"
                yield f'<polygon points="{area}" fill="{colour}" fill-opacity="0.6"/>'
            yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.3"/>'
            stretch = []
        x = plot.x + plot.w * (at - record["began"]) / length
        stretch.append((x, plot.y + plot.h * (1 - min(value / top, 1.0)), at))


def _round_up(value: float) -> float:
    digit = 10.0 ** math.floor(math.log10(value))
    return next(step * digit for step in (1, 2, 4, 5, 8, 10) if step * digit >= value * 0.999)


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 10 or value == round(value) else f"{value:.2g}"


if __name__ == "__main__":
    PICTURE.write_text(draw(json.loads(RECORD.read_text())))
