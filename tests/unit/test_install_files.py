"""deploy/ and bundle/: fresh, of one mind with each other and with the process, and asking for no more than is said."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from install import bundle, deployed
from install.csv import INSTALL_MODES, cluster_service_version
from install.identity import IMAGE, MIN_KUBERNETES, NAME, NAMESPACE, PORTS, ROOT, VERSION
from install.olm import as_olm_would
from install.owned import OWNED
from install.rights import rights
from install.text import parse as documents
from install.workload import SCRATCH, deployment
from watcher.settings import parse

Json = dict[str, Any]
GENERATED = {**deployed.files(), **bundle.files()}
CSV = cluster_service_version()
MANIFESTS = sorted([*(ROOT / "deploy").rglob("*.yaml"), *(ROOT / "bundle").rglob("*.yaml")])


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", sorted(GENERATED), ids=relative)
def test_it_is_fresh(path: Path) -> None:
    assert path.read_text() == GENERATED[path], f"{relative(path)} is stale: run `make bundle`"


def test_nothing_else_is_in_the_bundle() -> None:
    assert {path for path in bundle.BUNDLE.rglob("*") if path.is_file()} == {
        path for path in GENERATED if bundle.BUNDLE in path.parents
    }


# Rights


def rules() -> Iterator[tuple[str, Json]]:
    """Every rule of every role in every manifest."""
    for path in MANIFESTS:
        if path.name.startswith("starrocks.com_"):
            continue
        for item in documents(path):
            strategy = item.get("spec", {}).get("install", {}).get("spec", {})
            given = [*strategy.get("permissions", ()), *strategy.get("clusterPermissions", ())]
            for rule in [*item.get("rules", ()), *(rule for part in given for rule in part["rules"])]:
                yield relative(path), rule


def test_no_rule_has_a_star_or_gives_more_rights() -> None:
    found = list(rules())
    assert len(found) > 40
    for path, rule in found:
        words = {word for key in ("apiGroups", "resources", "verbs") for word in rule[key]}
        assert not words & {"*", "escalate", "bind", "impersonate", "deletecollection", "pods/exec"}, path
        assert "rbac.authorization.k8s.io" not in rule["apiGroups"], path


def test_secrets_are_only_got() -> None:
    verbs = [rule["verbs"] for _, rule in rules() if "secrets" in rule["resources"]]
    assert verbs == [["get"]] * len(verbs)
    assert len(verbs) == 4  # rbac.yaml, operator.yaml, the namespaced one, the bundle


def test_the_bundle_gives_the_rights_of_rbac_yaml() -> None:
    strategy, given = CSV["spec"]["install"]["spec"], rights()
    (watched,), (cluster,) = strategy["permissions"], strategy["clusterPermissions"]
    assert watched["rules"] == [*given.work, *given.lease]
    assert cluster["rules"] == [*given.cluster]


def test_what_holds_in_one_namespace_has_no_cluster_role() -> None:
    kinds = [item["kind"] for item in documents(ROOT / "deploy" / "namespaced" / "operator.yaml")]
    assert kinds == ["ServiceAccount", "Role", "RoleBinding", "Role", "RoleBinding", "Service", "Deployment"]


# One mind


def deployments() -> dict[str, Json]:
    found = {
        relative(path): item for path in deployed.files() for item in documents(path) if item["kind"] == "Deployment"
    }
    (told,) = CSV["spec"]["install"]["spec"]["deployments"]
    return {**found, "the bundle": told}


@pytest.mark.parametrize("where", deployments())
def test_the_pod_is_the_same_everywhere_but_for_what_it_watches(where: str) -> None:
    spec = deployments()[where]["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    watched = next(item for item in container["env"] if item["name"] == "WATCH_NAMESPACE")
    watch = {key: value for key, value in watched.items() if key != "name"}
    assert spec == deployment(watch=watch)["spec"]


def test_every_image_is_the_one() -> None:
    containers = [item["spec"]["template"]["spec"]["containers"] for item in deployments().values()]
    assert {container["image"] for found in containers for container in found} == {IMAGE}
    assert CSV["metadata"]["annotations"]["containerImage"] == IMAGE
    assert {"name": "operator", "image": IMAGE} in CSV["spec"]["relatedImages"]
    assert IMAGE.endswith(f":{VERSION}")


def test_the_process_understands_its_environment() -> None:
    (container,) = deployment(watch={"value": ""})["spec"]["template"]["spec"]["containers"]
    environment = {item["name"]: item.get("value", "x") for item in container["env"]}
    settings = parse([], environment)
    assert settings.clusterwide
    assert (settings.http_address[1], (settings.metrics_address or ("", 0))[1]) == (PORTS["probes"], PORTS["metrics"])
    assert settings.scratch == Path(SCRATCH)
    known = set(re.findall(r'"([A-Z_]+)"', (ROOT / "watcher" / "settings.py").read_text())) | {"POD_NAME", "HOME"}
    assert set(environment) <= known


def test_whatever_is_written_to_is_a_volume() -> None:
    pod = deployment(watch={"value": ""})["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert {volume["name"]: volume["emptyDir"]["medium"] for volume in pod["volumes"]} == dict.fromkeys(
        mounts, "Memory"
    )
    assert {item["value"] for item in container["env"] if item["name"] in ("HOME", "SCRATCH")} <= set(mounts.values())


# The bundle


def test_every_kind_has_an_example_and_every_example_its_kind() -> None:
    examples = json.loads(CSV["metadata"]["annotations"]["alm-examples"])
    owned = {(f"{item.crd['spec']['group']}/{item.version['name']}", item.entry()["kind"]) for item in OWNED}
    assert {(item["apiVersion"], item["kind"]) for item in examples} == owned
    crds = [item for path in bundle.MANIFESTS.glob("starrocks.com_*") for item in documents(path)]
    assert {item["spec"]["names"]["kind"] for item in crds} == {kind for _, kind in owned}


@pytest.mark.parametrize("owned", OWNED, ids=lambda owned: owned.title)
def test_every_field_of_an_example_is_described(owned: Any) -> None:
    entry = owned.entry()
    described = {item["path"] for item in entry["specDescriptors"]}
    assert {field for example in owned.examples() for field in example["spec"]} <= described
    properties = owned.version["schema"]["openAPIV3Schema"]["properties"]
    assert described <= set(properties["spec"]["properties"])
    assert {item["path"] for item in entry["statusDescriptors"]} >= {"conditions", "phase", "reason"}
    assert all(item["displayName"] and item["description"] for item in entry["specDescriptors"])
    assert entry["resources"]


def test_names_and_versions() -> None:
    assert CSV["metadata"]["name"] == f"{NAME}.v{VERSION}"
    assert CSV["spec"]["version"] == VERSION
    assert CSV["metadata"]["annotations"]["olm.skipRange"] == f"<{VERSION}"
    assert CSV["spec"]["minKubeVersion"] == MIN_KUBERNETES
    assert f"Kubernetes | **{MIN_KUBERNETES.removesuffix('.0')} or newer**" in (ROOT / "docs/install.md").read_text()


def test_the_icon_is_a_picture_and_nothing_that_runs() -> None:
    (icon,) = CSV["spec"]["icon"]
    drawing = ElementTree.fromstring(base64.b64decode(icon["base64data"]))
    names = {element.tag.rpartition("}")[2] for element in drawing.iter()}
    assert names == {"svg", "rect", "path"}


def test_the_dockerfile_says_what_the_metadata_says() -> None:
    text = bundle.DOCKERFILE.read_text()
    (metadata,) = documents(bundle.BUNDLE / "metadata" / "annotations.yaml")
    assert dict(re.findall(r"^LABEL (\S+?)=(\S+)$", text, re.MULTILINE)) == metadata["annotations"]


# Installed as OLM would

SCOPES = {
    "OwnNamespace": (NAMESPACE,),
    "SingleNamespace": ("a",),
    "MultiNamespace": ("a", "b"),
    "AllNamespaces": ("",),
}


@pytest.mark.parametrize("mode", INSTALL_MODES)
def test_each_mode_has_its_rights_where_they_are_needed(mode: str) -> None:
    targets = SCOPES[mode]
    objects = as_olm_would(bundle.BUNDLE, namespace=NAMESPACE, targets=targets)
    roles = [item for item in objects if item["kind"] == "Role"]
    everywhere = [item for item in objects if item["kind"] == "ClusterRole"]
    places = set() if targets == ("",) else {NAMESPACE, *targets}
    assert {item["metadata"]["namespace"] for item in roles} == places
    assert len(everywhere) == (1 if places else 2)
    (made,) = (item for item in objects if item["kind"] == "Deployment")
    template = made["spec"]["template"]
    assert template["metadata"]["annotations"]["olm.targetNamespaces"] == ",".join(targets)
    (account,) = (item["metadata"]["name"] for item in objects if item["kind"] == "ServiceAccount")
    assert template["spec"]["serviceAccountName"] == account
