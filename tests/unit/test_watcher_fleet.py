"""The gauges follow what is looked after, kind by kind."""

from __future__ import annotations

from typing import Any

import pytest
from prometheus_client import REGISTRY

from starrocks_operator.model import GROUP_KIND, KIND, WAREHOUSE_KIND, Key
from watcher.fleet import Fleet

MEMBERS = [{"kind": "computeNode", "state": "alive"}, {"kind": "backend", "state": "leaving", "tabletsLeft": 7}]
OF_GROUP = [{"state": "joined", "alive": True}, {"state": "joined"}, {"state": "gone"}, {"state": "joining"}]


def value(name: str, /, **labels: str) -> float:
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


ONE = {"kind": KIND, "namespace": "ns", "name": "one"}
STATUS = {
    "phase": "running",
    "version": "3.3.9",
    "members": MEMBERS,
    "reconcile": {"failures": 2},
    "conditions": [
        {"type": "Ready", "status": "True"},
        {"type": "Degraded", "status": "False"},
        {"type": "QuorumSafe", "status": "Unknown"},
    ],
}
LINES: list[tuple[str, dict[str, str], float]] = [
    ("resource_info", {"phase": "running", "version": "3.3.9"}, 1),
    ("resource_condition", {"condition": "Ready"}, 1),
    ("resource_condition", {"condition": "Degraded"}, 0),
    ("resource_finding", {"reason": "ScaleInStalled"}, 1),
    ("resource_members", {"member": "backend", "state": "leaving"}, 1),
    ("resource_leaving_tablets", {}, 7),
    ("resource_failed_runs", {}, 2),
    ("resource_looked_at_timestamp_seconds", {}, 41),
]


def lines() -> set[str]:
    """Every line about the resource."""
    found = [sample for family in REGISTRY.collect() for sample in family.samples]
    return {sample.name for sample in found if ONE.items() <= sample.labels.items()}


def test_each_resource_has_a_few_lines_of_its_own_until_it_goes() -> None:
    fleet = Fleet(clock=lambda: 41)
    fleet.looked(Key("ns", "one"))
    fleet.set(Key("ns", "one"), STATUS, findings=["ScaleInStalled"])
    assert [value(name, **ONE, **labels) for name, labels, _ in LINES] == [wanted for *_, wanted in LINES]
    assert (
        REGISTRY.get_sample_value("starrocks_operator_resource_condition", {**ONE, "condition": "QuorumSafe"}) is None
    )
    fleet.forget(Key("ns", "one"))
    assert lines() == set()


def test_what_is_over_is_not_shown_any_more() -> None:
    fleet = Fleet()
    fleet.set(Key("ns", "one"), STATUS, findings=["ScaleInStalled"])
    fleet.set(Key("ns", "one"), {"phase": "failed"}, findings=["LeaderMissing"])
    shown = REGISTRY.get_sample_value
    gone = [("info", {"phase": "running", "version": "3.3.9"}), ("finding", {"reason": "ScaleInStalled"})]
    assert [shown(f"starrocks_operator_resource_{name}", {**ONE, **labels}) for name, labels in gone] == [None, None]
    assert value("resource_finding", **ONE, reason="LeaderMissing") == 1
    fleet.forget(Key("ns", "one"))


def test_the_size_of_a_cluster_does_not_make_more_lines() -> None:
    def count(replicas: int) -> int:
        fleet = Fleet()
        members = [{"kind": "backend", "state": "alive", "name": f"one-be-{i}"} for i in range(replicas)]
        fleet.set(Key("ns", "one"), {"phase": "running", "members": members})
        families = [family for family in REGISTRY.collect() for s in family.samples if ONE.items() <= s.labels.items()]
        fleet.forget(Key("ns", "one"))
        return len(families)

    assert count(3) == count(100)


def test_a_warehouse_goes_by_its_own_name() -> None:
    fleet, key = Fleet(), Key("ns", "wh-warehouse")
    fleet.set(key, {"phase": "running"}, kind=WAREHOUSE_KIND)
    assert value("resource_info", kind=WAREHOUSE_KIND, namespace="ns", name="wh", phase="running", version="") == 1
    fleet.forget(key)
