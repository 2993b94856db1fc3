"""The generated CRD: fresh, small enough to apply, a superset of the official one."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from starrocks_operator.model.crd import LARGEST, TARGET, as_yaml, cluster_crd, size
from starrocks_operator.model.rules import RULES
from starrocks_operator.model.rules.rule import GROUP_KEYS


def words(text: str) -> list[str]:
    return text.split()


LOAD = words("""annotations podLabels replicas image imagePullPolicy imagePullSecrets schedulerName nodeSelector
    affinity tolerations topologySpreadConstraints service storageVolumes serviceAccount configMapInfo requests limits
    claims startupProbeFailureSeconds livenessProbeFailureSeconds readinessProbeFailureSeconds lifecycle
    shareProcessNamespace""")
COMPONENT = words("""runAsNonRoot capabilities configMaps secrets hostAliases terminationGracePeriodSeconds sidecars
    initContainers command args updateStrategy readOnlyRootFilesystem sysctls persistentVolumeClaimRetentionPolicy
    minReadySeconds podManagementPolicy name probe fsGroup""")
STATUS = words("serviceName failedInstances creatingInstances runningInstances resourceNames phase reason")

OFFICIAL = {
    "spec": words("""serviceAccount starRocksFeSpec starRocksBeSpec starRocksCnSpec starRocksFeProxySpec
        disasterRecovery waitForFullRollout"""),
    "spec.starRocksFeSpec": [*LOAD, *COMPONENT, "feEnvVars"],
    "spec.starRocksBeSpec": [*LOAD, *COMPONENT, "beEnvVars", "replicaInstances"],
    "spec.starRocksCnSpec": [*LOAD, *COMPONENT, "cnEnvVars", "autoScalingPolicy"],
    "spec.starRocksFeProxySpec": [*LOAD, "resolver"],
    "spec.starRocksCnSpec.autoScalingPolicy": words("maxReplicas minReplicas version hpaPolicy"),
    "spec.starRocksCnSpec.autoScalingPolicy.hpaPolicy": words("metrics behavior"),
    "spec.starRocksFeSpec.service": words("""type loadBalancerIP loadBalancerSourceRanges annotations labels ports
        externalTrafficPolicy"""),
    "spec.starRocksFeSpec.service.ports": words("name port containerPort nodePort"),
    "spec.starRocksFeSpec.storageVolumes": words("name mountPath storageClassName storageSize hostPath subPath"),
    "spec.starRocksFeSpec.configMapInfo": words("configMapName resolveKey"),
    "spec.starRocksFeSpec.secrets": words("name mountPath subPath"),
    "spec.disasterRecovery": words("enabled generation"),
    "status": words("""phase reason starRocksFeStatus starRocksBeStatus starRocksCnStatus starRocksFeProxyStatus
        disasterRecoveryStatus observedGeneration conditions members bootstrap nextStep waitingFor version
        reconcile"""),
    "status.starRocksFeStatus": STATUS,
    "status.starRocksCnStatus": [*STATUS, *words("hpaName horizontalScaler replicas selector")],
    "status.disasterRecoveryStatus": words("phase reason startTimestamp endTimestamp observedGeneration"),
}


def schema_of(version: str) -> dict[str, Any]:
    (found,) = (entry for entry in cluster_crd()["spec"]["versions"] if entry["name"] == version)
    schema: dict[str, Any] = found["schema"]["openAPIV3Schema"]
    return schema


def node(schema: dict[str, Any], path: str) -> dict[str, Any]:
    for step in path.split("."):
        schema = schema["properties"][step]
        schema = schema.get("items", schema)
    return schema


def nodes(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    yield path, schema
    for name, child in schema.get("properties", {}).items():
        yield from nodes(child, f"{path}.{name}")
    if "items" in schema:
        yield from nodes(schema["items"], f"{path}[]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from nodes(schema["additionalProperties"], f"{path}{{}}")


def test_the_file_is_fresh() -> None:
    assert TARGET.read_text() == as_yaml(cluster_crd()), "run `python -m starrocks_operator.model.crd`"


def test_a_plain_apply_can_carry_it() -> None:
    assert size(yaml.safe_load(TARGET.read_text())) < LARGEST


@pytest.mark.parametrize("version", ["v1", "v1alpha1"])
@pytest.mark.parametrize("path", OFFICIAL)
def test_it_has_every_official_field(version: str, path: str) -> None:
    if version == "v1alpha1" and path.startswith("status"):
        path = "status"
        assert node(schema_of(version), path)["x-kubernetes-preserve-unknown-fields"]
        return
    assert set(OFFICIAL[path]) <= set(node(schema_of(version), path)["properties"])


def test_the_names_are_the_official_ones() -> None:
    spec = cluster_crd()["spec"]
    assert spec["names"]["shortNames"] == ["src"]
    assert [(version["name"], version["served"], version["storage"]) for version in spec["versions"]] == [
        ("v1", True, True),
        ("v1alpha1", True, False),
    ]
    for version in spec["versions"]:
        columns = [column["name"] for column in version["additionalPrinterColumns"]]
        assert columns[:5] == ["Phase", "FeStatus", "BeStatus", "CnStatus", "FeProxyStatus"]
        assert version["subresources"]["scale"] == {
            "specReplicasPath": ".spec.starRocksCnSpec.replicas",
            "statusReplicasPath": ".status.starRocksCnStatus.replicas",
            "labelSelectorPath": ".status.starRocksCnStatus.selector",
        }


def test_both_versions_carry_every_rule() -> None:
    wanted = sum(len(list(rule.nodes())) for rule in RULES)
    for version in ("v1", "v1alpha1"):
        carried = [entry for _, part in nodes(schema_of(version)) for entry in part.get("x-kubernetes-validations", [])]
        assert len(carried) == wanted


def test_both_versions_have_the_same_fields() -> None:
    newer, older = dict(nodes(schema_of("v1"))), dict(nodes(schema_of("v1alpha1")))
    opaque = tuple(path for path, part in older.items() if part.get("x-kubernetes-preserve-unknown-fields"))
    assert set(older) == {path for path in newer if path in older or not path.startswith(opaque)}
    for path, part in older.items():
        if path not in opaque:
            kept = {key: value for key, value in newer[path].items() if key in ("type", "required", "default")}
            assert kept == {key: value for key, value in part.items() if key in kept}, path


def test_every_field_of_our_own_is_described() -> None:
    spec = schema_of("v1")["properties"]["spec"]["properties"]
    for key in ("starRocksFeSpec", "starRocksBeSpec", "starRocksCnSpec"):
        plain = {name for name, part in spec[key]["properties"].items() if "description" not in part}
        assert plain <= {"affinity", "capabilities", "dnsConfig", "lifecycle", "updateStrategy"} | {
            "persistentVolumeClaimRetentionPolicy"
        }


def test_what_has_a_default_is_little() -> None:
    assert {path for path, part in nodes(schema_of("v1")) if "default" in part} == {
        f".spec.{key}.replicas" for key in GROUP_KEYS
    }
