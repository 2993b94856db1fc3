"""The admission policies: even numbers of frontends warn, and what the HPA chose survives every other write."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from kubernetes import client

from lab.controlplane.plane import ControlPlane
from lab.stack import install_crd, wait_for
from tests.cluster.crds import POLICIES, Server
from tests.rule_cases import CN, FE, changed, document

POLICY = {"minReplicas": 1, "maxReplicas": 9}
WAYS = [("apply",), ("apply", "--server-side", "--force-conflicts"), ("replace",)]


@pytest.fixture(scope="module")
def server(control_plane: ControlPlane) -> Iterator[Server]:
    install_crd(control_plane)
    control_plane.kubectl("apply", "-f", POLICIES)
    server = Server(control_plane)
    wait_for(lambda: server.refusals(document()) == {}, what="the CRD to be served")
    wait_for(lambda: warnings(server, changed(f"{FE}.replicas", 2)), what="the policies to be in force")
    server.create(autoscaled("policies-probe"))
    wait_for(lambda: _keeps(server, "policies-probe"), what="the replicas to be kept")
    yield server
    server.delete("policies-probe")


def _keeps(server: Server, name: str) -> bool:
    server.patch(name, {"spec": {"starRocksCnSpec": {"replicas": 5}}})
    return replicas(server, name) == 1


def warnings(server: Server, cluster: dict[str, Any]) -> str:
    """The warnings with which the API server accepts a cluster."""
    _, status, headers = client.CustomObjectsApi(server.plane.client()).create_namespaced_custom_object_with_http_info(
        "starrocks.com", "v1", "default", "starrocksclusters", cluster, dry_run="All"
    )
    assert status == 201
    return str(headers.get("Warning", ""))


def autoscaled(name: str, **fields: Any) -> dict[str, Any]:
    cluster = changed(f"{CN}.autoScalingPolicy", POLICY)
    cluster["spec"]["starRocksCnSpec"] |= fields
    return cluster | {"metadata": {"name": name}}


def replicas(server: Server, name: str) -> int:
    count: int = server.get(name)["spec"]["starRocksCnSpec"]["replicas"]
    return count


@pytest.fixture
def name(server: Server, request: pytest.FixtureRequest) -> Iterator[str]:
    """The name for the cluster of one test."""
    name = f"policies-{abs(hash(request.node.name)) % 10**8}"
    yield name
    server.delete(name)


@pytest.mark.parametrize(("count", "warned"), [(1, False), (2, True), (3, False), (4, True)])
def test_an_even_number_of_frontends_warns(server: Server, count: int, warned: bool) -> None:
    said = warnings(server, changed(f"{FE}.replicas", count))
    assert ("use an odd number" in said) is warned


@pytest.mark.parametrize("written", [{}, {"replicas": 1}, {"replicas": 8}], ids=json.dumps)
@pytest.mark.parametrize(
    "how", [("apply",), ("apply", "--server-side", "--force-conflicts"), ("replace",)], ids=" ".join
)
def test_a_manifest_applied_again_keeps_what_the_hpa_chose(
    server: Server, name: str, how: tuple[str, ...], written: dict[str, int]
) -> None:
    def write(command: tuple[str, ...], cluster: dict[str, Any]) -> None:
        server.plane.kubectl(*command, "-f", "-", input=yaml.safe_dump(cluster))

    first = ("create", "--save-config") if how == ("replace",) else how
    write(first, autoscaled(name, replicas=2))
    server.patch(name, {"spec": {"replicas": 4}}, subresource="scale")
    assert replicas(server, name) == 4
    write(how, autoscaled(name, minReadySeconds=3, **written))
    assert replicas(server, name) == 4
    assert server.get(name)["spec"]["starRocksCnSpec"]["minReadySeconds"] == 3


def test_the_scale_subresource_always_counts(server: Server, name: str) -> None:
    server.create(autoscaled(name))
    for count in (7, 2):
        server.plane.kubectl("scale", "src", name, f"--replicas={count}")
        assert replicas(server, name) == count


def test_removing_the_field_keeps_the_count(server: Server, name: str) -> None:
    server.create(autoscaled(name, replicas=6))
    server.patch(name, {"spec": {"starRocksCnSpec": {"replicas": None}}})
    assert replicas(server, name) == 6


def test_without_autoscaling_the_manifest_counts(server: Server, name: str) -> None:
    server.create(document() | {"metadata": {"name": name}})
    server.patch(name, {"spec": {"starRocksCnSpec": {"replicas": 3}}})
    assert replicas(server, name) == 3


def test_the_write_that_turns_autoscaling_on_or_off_counts(server: Server, name: str) -> None:
    server.create(document() | {"metadata": {"name": name}})
    server.patch(name, {"spec": {"starRocksCnSpec": {"replicas": 3, "autoScalingPolicy": POLICY}}})
    assert replicas(server, name) == 3
    server.patch(name, {"spec": {"starRocksCnSpec": {"replicas": 2, "autoScalingPolicy": None}}})
    assert replicas(server, name) == 2
