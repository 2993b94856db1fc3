"""Any resource that the API server accepts becomes objects that it accepts, or it is said what is against them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from urllib3 import Retry

from lab.controlplane.plane import ControlPlane
from lab.stack import install_crd, wait_for
from plugins.plugin_utils import server as server_of_the_action
from plugins.plugin_utils.server import ApiServer
from starrocks_operator.decide import decide
from starrocks_operator.decision import COMPONENTS, Context
from starrocks_operator.group.decide import decide_group
from starrocks_operator.model import (
    GROUP_KIND,
    GROUP_PLURAL,
    GROUP_VERSION,
    WAREHOUSE_KIND,
    WAREHOUSE_PLURAL,
    ComputeNodeGroup,
    MalformedClusterError,
    StarRocksCluster,
    parse,
)
from starrocks_operator.objects import build
from starrocks_operator.objects.compute_node_group import build_group
from starrocks_operator.observed import Children, Observed
from tests.any_cluster import group_specs, specs, warehouse_specs
from tests.cluster.crds import Server
from tests.rule_cases import document
from tests.unit.membership_world import NOW

CLUSTERS = 150
REFUSED = (400, 422)


@pytest.fixture(scope="module")
def server(control_plane: ControlPlane) -> Server:
    install_crd(control_plane)
    server = Server(control_plane)
    wait_for(lambda: server.refusals(document()) == {}, what="the CRD to be served")
    return server


@pytest.fixture
def applier(control_plane: ControlPlane, monkeypatch: pytest.MonkeyPatch) -> ApiServer:
    """It asks once: what is refused is not asked again, which would only take time."""
    monkeypatch.setenv("KUBECONFIG", str(control_plane.kubeconfig))
    monkeypatch.setattr(server_of_the_action, "_retries", lambda *_statuses: Retry(0, raise_on_status=False))
    return ApiServer()


MANY = settings(
    max_examples=CLUSTERS,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("version", ["v1", "v1alpha1"])
def test_any_cluster_becomes_objects_or_a_sentence(server: Server, applier: ApiServer, version: str) -> None:
    seen: Counter[str] = Counter()

    @MANY
    @given(spec=specs(version))
    def one(spec: dict[str, Any]) -> None:
        seen.update(fate(server, applier, document() | {"apiVersion": f"starrocks.com/{version}", "spec": spec}))

    one()
    assert seen["accepted"] > CLUSTERS // 4, seen
    assert seen["objects made"] > 2 * seen["objects refused"], seen


OTHERS = {
    WAREHOUSE_KIND: ("v1", WAREHOUSE_PLURAL, warehouse_specs),
    GROUP_KIND: (GROUP_VERSION, GROUP_PLURAL, group_specs),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_any_warehouse_or_group_does_so_too(server: Server, applier: ApiServer, kind: str) -> None:
    version, plural, any_spec = OTHERS[kind]
    its_server, seen = Server(server.plane, plural=plural), Counter[str]()

    @MANY
    @given(spec=any_spec())
    def one(spec: dict[str, Any]) -> None:
        raw = {"apiVersion": f"starrocks.com/{version}", "kind": kind, "metadata": {"name": "reports"}, "spec": spec}
        seen.update(fate(its_server, applier, raw))

    one()
    assert seen["accepted"] > CLUSTERS // 4, seen
    assert seen["objects made"] > 2 * seen["objects refused"], seen


def fate(server: Server, applier: ApiServer, raw: dict[str, Any]) -> Counter[str]:
    """What becomes of a cluster and of its objects, each as a dry run."""
    refusals = server.refusals(raw)
    if refusals:
        assert all(refusals.values()), refusals
        return Counter(["refused"])
    live, nothing = server.create(raw, dry_run="All"), Observed(now=NOW, children=Children())
    try:
        if raw["kind"] == GROUP_KIND:
            group = ComputeNodeGroup.parse(live)
            decision, made = decide_group(group, nothing), [build_group(group, replicas=1, properties={})]
        else:
            cluster = parse(live)
            decision, made = decide(cluster, nothing), list(built(cluster))
    except MalformedClusterError as failure:
        return Counter(["accepted", "unreadable"] if "correct these fields" in str(failure) else [])
    assert not any(finding.reason == "InvalidSpec" for finding in decision.findings), decision.findings
    return Counter(["accepted"]) + fate_of(made, applier)


def built(cluster: StarRocksCluster) -> Iterator[Iterable[Mapping[str, Any]]]:
    for profile in ("safe", "upstream"):
        replicas = {name: spec.replicas for name, spec in cluster.spec.components.items()}
        yield from build(cluster, Context(profile=profile, components=COMPONENTS, replicas=replicas)).values()


def fate_of(made: Iterable[Iterable[Mapping[str, Any]]], applier: ApiServer) -> Counter[str]:
    found: Counter[str] = Counter()
    for part in made:
        for wanted in part:
            answer = applier.apply(wanted, dry_run=True)
            name = f"{wanted['kind']} {wanted['metadata']['name']}"
            refused = answer.status in REFUSED or answer.is_no_such_object
            assert answer.ok or refused, (name, answer.status, answer.body)
            assert answer.ok or "the API server refused it" in answer.sentence(name), json.dumps(answer.body)
            found["objects made" if answer.ok else "objects refused"] += 1
    return found
