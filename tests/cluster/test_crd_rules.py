"""The CRD's rules on the real API server: each refuses with its message, none refuses what is sound."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from kubernetes.client.exceptions import ApiException

from lab.controlplane.errors import LabError
from lab.controlplane.plane import ControlPlane
from lab.stack import install_crd, wait_for
from starrocks_operator.model.crd import cluster_crd
from starrocks_operator.model.rules import violations
from tests.cluster.crds import CRD, Server
from tests.rule_cases import BE, BROKEN, CN, FE, SOUND, VOLUMES, Case, changed, document
from tests.samples import ALL

PRINTED = "tests/cluster/data/seed-000-as-printed.yaml"


@pytest.fixture(scope="module")
def server(control_plane: ControlPlane) -> Server:
    control_plane.kubectl("apply", "-f", CRD)  # plainly: small enough for the annotation that this writes
    install_crd(control_plane)
    server = Server(control_plane)
    wait_for(lambda: server.refusals(document()) == {}, what="the CRD to be served")
    return server


@pytest.fixture
def stored(server: Server) -> Iterator[Any]:
    """Creates clusters that are gone after the test."""
    names = []

    def create(cluster: dict[str, Any]) -> str:
        name: str = server.create(cluster)["metadata"]["name"]
        names.append(name)
        return name

    yield create
    for name in names:
        server.delete(name)


@pytest.mark.parametrize("version", ["v1", "v1alpha1"])
@pytest.mark.parametrize("case", BROKEN, ids=str)
def test_the_server_says_what_the_python_half_says(server: Server, case: Case, version: str) -> None:
    refused = server.refusals(case.document | {"apiVersion": f"starrocks.com/{version}"})
    (wanted,) = violations(case.document)
    assert list(refused) == [wanted.path or "<nil>"]
    assert wanted.message in refused[wanted.path or "<nil>"]


@pytest.mark.parametrize("case", SOUND, ids=str)
def test_the_server_accepts_what_is_sound(server: Server, case: Case) -> None:
    assert server.refusals(case.document) == {}


@pytest.mark.parametrize("sample", ALL, ids=lambda path: path.stem)
def test_the_server_accepts_the_samples_whole(control_plane: ControlPlane, server: Server, sample: Any) -> None:
    out = control_plane.kubectl("create", "--dry-run=server", "--validate=strict", "-o", "yaml", "-f", str(sample))
    made, wanted = yaml.safe_load(out), yaml.safe_load(sample.read_text())
    assert _contains(made["spec"], wanted["spec"])


def _contains(made: Any, wanted: Any) -> bool:
    """Nothing of what is wanted was pruned or changed."""
    if isinstance(wanted, dict):
        return all(key in made and _contains(made[key], value) for key, value in wanted.items())
    if isinstance(wanted, list):
        return len(made) == len(wanted) and all(map(_contains, made, wanted))
    return bool(made == wanted)


@pytest.mark.parametrize(
    "correction",
    [
        'spec.serviceAccount: Invalid value: "starrocksAccount": no ServiceAccount can have this name',
        "spec.StarRocksCnSpec: Invalid value: there is no StarRocksCnSpec: write starRocksCnSpec",
        "spec.starRocksFeSpec.requests: Invalid value: 'mem' is no resource name: write memory",
        "spec.starRocksBeSpec.requests: Invalid value: 'mem' is no resource name: write memory",
        'spec.starRocksFeSpec.storageVolumes[0].name: Invalid value: "fe_storage": is no name for a volume',
        'spec.starRocksFeSpec.storageVolumes[0].storageClassName: Invalid value: "fe_storage": no StorageClass',
        'spec.starRocksBeSpec.storageVolumes[0].name: Invalid value: "be_storage": is no name for a volume',
        "spec.starRocksFeSpec.storageVolumes[0]: Invalid value: storageSize is missing",
        "spec.starRocksBeSpec.storageVolumes[0]: Invalid value: storageSize is missing",
    ],
)
def test_the_printed_sample_is_refused_with_each_correction(
    control_plane: ControlPlane, server: Server, correction: str
) -> None:
    with pytest.raises(LabError) as refused:
        control_plane.kubectl("apply", "-f", PRINTED)
    assert correction in str(refused.value)


def test_unknown_fields_are_refused_by_kubectl(control_plane: ControlPlane, server: Server) -> None:
    text = yaml.safe_dump(changed(f"{FE}.storageVolume", []))
    with pytest.raises(LabError, match=r'unknown field "spec.starRocksFeSpec.storageVolume"'):
        control_plane.kubectl("apply", "--dry-run=server", "-f", "-", input=text)


@pytest.mark.parametrize(
    ("at", "value", "says"),
    [
        (f"{BE}.replicas", -1, "should be greater than or equal to 0"),
        (f"{CN}.autoScalingPolicy", {}, "Required value"),
        (f"{FE}.replicas", "three", "must be of type integer"),
        (f"{FE}.requests", {"cpu": "lots"}, "should match"),
        (f"{VOLUMES}", [{"name": "a", "mountPath": "/a", "storageSize": "1Gi"}] * 65, "must have at most 64 items"),
    ],
)
def test_the_schema_refuses_what_has_not_the_shape(server: Server, at: str, value: Any, says: str) -> None:
    assert says in " ".join(server.refusals(changed(at, value)).values())


def test_a_volume_grows_and_never_shrinks(server: Server, stored: Any) -> None:
    name = stored(document() | {"metadata": {"name": "shrink"}})
    volumes = document()["spec"]["starRocksFeSpec"]["storageVolumes"]

    def resize(size: str) -> None:
        server.patch(name, {"spec": {"starRocksFeSpec": {"storageVolumes": [volumes[0] | {"storageSize": size}]}}})

    resize("20Gi")
    with pytest.raises(ApiException) as refused:
        resize("19Gi")
    assert "volume fe-meta would become smaller" in refused.value.body
    resize("20480Mi")


@pytest.fixture
def old_crd(control_plane: ControlPlane) -> Iterator[dict[str, Any]]:
    """The CRD under another group, so that it can go through a life of its own."""
    crd = cluster_crd()
    group = "ratchet.example.com"
    crd["metadata"]["name"] = f"starrocksclusters.{group}"
    crd["spec"]["group"] = group
    crd["spec"]["names"] = {"kind": "StarRocksCluster", "plural": "starrocksclusters"}
    crd["spec"]["versions"] = crd["spec"]["versions"][:1]
    yield crd
    control_plane.kubectl("delete", "crd", crd["metadata"]["name"], "--ignore-not-found")


def test_older_objects_take_every_write_beside_what_is_wrong(
    control_plane: ControlPlane, old_crd: dict[str, Any]
) -> None:
    """Objects stored before the rules existed: status, siblings and scale are written as ever."""
    server = Server(control_plane, group=old_crd["spec"]["group"])
    wrong = changed(f"{FE}.replicas", 0)
    control_plane.kubectl("apply", "--server-side", "-f", "-", input=yaml.safe_dump(_without_rules(old_crd)))
    wait_for(lambda: server.refusals(wrong) == {}, what="the CRD without rules to be served")
    cases = [case for case in BROKEN if case.rule not in ("cluster-name", "misspelt-key")]
    names = [server.create(_named(case, number))["metadata"]["name"] for number, case in enumerate(cases)]
    names.append(server.create(document() | {"metadata": {"name": "n" * 60}})["metadata"]["name"])
    control_plane.kubectl("apply", "--server-side", "-f", "-", input=yaml.safe_dump(old_crd))
    wait_for(lambda: server.refusals(wrong) != {}, what="the rules to be in force")
    for name in names:
        _write_beside(server, name)


def _write_beside(server: Server, name: str) -> None:
    spec = server.get(name).get("spec", {})
    components = [key for key in ("starRocksFeSpec", "starRocksBeSpec", "starRocksCnSpec") if key in spec]
    server.patch(name, {"status": {"phase": "running"}}, subresource="status")
    server.patch(name, {"metadata": {"labels": {"a": "b"}}, "spec": {"waitForFullRollout": True}})
    server.patch(name, {"spec": {key: {"minReadySeconds": 7} for key in components}})
    if "starRocksCnSpec" in components:
        server.patch(name, {"spec": {"replicas": 3}}, subresource="scale")
        assert server.get(name)["spec"]["starRocksCnSpec"]["replicas"] == 3
    written = server.get(name)
    assert written["status"]["phase"] == "running"
    assert all(written["spec"][key]["minReadySeconds"] == 7 for key in components)


def _named(case: Case, number: int) -> dict[str, Any]:
    return case.document | {"metadata": {"name": f"old-{number}"}}


def _without_rules(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_rules(child) for key, child in value.items() if key != "x-kubernetes-validations"}
    if isinstance(value, list):
        return [_without_rules(child) for child in value]
    return value
