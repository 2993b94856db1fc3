"""Whatever the CRD's schema allows is read, decided and built: nothing raises, and what cannot be done is said."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from starrocks_operator.decide import decide
from starrocks_operator.decision import COMPONENTS, Context, Decision
from starrocks_operator.model import MalformedClusterError, StarRocksCluster
from starrocks_operator.model.rules import violations
from starrocks_operator.objects import build, references
from starrocks_operator.observed import Children, Observed
from starrocks_operator.status import status_of
from tests.any_cluster import specs
from tests.unit.membership_world import NOW, World

MANY = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def well_said(decision: Decision) -> bool:
    """Each finding is words to a person, with a reason."""
    return all(item.reason.isalpha() and len(item.message.split()) > 3 for item in decision.findings) and not any(
        "No objects can be made" in item.message for item in decision.findings
    )


def read(raw: dict[str, Any]) -> StarRocksCluster | None:
    """None: a variable or container that this version of the CRD does not expand is none; which one is said."""
    try:
        return StarRocksCluster.parse(raw)
    except MalformedClusterError as failure:
        said = str(failure)
    assert re.search(r"spec\.\w+\.(\w*[eE]nvVars|sidecars|initContainers)\.\d", said), said
    return None


@pytest.mark.parametrize("version", ["v1", "v1alpha1"])
def test_any_cluster_is_decided(version: str) -> None:
    @MANY
    @given(spec=specs(version))
    def decided(spec: dict[str, Any]) -> None:
        world = World(be=1, fe=1)
        world.raw["spec"] = spec
        world.raw["apiVersion"] = f"starrocks.com/{version}"
        if read(world.raw) is None:
            return
        for observed in (world.observed, Observed(now=NOW, children=Children())):
            decision = decide(world.cluster, observed)
            assert well_said(decision), decision.findings
            assert json.dumps(status_of(world.cluster, observed, decision, last_run=None))
        assert references(world.cluster)

    decided()


@pytest.mark.parametrize("version", ["v1", "v1alpha1"])
@pytest.mark.parametrize("profile", ["safe", "upstream"])
def test_any_cluster_is_built(version: str, profile: str) -> None:
    """Also one that breaks a rule: the objects are then not applied, but nobody stumbles over it."""

    @MANY
    @given(spec=specs(version))
    def built(spec: dict[str, Any]) -> None:
        cluster = read({"metadata": {"name": "any", "namespace": "default"}, "spec": spec})
        if cluster is None:
            return
        assert all(violation.message for violation in violations(cluster.to_dict()))
        replicas = {name: part.replicas for name, part in cluster.spec.components.items()}
        context = Context(profile=profile, components=COMPONENTS, replicas=replicas)
        assert json.dumps(build(cluster, context))

    built()
