"""The gauges follow what is looked after, kind by kind."""

from __future__ import annotations

from typing import Any

import pytest
from prometheus_client import REGISTRY

from starrocks_operator.model import GROUP_KIND, KIND, WAREHOUSE_KIND, Key
from watcher.fleet import Fleet

MEMBERS = [{"kind": "computeNode", "state": "alive"}, {"kind": "backend", "state": "leaving", "tabletsLeft": 7}]
OF_GROUP = [{"state": "joined", "alive": True}, {"state": "joined"}, {"state": "gone"}, {"state": "joining"}]


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"starrocks_operator_{name}", labels) or 0.0


@pytest.mark.parametrize(
    ("kind", "gauge", "members", "counted"),
    [
        (KIND, "clusters", MEMBERS, {("computeNode", "alive"): 1, ("backend", "leaving"): 1}),
        (WAREHOUSE_KIND, "warehouses", MEMBERS[:1], {("computeNode", "alive"): 1}),
        (
            GROUP_KIND,
            "compute_node_groups",
            OF_GROUP,
            {("computeNode", state): 1 for state in ("alive", "dead", "dropped", "joining")},
        ),
    ],
)
def test_a_resource_is_counted_while_it_is_there(
    kind: str, gauge: str, members: list[dict[str, Any]], counted: dict[tuple[str, str], int]
) -> None:
    def figures() -> list[float]:
        states = [value("members", kind=member, state=state) for member, state in counted]
        return [value(gauge, phase="running"), value(gauge, phase="failed"), *states]

    before, fleet = figures(), Fleet()
    for phase in ("running", "running", "failed"):
        fleet.set(Key("ns", "one"), {"phase": phase, "members": members}, kind=kind)
    after = figures()
    assert [now - then for now, then in zip(after, before, strict=True)] == [0, 1, *counted.values()]
    fleet.forget(Key("ns", "one"))
    assert figures() == before
