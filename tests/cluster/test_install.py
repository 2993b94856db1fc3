"""deploy/ and bundle/ on a real API server: accepted, admitted where Pod Security is restricted, and enough to work."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from install import bundle
from install.identity import IMAGE, NAME, NAMESPACE
from install.olm import as_olm_would
from install.text import parse
from lab.controlplane.pki import write_private
from lab.controlplane.plane import ControlPlane
from lab.rights import denied
from lab.space import Space, sample
from lab.stack import ROOT, Stack, wait_for
from tests.cluster.conftest import SPEED
from tests.cluster.installing import apply, install_olm_kinds, make_namespace, remove, wait_available
from tests.cluster.operators import Operators

Json = dict[str, Any]
DEPLOY = ROOT / "deploy"
KUSTOMIZATION = "kustomization.yaml"
LEASES = "leases.coordination.k8s.io"
RIVAL = "c6c79638.starrocks.com"  # looked for everywhere; where that is refused, in its own namespaces
OURS = ("", "namespaced")  # what is for the Prometheus Operator needs kinds of its own
MANIFESTS = sorted(path for part in OURS for path in (DEPLOY / part).glob("*.yaml") if path.name != KUSTOMIZATION)


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stage of its own: the account and the rights of its operator come and go here."""
    stack = Stack.start(tmp_path_factory.mktemp("install"), name="install", report=lambda line: None)
    try:
        stack.simulate(speed=SPEED)
        yield stack
    finally:
        stack.stop()


@pytest.fixture(scope="module")
def plane(stack: Stack) -> ControlPlane:
    assert isinstance(stack.plane, ControlPlane)
    return stack.plane


@pytest.fixture
def applied(plane: ControlPlane) -> Iterator[list[Json]]:
    """What a test applies and puts in here is taken away after it; the rights of the lab's operator come back."""
    items: list[Json] = []
    yield items
    remove(plane, [item for item in items if item["kind"] != "Namespace"])
    plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", str(DEPLOY / "rbac.yaml"))


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.relative_to(DEPLOY).as_posix())
def test_each_manifest_is_accepted(plane: ControlPlane, path: Path) -> None:
    said = plane.kubectl("apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", str(path))
    assert len(said.splitlines()) == len(parse(path))


def test_olm_would_take_the_bundle(plane: ControlPlane) -> None:
    install_olm_kinds(plane)
    for path in sorted(bundle.MANIFESTS.glob("*.yaml")):
        items = [{**item, "metadata": {**item["metadata"], "namespace": NAMESPACE}} for item in parse(path)]
        apply(plane, items, "--dry-run=server")


def test_the_pod_runs_where_pod_security_is_restricted(plane: ControlPlane, applied: list[Json]) -> None:
    namespace = make_namespace(plane, "restricted-operator", enforce="restricted")
    items = [item for item in rendered(plane, "namespaced") if item["kind"] != "Namespace"]
    applied += [moved(item, namespace) for item in items]
    apply(plane, applied)
    wait_available(plane, namespace)


def test_it_is_installed_by_one_file(plane: ControlPlane, applied: list[Json]) -> None:
    applied += parse(DEPLOY / "operator.yaml")
    apply(plane, applied)
    wait_available(plane, NAMESPACE)


@pytest.mark.parametrize("targets", [("",), ("olm-watched", "olm-watched-too")], ids=["all", "some"])
def test_the_bundle_is_installed_as_olm_would(
    plane: ControlPlane, applied: list[Json], targets: tuple[str, ...]
) -> None:
    for name in ("olm-operator", *filter(None, targets)):
        make_namespace(plane, name)
    applied += as_olm_would(bundle.BUNDLE, namespace="olm-operator", targets=targets)
    apply(plane, [item for item in applied if item["kind"] != "CustomResourceDefinition"])
    wait_available(plane, "olm-operator")
    account = f"--as=system:serviceaccount:olm-operator:{NAME}"
    for place in targets:
        where = f"--namespace={place}" if place else "--all-namespaces"
        assert plane.kubectl("auth", "can-i", "patch", "statefulsets", where, account).strip() == "yes"
    if targets != ("",):
        asked = ("auth", "can-i", "get", "secrets", "--namespace=default", account, "--quiet")
        with pytest.raises(Exception, match="can-i"):
            plane.kubectl(*asked)


def test_kustomize_changes_image_and_namespace(plane: ControlPlane, tmp_path: Path) -> None:
    shutil.copytree(DEPLOY, tmp_path / "deploy")
    images = [{"name": IMAGE.rpartition(":")[0], "newName": "registry.internal/operator", "newTag": "7"}]
    overlay = {"namespace": "analytics", "resources": ["../deploy/namespaced"], "images": images}
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / KUSTOMIZATION).write_text(yaml.safe_dump(overlay))
    items = list(yaml.safe_load_all(plane.kubectl("kustomize", str(tmp_path / "mine"))))
    assert {item["metadata"]["namespace"] for item in items} == {"analytics"}
    subjects = [subject for item in items for subject in item.get("subjects", ())]
    assert {subject["namespace"] for subject in subjects} == {"analytics"}
    (container,) = items[-1]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "registry.internal/operator:7"


def test_a_role_in_one_namespace_is_enough(operators: Operators, space: Space, tmp_path: Path) -> None:
    """The operator with `deploy/namespaced` alone: no ClusterRole gives it anything."""
    namespace, stack = space.namespace, space.stack
    items = [moved(item, namespace) for item in rendered(stack.plane, "namespaced") if item["kind"] != "Deployment"]
    apply(stack.plane, items)
    kubeconfig = log_in(stack, namespace, tmp_path / "namespaced.kubeconfig")
    operators.start("first", "--lease-namespace", namespace, kubeconfig=kubeconfig)
    cluster = sample("demo")
    cluster["spec"]["deletionProtection"] = False
    space.apply(cluster)
    space.wait_ready("demo")
    space.scale("demo", "starRocksBeSpec", 4)
    wait_for(lambda: len(space.all("StatefulSet")) and space.ready("demo"), what="four backends", patience=240)
    refusals = denied(stack.plane.audit_log, user=f"system:serviceaccount:{namespace}:{NAME}")
    assert [refusal for refusal in refusals if not refusal.startswith(f"may not list {LEASES} {RIVAL} ")] == []
    asked = ("get", "statefulsets", "--namespace=default", f"--as=system:serviceaccount:{namespace}:{NAME}")
    with pytest.raises(Exception, match="forbidden"):
        stack.plane.kubectl(*asked)
    space.delete("StarRocksCluster", "demo")


def rendered(plane: Any, variant: str) -> list[Json]:
    text = plane.kubectl("kustomize", str(DEPLOY / variant))
    return [item for item in yaml.safe_load_all(text) if item]


def moved(item: Json, namespace: str) -> Json:
    """As `namespace:` of a kustomization moves it."""
    item = {**item, "metadata": {**item["metadata"], "namespace": namespace}}
    if "subjects" in item:
        item["subjects"] = [{**subject, "namespace": namespace} for subject in item["subjects"]]
    return item


def log_in(stack: Stack, namespace: str, kubeconfig: Path) -> Path:
    token = stack.plane.kubectl("create", "token", NAME, f"--namespace={namespace}", "--duration=1h")
    document = json.loads(stack.plane.kubeconfig.read_text())
    user = {"name": document["users"][0]["name"], "user": {"token": token.strip()}}
    write_private(kubeconfig, json.dumps({**document, "users": [user]}).encode())
    return kubeconfig
