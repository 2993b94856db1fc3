"""Warehouses and groups are optional: their CRDs may be installed while an operator runs, which then serves them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab.space import Document
from lab.stack import install_crd
from tests.cluster.clusters import cluster
from tests.cluster.operators import Operators
from tests.cluster.test_left_alone import forget, resource, wait_seen

OPTIONAL = ("starrockswarehouses.starrocks.com", "computenodegroups.starrocks.com")


@pytest.fixture
def bare(operators: Operators) -> Iterator[Operators]:
    """Without the optional CRDs."""
    plane = operators.stack.plane
    plane.kubectl("delete", "crd", *OPTIONAL, "--wait")
    yield operators
    install_crd(plane)
    forget(operators.space)


def test_what_is_installed_later_is_looked_after(bare: Operators) -> None:
    space = bare.space
    bare.start()
    space.apply(cluster("one"))
    space.wait_ready("one")
    before = pods(space.all("Pod"))
    assert "StarRocksWarehouses are not watched until their CRD is installed" in bare.log()
    install_crd(bare.stack.plane)
    for kind in ("StarRocksWarehouse", "ComputeNodeGroup"):
        space.apply(resource(kind, "late"))
    for kind in ("StarRocksWarehouse", "ComputeNodeGroup"):
        wait_seen(space, kind, "late")
    assert space.ready("one")
    assert pods(space.all("Pod")) == before


def pods(found: list[Document]) -> set[str]:
    return {pod["metadata"]["uid"] for pod in found}
