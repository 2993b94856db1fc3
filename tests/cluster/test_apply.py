"""The `apply` action on a real API server: the roles' playbook run by ansible-playbook, as the operator runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.controlplane.plane import ControlPlane
from lab.interference import interference
from lab.stack import install_crd
from plugins.plugin_utils.server import ApiServer
from starrocks_operator.decision import COMPONENTS, Context
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects import build
from starrocks_operator.objects.drift import missing

ROOT = Path(__file__).resolve().parents[2]
PLAYBOOK = ROOT / "playbooks" / "cluster.yml"
PLURALS = ("configmaps", "services", "statefulsets", "deployments", "horizontalpodautoscalers", "poddisruptionbudgets")
JSON = ("-o", "json", "--show-managed-fields")
CLUSTER = {
    "apiVersion": "starrocks.com/v1",
    "kind": "StarRocksCluster",
    "metadata": {"name": "sample", "annotations": {"starrocks.com/ignored": "true"}},
    "spec": {
        "starRocksFeSpec": {"replicas": 3, "image": "starrocks/fe-ubuntu:3.5.5"},
        "starRocksBeSpec": {"replicas": 3, "image": "starrocks/be-ubuntu:3.5.5"},
    },
}


@dataclass
class Result:
    """What a run said of one host."""

    tasks: list[dict[str, Any]]

    @property
    def changed(self) -> set[str]:
        """The objects that were changed, as "Kind/name"."""
        entries = [entry for task in self.tasks for entry in task.get("objects", ())]
        return {f"{entry['kind']}/{entry['name']}" for entry in entries if entry["changed"]}

    @property
    def applied(self) -> set[str]:
        return {f"{entry['kind']}/{entry['name']}" for task in self.tasks for entry in task.get("objects", ())}

    @property
    def messages(self) -> str:
        return " ".join(str(task.get("msg", "")) for task in self.tasks)

    @property
    def failed(self) -> bool:
        return any(task.get("failed") for task in self.tasks)


class Namespace:
    """A namespace of the lab, and plays for the clusters in it."""

    def __init__(self, plane: ControlPlane, name: str, directory: Path) -> None:
        self.plane, self.name, self.directory = plane, name, directory
        self.kubeconfig = plane.kubeconfig

    def create(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """An object as its user creates it."""
        self.plane.kubectl("apply", "-n", self.name, "-f", "-", input=json.dumps(document))
        return self.get(document["kind"], document["metadata"]["name"])

    def get(self, kind: str, name: str) -> dict[str, Any]:
        raw: dict[str, Any] = json.loads(self.plane.kubectl("get", "-n", self.name, kind, name, *JSON))
        return raw

    def objects(self) -> dict[str, dict[str, Any]]:
        """What the operator may have made, by "Kind/name"."""
        listed = json.loads(self.plane.kubectl("get", "-n", self.name, ",".join(PLURALS), *JSON))["items"]
        found = {f"{raw['kind']}/{raw['metadata']['name']}": raw for raw in listed}
        return {name: raw for name, raw in found.items() if name != "ConfigMap/kube-root-ca.crt"}

    def play(
        self,
        raw: Mapping[str, Any],
        *options: str,
        prune: Any = (),
        due: Any = COMPONENTS,
        known: Mapping[str, str] | None = None,
        **changes: Any,
    ) -> Result:
        """One run of the playbook for this cluster."""
        cluster = StarRocksCluster.parse(raw)
        document = {
            "cluster": raw,
            "context": context_of(cluster, **changes).document(),
            "due": list(due),
            "prune": list(prune),
            "step": None,
        }
        if known is not None:
            document["known"] = known
        file = self.directory / "cluster.json"
        file.write_text(json.dumps(document))
        inventory = self.directory / "inventory.json"
        inventory.write_text(json.dumps({"all": {"hosts": {"one": {"cluster_file": str(file)}}}}))
        return self._run(inventory, options)

    def _run(self, inventory: Path, options: tuple[str, ...]) -> Result:
        environment = os.environ | {
            "KUBECONFIG": str(self.kubeconfig),
            "PYTHONPATH": str(ROOT),
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json",
        }
        program = Path(sys.executable).with_name("ansible-playbook")
        command = [str(program), "-i", str(inventory), str(PLAYBOOK), *options]
        done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
        output = done.stdout[done.stdout.index("{") :]
        plays = json.loads(output)["plays"]
        hosts = [task["hosts"]["one"] for play in plays for task in play["tasks"] if "one" in task["hosts"]]
        result = Result([host for host in hosts if not host.get("skipped")])
        assert result.failed == (done.returncode != 0), done.stdout + done.stderr
        return result


def context_of(cluster: StarRocksCluster, **changes: Any) -> Context:
    replicas = {name: spec.replicas for name, spec in cluster.spec.components.items()}
    return Context(**{"profile": "safe", "components": COMPONENTS, "replicas": replicas, **changes})


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> ControlPlane:
    install_crd(control_plane)
    return control_plane


@pytest.fixture
def space(plane: ControlPlane, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Namespace]:
    name = f"apply-{abs(hash(request.node.name)) % 10**8}"
    plane.kubectl("create", "namespace", name)
    yield Namespace(plane, name, tmp_path)
    plane.kubectl("delete", "namespace", name, "--wait=false", "--ignore-not-found")


def sample(name: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((ROOT / "crds" / "samples" / f"{name}.yaml").read_text())
    document["metadata"]["annotations"] = {"starrocks.com/ignored": "true"}
    return document


@pytest.mark.parametrize("name", ["demo", "everything", "minimal"])
def test_a_second_run_changes_nothing_and_nothing_is_missing(space: Namespace, name: str) -> None:
    raw = space.create(sample(name))
    for profile in ("safe", "upstream"):
        first = space.play(raw, profile=profile)
        second = space.play(raw, profile=profile)
        live = space.objects()
        assert "StatefulSet/" + name + "-fe" in first.changed
        assert second.changed == set()
        assert second.applied <= live.keys()
        for part in build(
            StarRocksCluster.parse(raw), context_of(StarRocksCluster.parse(raw), profile=profile)
        ).values():
            for wanted in part:
                assert missing(live[f"{wanted['kind']}/{wanted['metadata']['name']}"], wanted) is None


def test_a_second_run_takes_no_backends_away(space: Namespace) -> None:
    raw = space.create(CLUSTER)
    space.play(raw)
    space.plane.kubectl("scale", "-n", space.name, "statefulset", "sample-be", "--replicas=5")
    result = space.play(raw, known={})
    assert result.failed
    assert "StatefulSet sample-be was not applied: it has 5 replicas and 3 were to be applied" in result.messages
    assert space.get("statefulset", "sample-be")["spec"]["replicas"] == 5


def test_a_second_run_takes_orphans_in_again_and_leaves_strangers_alone(space: Namespace) -> None:
    """Deleted with --cascade=orphan, and applied again under its name."""
    space.play(space.create(CLUSTER))
    space.plane.kubectl("delete", "-n", space.name, "starrockscluster", "sample", "--cascade=orphan")
    services = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "sample-be-service"}}
    space.plane.kubectl("delete", "-n", space.name, "service", "sample-be-service")
    space.create(services | {"spec": {"ports": [{"port": 1}]}})
    raw = space.create(CLUSTER)
    result = space.play(raw, known={})
    assert "Service sample-be-service was not applied: it exists and is not ours" in result.messages
    live = space.objects()
    assert "ownerReferences" not in live.pop("Service/sample-be-service")["metadata"]
    for item in live.values():
        assert [owner["uid"] for owner in item["metadata"]["ownerReferences"]] == [raw["metadata"]["uid"]]


def test_a_second_run_on_an_old_version_is_a_conflict(space: Namespace, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the action relies on: an API server that honours the resourceVersion of what is applied."""
    raw = space.create(CLUSTER)
    space.play(raw, due=["fe"])
    cluster = StarRocksCluster.parse(raw)
    parts = build(cluster, context_of(cluster))["fe"]
    (wanted,) = [item for item in parts if item["kind"] == "StatefulSet"]
    old = {**wanted, "metadata": {**wanted["metadata"], "resourceVersion": "1"}}
    monkeypatch.setenv("KUBECONFIG", str(space.kubeconfig))
    assert ApiServer().apply(old, dry_run=False).status == 409


def test_a_second_run_never_makes_a_volume_claim(space: Namespace, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "c", "namespace": space.name, "annotations": {"starrocks.com/cluster-id": "7"}},
    }
    monkeypatch.setenv("KUBECONFIG", str(space.kubeconfig))
    assert ApiServer().annotate(mark, dry_run=False).absent
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    space.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": spec})
    assert ApiServer().annotate(mark, dry_run=False).metadata["annotations"]["starrocks.com/cluster-id"] == "7"


def test_objects_belong_to_their_cluster_and_to_nobody_else(space: Namespace) -> None:
    raw = space.create(CLUSTER)
    space.play(raw)
    for live in space.objects().values():
        owners = live["metadata"]["ownerReferences"]
        assert [(owner["uid"], owner["controller"]) for owner in owners] == [(raw["metadata"]["uid"], True)]
        assert {entry["operation"] for entry in managers(live)} == {"Apply"}


def managers(live: Mapping[str, Any]) -> list[dict[str, Any]]:
    entries = live["metadata"].get("managedFields", ())
    return [entry for entry in entries if entry["manager"] == "starrocks-operator"]


def test_what_a_stranger_changed_is_put_right(space: Namespace) -> None:
    raw = space.create(CLUSTER)
    space.play(raw)
    patch = json.dumps({"spec": {"ports": [{"name": "query", "port": 9030, "targetPort": 1}]}})
    space.plane.kubectl("patch", "-n", space.name, "service", "sample-fe-service", "-p", patch)
    assert space.play(raw).changed == {"Service/sample-fe-service"}
    ports = space.get("service", "sample-fe-service")["spec"]["ports"]
    assert {port["targetPort"] for port in ports} == {8030, 9020, 9030, 9010}


def test_only_what_is_due_is_applied(space: Namespace) -> None:
    raw = space.create(CLUSTER)
    assert {name.split("-")[1] for name in space.play(raw, due=["fe"]).applied} == {"fe"}


def test_known_versions_tell_what_changed(space: Namespace) -> None:
    """The versions of StatefulSets move with their pods; those of Services stay."""
    raw = space.create(CLUSTER)
    assert space.play(raw, known={}).changed == space.objects().keys()
    known = {name: live["metadata"]["resourceVersion"] for name, live in space.objects().items()}
    services = {name for name in known if name.startswith("Service")}
    assert not services & space.play(raw, known=known).changed
    assert services <= space.play(raw, known=dict.fromkeys(known, "1")).changed
    assert not services & space.play(raw, known={}).changed, "what the caller does not know is asked for"


def test_check_mode_tells_and_writes_nothing(space: Namespace) -> None:
    raw = space.create(CLUSTER)
    told = space.play(raw, "--check", "--diff")
    assert told.changed == told.applied
    assert "StatefulSet/sample-fe" in told.changed
    assert space.objects() == {}
    space.play(raw)
    assert space.play(raw, "--check").changed == set()


def test_a_diff_hides_literal_values(space: Namespace) -> None:
    document = json.loads(json.dumps(CLUSTER))
    document["spec"]["starRocksFeSpec"]["feEnvVars"] = [{"name": "MYSQL_PWD", "value": "s3cret"}]
    told = space.play(space.create(document), "--diff", due=["fe"])
    assert "StatefulSet sample-fe" in json.dumps(told.tasks)
    assert "s3cret" not in json.dumps(told.tasks)


def test_a_refused_object_does_not_keep_the_others_away(space: Namespace) -> None:
    raw = space.create(CLUSTER)
    raw["spec"]["starRocksFeSpec"]["image"] = ""
    raw["spec"]["starRocksFeSpec"]["service"] = {"ports": [{"name": "query", "port": 70000}]}
    result = space.play(raw, due=["fe"])
    assert result.failed
    assert "Service sample-fe-service was not applied: the API server refused it with 422" in result.messages
    assert "StatefulSet sample-fe was not applied" in result.messages
    assert space.objects().keys() >= {"Service/sample-fe-search", "PodDisruptionBudget/sample-fe"}


@pytest.mark.parametrize("status", [409, 429, 500, 503])
def test_a_bad_moment_of_the_api_server_is_waited_out(space: Namespace, status: int) -> None:
    raw = space.create(CLUSTER)
    with interference(space.plane.kubeconfig) as proxy:
        space.kubeconfig = proxy.write_kubeconfig(space.directory / "kubeconfig")
        fault = proxy.fail("PATCH .*/statefulsets/", status=status, times=2)
        through_proxy(space)
        result = space.play(raw, due=["fe"])
    assert fault.met == 2
    assert not result.failed
    assert "StatefulSet/sample-fe" in result.changed


def test_a_bad_day_of_the_api_server_is_told_in_a_sentence(space: Namespace) -> None:
    raw = space.create(CLUSTER)
    with interference(space.plane.kubeconfig) as proxy:
        space.kubeconfig = proxy.write_kubeconfig(space.directory / "kubeconfig")
        through_proxy(space)
        proxy.fail("PATCH .*/statefulsets/", status=500, times=99)
        result = space.play(raw, due=["fe"])
    assert result.failed
    assert "StatefulSet sample-fe was not applied: the API server answered 500 in each of 5 tries" in result.messages
    assert "Service/sample-fe-search" in result.changed


def through_proxy(space: Namespace) -> None:
    """The proxy speaks plain HTTP and passes log-ins on, so the administrator's certificate gives way to a token."""
    namespace = space.name
    space.plane.kubectl("create", "-n", namespace, "serviceaccount", "applier")
    binding = f"applier-{namespace}"
    space.plane.kubectl(
        "create", "clusterrolebinding", binding, "--clusterrole=cluster-admin", f"--serviceaccount={namespace}:applier"
    )
    token = space.plane.kubectl("create", "-n", namespace, "token", "applier").strip()
    document = yaml.safe_load(space.kubeconfig.read_text())
    document["users"] = [{"name": document["users"][0]["name"], "user": {"token": token}}]
    space.kubeconfig.write_text(yaml.safe_dump(document))


def test_an_unreachable_api_server_is_told_in_a_sentence(space: Namespace) -> None:
    raw = space.create(CLUSTER)
    document = yaml.safe_load(space.plane.kubeconfig.read_text())
    document["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    space.kubeconfig = space.directory / "kubeconfig"
    space.kubeconfig.write_text(yaml.safe_dump(document))
    result = space.play(raw, due=["fe"])
    assert result.failed
    assert "the API server cannot be reached" in result.messages


def test_for_a_deleted_cluster_nothing_is_made(space: Namespace) -> None:
    raw = space.create(CLUSTER)
    space.plane.kubectl("delete", "-n", space.name, "starrockscluster", "sample")
    result = space.play(raw)
    assert not result.failed
    assert "was deleted: nothing is done for it any more" in result.messages
    again = space.create(CLUSTER)
    assert again["metadata"]["uid"] != raw["metadata"]["uid"]
    assert space.play(raw).applied == set()
    assert space.objects() == {}


def test_in_a_namespace_that_goes_nothing_is_made(space: Namespace) -> None:
    held = CLUSTER | {"metadata": {"name": "sample", "finalizers": ["example.com/hold"]}}
    raw = space.create(held)
    space.plane.kubectl("delete", "namespace", space.name, "--wait=false")
    result = space.play(raw)
    assert not result.failed
    assert space.objects() == {}
    release = json.dumps({"metadata": {"finalizers": None}})
    space.plane.kubectl("patch", "-n", space.name, "starrockscluster", "sample", "--type=merge", "-p", release)


def test_pruning_takes_what_is_ours_and_nothing_else(space: Namespace) -> None:
    raw = space.create(CLUSTER)
    space.play(raw)
    space.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "foreign"}, "data": {"a": "b"}})
    before = space.objects().keys()
    entries = [
        {"kind": "Service", "name": "sample-be-service"},
        {"kind": "Service", "name": "never-was"},
        {"kind": "ConfigMap", "name": "foreign"},
        {"kind": "StatefulSet", "name": "sample-be"},
        {"kind": "PersistentVolumeClaim", "name": "data-sample-be-0"},
    ]
    result = space.play(raw, prune=entries, due=())
    assert before - space.objects().keys() == {"Service/sample-be-service"}
    assert result.changed == {"Service/sample-be-service"}
    assert "the operator never deletes a StatefulSet" in result.messages
    assert "the operator never deletes a PersistentVolumeClaim" in result.messages
    assert "ConfigMap foreign was not deleted: it does not belong to" in result.messages


HOSTILE = ["{{ lookup('ansible.builtin.pipe', 'touch %s') }}", "{%% if lookup('pipe', 'touch %s') %%}{%% endif %%}"]


def replaced(value: Any, text: str) -> Any:
    """Every string in a document replaced."""
    if isinstance(value, dict):
        return {key: replaced(inner, text) for key, inner in value.items()}
    if isinstance(value, list):
        return [replaced(inner, text) for inner in value]
    return text if isinstance(value, str) else value


@pytest.mark.parametrize("template", HOSTILE)
def test_no_code_runs_from_any_string_of_a_cluster(space: Namespace, template: str) -> None:
    """Nothing here may ever reach a template; that the API server refuses most of these objects does not matter."""
    trace = space.directory / "ran"
    text = template % trace
    raw = space.create(sample("everything"))
    hostile = raw | {"spec": replaced(raw["spec"], text), "status": {"phase": text, "reason": text}}
    hostile["metadata"] = raw["metadata"] | {"annotations": {"a": text}, "labels": {"b": text}}
    result = space.play(hostile, cluster_id=text, prune=[{"kind": text, "name": text}])
    assert result.failed
    assert not trace.exists()


@pytest.mark.parametrize("template", [*HOSTILE, "$(touch %s)", "`touch %s`", "'; touch %s; '", "a: [b\n- c: %s"])
def test_hostile_values_arrive_as_they_were_written(space: Namespace, template: str) -> None:
    trace = space.directory / "ran"
    text = template % trace
    document = json.loads(json.dumps(CLUSTER))
    spec = document["spec"]["starRocksFeSpec"]
    spec |= {"annotations": {"example.com/a": text}, "args": [text], "feEnvVars": [{"name": "A", "value": text}]}
    space.play(space.create(document), due=["fe"])
    template_made = space.get("statefulset", "sample-fe")["spec"]["template"]
    main = template_made["spec"]["containers"][0]
    assert template_made["metadata"]["annotations"]["example.com/a"] == text
    assert (main["args"], main["env"][0]["value"]) == ([text], text)
    assert not trace.exists()
