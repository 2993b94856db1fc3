"""What a user of a real cluster does and sees: kubectl, and the simulator's world through a forwarded port.

The images get the names that the manifests and the samples have, so both are applied as they are.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import yaml

from lab.controlplane.errors import LabError
from lab.node import Node, images
from lab.simulator.client import Control

TREE = Path(__file__).resolve().parents[2]
SIMULATOR = TREE / "images/simulator/Dockerfile"
WORLD = "docker.io/starrocks-simulator/world:3.3.9"
RELEASE = "3.5.5"  # of the samples
PATIENCE = 300.0
Document = dict[str, Any]


class Site(Protocol):
    """A Kubernetes that has nodes: the lab's, or one that was named."""

    @property
    def kubeconfig(self) -> Path: ...

    @property
    def kubectl_program(self) -> Path: ...

    def kubectl(self, *arguments: str, input: str | None = None) -> str: ...


def until(condition: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
    """Ask again and again until the answer is yes; a refusal of kubectl's is a no."""
    deadline = time.monotonic() + patience
    while True:
        said = ""
        try:
            if found := condition():
                return found
        except LabError as error:
            said = f": {error}"
        assert time.monotonic() < deadline, f"waited for: {what}{said}"
        time.sleep(0.5)


def bring_images(node: Node) -> None:
    """Build the operator and the simulator, and give them to the node by the names that the manifests have."""
    for target, tags in {
        "world": [WORLD],
        "fe": [f"docker.io/starrocks/fe-ubuntu:{RELEASE}"],
        "be": [f"docker.io/starrocks/{kind}-ubuntu:{RELEASE}" for kind in ("be", "cn")],
    }.items():
        arguments = {} if target == "world" else {"VERSION": RELEASE}
        images.build(SIMULATOR, tags[0], context=TREE, target=target, arguments=arguments, report=print)
        for other in tags[1:]:
            images.name_also(tags[0], other)
        for tag in tags:
            node.load(tag)
    images.build(TREE / "images/operator/Dockerfile", operator_image(), context=TREE, report=print)
    node.load(operator_image())


def operator_image() -> str:
    for document in yaml.safe_load_all((TREE / "deploy/operator.yaml").read_text()):
        if document["kind"] == "Deployment":
            return str(document["spec"]["template"]["spec"]["containers"][0]["image"])
    raise LabError("deploy/operator.yaml has no Deployment")


def sample(name: str, *, resource: str) -> Document:
    """A sample as it is, but for its name and for requests that no machine of a test has room for."""
    document: Document = yaml.safe_load((TREE / f"crds/samples/{name}.yaml").read_text())
    document["metadata"]["name"] = resource
    for part in ("starRocksFeSpec", "starRocksBeSpec", "starRocksCnSpec"):
        if part in document["spec"]:
            document["spec"][part]["requests"] = {"cpu": "10m", "memory": "32Mi"}
    return document


class Cluster:
    """One StarRocksCluster in a namespace of its own, as its user sees it."""

    def __init__(self, site: Site, world: Control, *, namespace: str, name: str) -> None:
        self.site = site
        self.world = world
        self.namespace = namespace
        self.name = name

    def kubectl(self, *arguments: str, input: str | None = None) -> str:
        return self.site.kubectl("--namespace", self.namespace, *arguments, input=input)

    def apply(self, document: Document) -> None:
        self.kubectl("apply", "--server-side", "-f", "-", input=json.dumps(document))

    def patch(self, change: Document) -> None:
        self.kubectl("patch", "src", self.name, "--type=merge", "--patch", json.dumps(change))

    def get(self, kind: str, name: str) -> Document:
        found: Document = json.loads(self.kubectl("get", kind, name, "-o", "json"))
        return found

    def resource(self) -> Document:
        return self.get("src", self.name)

    def pods(self, component: str) -> list[Document]:
        label = f"app.starrocks.ownerreference/name={self.name}-{component}"
        found: list[Document] = json.loads(self.kubectl("get", "pods", "-l", label, "-o", "json"))["items"]
        return found

    def ready(self) -> bool:
        """The status says so, and says so of what is wished now."""
        resource = self.resource()
        conditions = resource.get("status", {}).get("conditions", [])
        generation = resource["metadata"]["generation"]
        return any(
            condition["type"] == "Ready"
            and condition["status"] == "True"
            and condition.get("observedGeneration") == generation
            for condition in conditions
        )

    def wait_until_ready(self, what: str = "the cluster runs", patience: float = PATIENCE) -> None:
        until(self.ready, f"{what}; its status: {json.dumps(self.resource().get('status'), indent=1)[:3000]}", patience)

    def sql(self, pod: str, statement: str) -> list[dict[str, str]]:
        """Ask a frontend in its pod, as a person would."""
        asked = ("mysql", "--protocol=tcp", "--host=127.0.0.1", "--port=9030", "--user=root", "--batch")
        printed = self.kubectl("exec", pod, "-c", "fe", "--", *asked, "--execute", statement)
        head, *rows = [line.split("\t") for line in printed.splitlines()] or [[]]
        return [dict(zip(head, row, strict=True)) for row in rows]

    def cluster_ids(self) -> set[str]:
        """As the frontends say; there is to be one, for ever."""
        return {row["ClusterId"] for row in self.sql(f"{self.name}-fe-0", "SHOW FRONTENDS")}

    def backends(self) -> dict[str, dict[str, str]]:
        """FE's rows, by pod."""
        rows = self.sql(f"{self.name}-fe-0", "SHOW BACKENDS")
        return {row["IP"].split(".")[0]: row for row in rows}


@contextmanager
def forwarded(site: Site) -> Iterator[Control]:
    """The world's control API on a port of this machine's loopback."""
    program = [str(site.kubectl_program), f"--kubeconfig={site.kubeconfig}"]
    what = ["--namespace=starrocks-simulator", "port-forward", "service/starrocks-simulator", ":8999"]
    with subprocess.Popen([*program, *what], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = re.search(r":(\d+) ->", process.stdout.readline())
            assert port, "kubectl port-forward says no port"
            yield Control(f"127.0.0.1:{port[1]}")
        finally:
            process.kill()
