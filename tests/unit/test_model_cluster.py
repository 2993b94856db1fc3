"""Parsing: everything the API server accepts, nothing lost that we act on, nothing raised that we do not know."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from starrocks_operator.model import Key, MalformedClusterError, StarRocksCluster
from starrocks_operator.model.quantity import parse_quantity
from tests.rule_cases import BROKEN, document
from tests.samples import CLUSTERS


def _with_text_quantities(value: Any) -> Any:
    """The document as the model keeps it: requests and limits of components as text."""
    if not isinstance(value, dict):
        return value
    return {
        key: {name: str(quantity) for name, quantity in child.items()}
        if key in ("requests", "limits")
        else _with_text_quantities(child)
        for key, child in value.items()
    }


@pytest.mark.parametrize("sample", CLUSTERS, ids=lambda path: path.stem)
def test_a_sample_survives_the_round_trip(sample: Path) -> None:
    raw = yaml.safe_load(sample.read_text())
    assert StarRocksCluster.parse(raw).to_dict() == _with_text_quantities(raw)


def test_defaults() -> None:
    cluster = StarRocksCluster.parse({"metadata": {"name": "a"}, "spec": {"starRocksFeSpec": {}}})
    fe = cluster.spec.component("fe")
    assert fe is not None
    assert (fe.replicas, fe.image, fe.env_vars, fe.storage_volumes, fe.min_ready_seconds) == (1, "", (), (), None)
    assert list(cluster.spec.components) == ["fe"]
    assert cluster.spec.component("be") is None


def test_names_and_identity() -> None:
    raw = document()
    raw["metadata"] |= {"uid": "u", "generation": 7, "deletionTimestamp": "2026-01-01T00:00:00Z"}
    cluster = StarRocksCluster.parse(raw)
    assert cluster.key == Key("default", "sound")
    assert str(cluster.key) == "default/sound"
    assert (cluster.uid, cluster.generation, cluster.is_deleted) == ("u", 7, True)
    assert len({cluster, StarRocksCluster.parse(raw)}) == 1


def test_environment_is_found_under_each_components_own_key() -> None:
    raw = document()
    for key, name in (("starRocksFeSpec", "fe"), ("starRocksBeSpec", "be"), ("starRocksCnSpec", "cn")):
        raw["spec"][key][f"{name}EnvVars"] = [{"name": "WHO", "value": name}]
    components = StarRocksCluster.parse(raw).spec.components
    assert {name: spec.env_vars[0]["value"] for name, spec in components.items()} == {n: n for n in ("fe", "be", "cn")}


def test_unknown_fields_and_nulls_are_ignored() -> None:
    raw = document()
    raw["spec"]["fromTheFuture"] = {"a": 1}
    raw["spec"]["starRocksFeSpec"] |= {"service": None, "replicas": None, "fromTheFuture": 1}
    raw["status"] = {"phase": "running", "conditions": None, "starRocksFeStatus": {}, "fromTheFuture": [1]}
    cluster = StarRocksCluster.parse(raw)
    assert cluster.spec.fe is not None
    assert (cluster.spec.fe.replicas, cluster.spec.fe.service) == (1, None)
    assert cluster.status is not None
    assert cluster.status.fe is not None
    assert cluster.status.fe.phase == ""


@pytest.mark.parametrize("case", BROKEN, ids=str)
def test_what_breaks_a_rule_can_still_be_read(case: Any) -> None:
    StarRocksCluster.parse(case.document)


def test_what_has_not_the_shape_is_named() -> None:
    raw = document()
    raw["spec"]["starRocksFeSpec"]["replicas"] = "three"
    with pytest.raises(MalformedClusterError, match=r"default/sound cannot be read \(spec.starRocksFeSpec.replicas: "):
        StarRocksCluster.parse(raw)


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [("1Ki", "1025"), ("999m", "1"), ("1G", "1Gi"), ("1e3", "1001"), (".5", "0.6"), ("100n", "1u"), ("-1", "0")],
)
def test_quantities_compare(smaller: str, larger: str) -> None:
    low, high = parse_quantity(smaller), parse_quantity(larger)
    assert low is not None
    assert high is not None
    assert low < high


@pytest.mark.parametrize("text", ["", "Gi", "10GB", "1 Gi", "1i", "ten"])
def test_what_is_no_quantity(text: str) -> None:
    assert parse_quantity(text) is None
