"""One operator acts on a cluster: never two of ours, never ours beside the official one, and only in its namespaces."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import psutil

from lab.interference import interference
from lab.space import open_space
from tests.cluster.clusters import cluster
from tests.cluster.operators import Operators

RIVAL = "c6c79638.starrocks.com"
LOST = 3  # the exit code of a process that lost the Lease


def test_one_that_was_frozen_past_its_lease_ends_and_writes_nothing(operators: Operators, tmp_path: Path) -> None:
    space = operators.space
    with interference(operators.stack.operator_kubeconfig) as watched:
        first = operators.start(kubeconfig=watched.write_kubeconfig(tmp_path / "watched.kubeconfig"))
        space.apply(cluster("one"))
        space.wait_ready("one")
        process, family = psutil.Process(first.pid), operators.family()
        for member in (process, *family):
            member.suspend()
        operators.start("second")
        operators.wait_for_readiness("ok", "second")
        space.scale("one", "starRocksFeSpec", 3)
        space.wait_ready("one")
        before = len(watched.requests)
        for member in (process, *family):
            member.resume()
        assert process.wait(10) == LOST
        assert [line for line in watched.requests[before:] if not line.startswith("GET ")] == []
        assert operators.holder().startswith("second_")
        operators.end()


def test_the_survivor_takes_over_from_one_that_was_killed(operators: Operators) -> None:
    space = operators.space
    operators.start()
    operators.wait_for_readiness("ok")
    operators.start("second")
    operators.wait_for_readiness("another process holds the Lease", "second")
    space.apply(cluster("one", fe=3, be=1))
    space.wait(lambda: space.find("StatefulSet", "one-fe"), "one", "to have frontends")
    assert operators.metric("ansible_runs_total", "second") == 0
    operators.kill()
    space.wait_ready("one")
    assert operators.metric("lease_held", "second") == 1


def test_a_rival_that_is_no_longer_renewed_is_believed_to_be_gone(operators: Operators) -> None:
    space = operators.space
    space.apply(lease(seconds=8))
    space.apply(cluster("one"))
    operators.start()
    operators.wait_for_readiness(f"official holds the Lease {space.namespace}/{RIVAL}")
    assert operators.metric("rival_active") == 1
    assert operators.holder().startswith("first_") is False
    assert not space.status("one")
    space.wait_ready("one")
    assert operators.metric("rival_active") == 0


def test_where_it_may_not_look_for_a_rival_it_says_so_and_acts(operators: Operators, tmp_path: Path) -> None:
    space = operators.space
    kubeconfig = operators.stack.log_in("blind", tmp_path / "blind.kubeconfig")
    rights = json.loads(operators.stack.plane.kubectl("get", "clusterrole", "starrocks-operator", "-o", "json"))
    rules = [rule for rule in rights["rules"] if "leases" not in rule["resources"]]
    grant(operators, "blind", rules)
    space.apply(cluster("one"))
    operators.start(kubeconfig=kubeconfig)
    space.wait_ready("one")
    assert f"May not look for the official operator's Lease {RIVAL}" in operators.log()


def test_it_leaves_alone_what_is_outside_its_namespaces(operators: Operators, tmp_path: Path) -> None:
    names = [operators.space.namespace, *(f"{operators.space.namespace[:40]}-{letter}" for letter in "bc")]
    spaces = [operators.space, *(open_space(operators.stack, name, tmp_path) for name in names[1:])]
    for space in spaces:
        space.apply(cluster("one"))
    operators.start(namespaces=names[:2])
    for space in spaces[:2]:
        space.wait_ready("one")
    assert not spaces[2].status("one")
    assert spaces[2].all("StatefulSet") == []
    for space in spaces[1:]:
        space.delete("StarRocksCluster", "one")


def lease(*, seconds: int) -> dict[str, object]:
    """The official operator's Lease, renewed just now."""
    renewed = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spec = {"holderIdentity": "official", "leaseDurationSeconds": seconds, "renewTime": renewed}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": RIVAL}, "spec": spec}


def grant(operators: Operators, account: str, rules: list[dict[str, object]]) -> None:
    """Give a ServiceAccount beside the operator's these rights everywhere, and the right to the operator's Lease."""
    group, subject = "rbac.authorization.k8s.io", {"kind": "ServiceAccount", "name": account, "namespace": "starrocks"}
    documents = [
        {"kind": "ClusterRole", "metadata": {"name": account}, "rules": rules},
        {
            "kind": "ClusterRoleBinding",
            "metadata": {"name": account},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": account},
            "subjects": [subject],
        },
        {
            "kind": "RoleBinding",
            "metadata": {"name": account, "namespace": "starrocks"},
            "roleRef": {"apiGroup": group, "kind": "Role", "name": "starrocks-operator-lease"},
            "subjects": [subject],
        },
    ]
    for document in documents:
        text = json.dumps({"apiVersion": f"{group}/v1", **document})
        operators.stack.plane.kubectl("apply", "--server-side", "-f", "-", input=text)
