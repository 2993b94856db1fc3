"""python -m lab.monitoring.record: what the dashboard's panels show while things happen, for its picture.

A real operator on the lab, StarRocks played by the simulator, and a real Prometheus with our rules, all on loopback. It
takes five minutes; what Prometheus answers to the panels' queries goes to build/dashboard.json.
"""

from __future__ import annotations

import json
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import yaml

from lab.controlplane.processes import Process, spawn
from lab.monitoring.panels import ROWS
from lab.monitoring.promtool import ensure
from lab.space import Space, open_space, sample
from lab.stack import ROOT, Stack, free_port, wait_for

RECORD = ROOT / "build" / "dashboard.json"
SHOWN = ("Resources", "The operator")  # the simulator counts no queries
WINDOW = "[30s]"  # in place of five minutes, as all of it takes no longer
STEP = 2
PACE = ("--settled-interval", "10")  # the simulator's time runs faster
CHOSEN = {"$namespace": ".*", "$cluster": ".*"}


def record() -> None:
    with tempfile.TemporaryDirectory(prefix="dashboard-") as name:
        directory = Path(name)
        stack = Stack.start(directory / "stage", name="dashboard")
        prometheus = None
        try:
            stack.simulate(speed=20.0)
            stack.operate(arguments=PACE)
            stack.wait_until_ready()
            port = free_port()
            prometheus = _prometheus(directory, port, stack.metrics_ports["operator"])
            began = time.time()
            events = _scenario(open_space(stack, "analytics"), open_space(stack, "reporting"), began)
            _keep(port, began, time.time(), events)
        finally:
            if prometheus is not None:
                prometheus.stop()
            stack.stop()


def _prometheus(directory: Path, port: int, operator: int) -> Process:
    rules = []
    for path in sorted((ROOT / "deploy" / "monitoring").glob("*-alerts.yaml")):
        (directory / path.name).write_text(yaml.safe_dump(yaml.safe_load(path.read_text())["spec"]))
        rules.append(path.name)
    job = {"job_name": "operator", "honor_labels": True, "static_configs": [{"targets": [f"127.0.0.1:{operator}"]}]}
    configuration = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": rules,
        "scrape_configs": [job],
    }
    (directory / "prometheus.yml").write_text(yaml.safe_dump(configuration))
    command = [str(ensure("prometheus")), "--config.file=prometheus.yml", "--storage.tsdb.path=data"]
    command += [f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"]
    return spawn("prometheus", command, log=directory / "prometheus.log", cwd=directory)


def _scenario(busy: Space, quiet: Space, began: float) -> list[tuple[float, str]]:
    """What happens, and when, in seconds from the beginning."""
    events = []

    def tell(what: str) -> None:
        events.append((round(time.time() - began, 1), what))
        print(f"{events[-1][0]:6.1f} s  {what}", flush=True)

    tell("two clusters are applied")
    busy.apply(_cluster("orders", backends=4))
    quiet.apply(_cluster("monthly", backends=1, frontends=1))
    for space, name in ((busy, "orders"), (quiet, "monthly")):
        space.wait_ready(name)
    table = {"name": "facts", "tablets": 900, "replication": 3, "tablet_gb": 0.2}
    busy.simulator("POST", "/tables", {"cluster": "orders", "namespace": busy.namespace, **table})
    time.sleep(20)
    tell("a frontend dies")
    busy.fault("orders-fe-2", "kill")
    time.sleep(30)
    tell("and another one")
    busy.fault("orders-fe-1", "kill")
    time.sleep(25)
    for pod in ("orders-fe-1", "orders-fe-2"):
        busy.fault(pod, "resume")
    tell("both are back")
    busy.wait_ready("orders")
    time.sleep(15)
    tell("one backend fewer is asked for")
    busy.scale("orders", "starRocksBeSpec", 3)
    wait_for(lambda: _backends(busy) == 3, what="the backend to have left", patience=180)
    tell("it has left")
    time.sleep(15)
    tell("frontends get another image")
    busy.patch("StarRocksCluster", "orders", {"spec": {"starRocksFeSpec": {"image": "starrocks/fe-ubuntu:3.5.6"}}})
    time.sleep(45)
    return events


def _backends(space: Space) -> int:
    return sum(member["kind"] == "backend" for member in space.status("orders")["members"])


def _cluster(name: str, *, backends: int, frontends: int = 3) -> dict[str, Any]:
    document = sample("demo")
    document["metadata"]["name"] = name
    del document["spec"]["starRocksCnSpec"]
    document["spec"]["starRocksFeSpec"]["replicas"] = frontends
    document["spec"]["starRocksBeSpec"]["replicas"] = backends
    return document


def _keep(port: int, began: float, ended: float, events: list[tuple[float, str]]) -> None:
    answers = {}
    for row in SHOWN:
        for panel in ROWS[row]:
            for query in panel.queries:
                expression = query.written.replace("[5m]", WINDOW)
                for word, value in CHOSEN.items():
                    expression = expression.replace(word, value)
                asked = {"query": expression, "start": str(began), "end": str(ended), "step": str(STEP)}
                url = f"http://127.0.0.1:{port}/api/v1/query_range?{urllib.parse.urlencode(asked)}"
                with urllib.request.urlopen(url, timeout=30) as answer:
                    answers[query.written] = json.load(answer)["data"]["result"]
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(json.dumps({"began": began, "ended": ended, "events": events, "answers": answers}))


if __name__ == "__main__":
    record()
