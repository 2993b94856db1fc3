"""Whose host is it: whole labels, integer ordinals, any cluster domain."""

from __future__ import annotations

import pytest

from starrocks_operator.membership.hosts import Group
from starrocks_operator.membership.pods import Pod
from starrocks_operator.membership.slots import roster
from tests.unit.membership_world import NOW, at, compute_row, pod

A = Group(namespace="ns", stateful_set="a-fe", service="a-fe-search")


@pytest.mark.parametrize(
    ("host", "ordinal"),
    [
        ("a-fe-0.a-fe-search.ns.svc.cluster.local", 0),
        ("a-fe-12.a-fe-search.ns.svc.cluster.local", 12),
        ("A-FE-3.a-fe-search.ns.svc.other.domain", 3),
        ("a-fe-3.a-fe-search.ns", 3),
        ("a-fe-3.a-fe-search.ns.svc.cluster.local.", 3),
        ("a-b-fe-0.a-b-fe-search.ns.svc.cluster.local", None),
        ("a-fe-0.a-fe-search.other.svc.cluster.local", None),
        ("a-fe-0.a-b-fe-search.ns.svc.cluster.local", None),
        ("a-fe-01.a-fe-search.ns.svc.cluster.local", None),
        ("a-fe-x.a-fe-search.ns.svc.cluster.local", None),
        ("a-fe-.a-fe-search.ns.svc.cluster.local", None),
        ("a-fe.a-fe-search.ns.svc.cluster.local", None),
        ("a-fe-0.a-fe-search", None),
        ("10.1.2.3", None),
        ("", None),
    ],
)
def test_which_ordinal_a_host_is(host: str, ordinal: int | None) -> None:
    assert A.ordinal_of_host(host) == ordinal


def test_the_domain_is_taken_from_the_rows_that_fe_has() -> None:
    assert A.domain_of_host("a-fe-0.a-fe-search.ns.svc.k8s.example.org") == "k8s.example.org"
    assert A.domain_of_host("b-fe-0.b-fe-search.ns.svc.k8s.example.org") is None


def test_ordinals_are_numbers_not_text() -> None:
    group = Group(namespace="default", stateful_set="sample-cn", service="sample-cn-search")
    rows = [compute_row(ordinal, "cn") for ordinal in (10, 9, 2)]
    found = roster(component="cn", group=group, replicas=3, port=9050, pods={}, rows=rows)
    assert [slot.ordinal for slot in found.slots] == [0, 1, 2, 9, 10]
    assert [slot.wanted for slot in found.slots] == [True, True, True, False, False]


def test_a_row_known_by_address_belongs_to_the_pod_that_has_it() -> None:
    group = Group(namespace="default", stateful_set="sample-be", service="sample-be-search")
    own = Pod.of(pod("sample-be-0", "be"))
    rows = [compute_row(0, "be", host=own.address), compute_row(1, "be", host="10.9.9.9")]
    found = roster(component="be", group=group, replicas=1, port=9050, pods={own.name: own}, rows=rows)
    assert found.slots[0].rows == (rows[0],)
    assert found.foreign == (rows[1],)


@pytest.mark.parametrize(
    ("change", "words", "failed"),
    [
        ({"phase": "Pending", "conditions": []}, "is Pending", False),
        (
            {
                "phase": "Pending",
                "conditions": [
                    {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no nodes"}
                ],
            },
            "cannot be scheduled (no nodes)",
            False,
        ),
        (
            {
                "phase": "Pending",
                "conditions": [],
                "containerStatuses": [
                    {
                        "name": "fe",
                        "image": "x:1",
                        "state": {"waiting": {"reason": "ImagePullBackOff", "message": "20s"}},
                    }
                ],
            },
            "is Pending (ImagePullBackOff: image x:1)",
            True,
        ),
        (
            {
                "phase": "Running",
                "conditions": [],
                "containerStatuses": [{"name": "fe", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}],
            },
            "is Running (CrashLoopBackOff)",
            True,
        ),
        ({"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}, "runs but is not ready", False),
        ({"phase": "Failed", "conditions": []}, "is Failed", True),
        ({}, "", False),
    ],
)
def test_a_pod_in_words(change: dict[str, object], words: str, failed: bool) -> None:
    raw = pod("sample-fe-0", "fe")
    raw["status"] |= change
    found = Pod.of(raw)
    assert (found.trouble, found.failed) == (words, failed)


def test_a_pod_on_its_way_out_neither_runs_nor_is_ready() -> None:
    raw = pod("sample-fe-0", "fe")
    raw["metadata"]["deletionTimestamp"] = at(0)
    found = Pod.of(raw)
    assert (found.ready, found.running_since, found.trouble, found.failed) == (False, None, "is being deleted", False)


@pytest.mark.parametrize("raw", [{}, {"metadata": {}}, {"status": {"phase": "Running"}, "metadata": {"name": "x"}}])
def test_a_pod_with_nothing_in_it_is_no_trouble(raw: dict[str, object]) -> None:
    assert Pod.of(raw).running_since is None


def test_how_long_a_pod_runs_is_the_main_containers_affair() -> None:
    raw = pod("sample-fe-0", "fe", running=-20)
    raw["status"]["containerStatuses"].insert(0, {"name": "sidecar", "state": {"running": {"startedAt": at(-500)}}})
    since = Pod.of(raw).running_since
    assert since is not None
    assert (NOW - since).total_seconds() == 20
