"""A stage for the `apply` action: its own code and its own HTTP client, against an API server in a dictionary."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import yaml

from starrocks_operator.decision import Context
from starrocks_operator.model import StarRocksCluster

Raw = dict[str, Any]

CLUSTER: Raw = {
    "apiVersion": "starrocks.com/v1",
    "kind": "StarRocksCluster",
    "metadata": {"name": "sample", "namespace": "ns", "uid": "uid-sample"},
    "spec": {
        "starRocksFeSpec": {"replicas": 3, "image": "starrocks/fe-ubuntu:3.5.5"},
        "starRocksBeSpec": {"replicas": 3, "image": "starrocks/be-ubuntu:3.5.5"},
        "starRocksCnSpec": {"replicas": 1, "image": "starrocks/cn-ubuntu:3.5.5"},
    },
}
CLUSTER_PATH = "/apis/starrocks.com/v1/namespaces/ns/starrocksclusters/sample"
LEASE_PATH = "/apis/coordination.k8s.io/v1/namespaces/ops/leases/starrocks-operator"
FRONTENDS = "/apis/apps/v1/namespaces/ns/statefulsets/sample-fe"
BACKENDS = "/apis/apps/v1/namespaces/ns/statefulsets/sample-be"
COMPUTE_NODES = "/apis/apps/v1/namespaces/ns/statefulsets/sample-cn"
SERVICE = "/api/v1/namespaces/ns/services/sample-fe-service"
CLAIM = "/api/v1/namespaces/ns/persistentvolumeclaims/fe-meta-sample-fe-0"
OPERATOR = {"identity": "us", "lease": {"namespace": "ops", "name": "starrocks-operator"}}


class Api:
    """Objects by path, and the requests that came. `meanwhile` is called before each PATCH: somebody else acts."""

    def __init__(self) -> None:
        self.objects: dict[str, Raw] = {}
        self.requests: list[tuple[str, str, Raw]] = []
        self.meanwhile: Callable[[str], None] = lambda path: None
        self._version = 100
        self.store(CLUSTER_PATH, CLUSTER)

    def store(self, path: str, raw: Mapping[str, Any]) -> None:
        self._version += 1
        metadata = {"uid": f"uid-{self._version}"} | raw["metadata"] | {"resourceVersion": str(self._version)}
        self.objects[path] = {**raw, "metadata": metadata}

    def asked(self, method: str) -> list[str]:
        return [path for asked, path, _ in self.requests if asked == method]

    def sent(self, path: str) -> Raw:
        """The one body that was sent there."""
        (body,) = [body for method, to, body in self.requests if (method, to) == ("PATCH", path)]
        return body

    def answer(self, method: str, path: str, body: Raw, content_type: str) -> tuple[int, Raw]:
        self.requests.append((method, path, body))
        if method == "PATCH":
            self.meanwhile(path)
        live = self.objects.get(path)
        if method == "GET" or (live is None and "merge-patch" in content_type):
            return (200, live) if live else (404, {"message": "not found"})
        condition = body["metadata"].get("resourceVersion")
        if condition and (live is None or condition != live["metadata"]["resourceVersion"]):
            return 409, {"message": "the object has been modified"}
        merged = {**(live or {}), **body}
        merged["metadata"] = {**(live or body)["metadata"], **body["metadata"]}
        self.store(path, merged)
        return 200, self.objects[path]


@contextmanager
def serving(api: Api, directory: Path) -> Iterator[Path]:
    """The API over HTTP; yields a kubeconfig."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _handle(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(content) if content else {}
            path, kind = urlsplit(self.path).path, self.headers.get("Content-Type") or ""
            status, document = api.answer(self.command, path, body, kind)
            data = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            self._handle()

        def do_PATCH(self) -> None:
            self._handle()

        def do_DELETE(self) -> None:
            self._handle()

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    kubeconfig = directory / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(_kubeconfig(server.server_port)))
    try:
        yield kubeconfig
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _kubeconfig(port: int) -> Raw:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": {}}],
    }


class Stage:
    """Runs the action for the sample cluster."""

    def __init__(self, api: Api, action: type, directory: Path) -> None:
        self.api, self._action, self._file = api, action, directory / "cluster.json"

    def apply(self, *, check: bool = False, known: Mapping[str, str] | None = None, **given: Any) -> Raw:
        """given: `component`, `objects` or `prune`, and `operator` of the play file."""
        cluster = StarRocksCluster.parse(CLUSTER)
        replicas = {name: spec.replicas for name, spec in cluster.spec.components.items()}
        context = Context(profile="safe", components=tuple(cluster.spec.components), replicas=replicas)
        prune = [{"kind": "Service", "name": "sample-fe-service"}]
        document: Raw = {"cluster": CLUSTER, "context": context.document(), "due": ["fe", "be", "cn"], "prune": prune}
        if known is not None:
            document["known"] = known
        if "operator" in given:
            document["operator"] = given.pop("operator")
        self._file.write_text(json.dumps(document))
        task = SimpleNamespace(
            args={"cluster_file": str(self._file), **given}, check_mode=check, diff=False, async_val=0, no_log=False
        )
        absent = SimpleNamespace(_shell=SimpleNamespace(tmpdir=None))
        result: Raw = self._action(task, absent, SimpleNamespace(), None, None, None).run(task_vars={})
        return result


def held(by: str = "us", *, seconds_ago: float = 1.0) -> Raw:
    """The operator's Lease."""
    renewed = datetime.now(UTC) - timedelta(seconds=seconds_ago)
    spec = {
        "holderIdentity": by,
        "leaseDurationSeconds": 15,
        "renewTime": renewed.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
    }
    return {"kind": "Lease", "metadata": {"name": "starrocks-operator", "namespace": "ops"}, "spec": spec}


def live(kind: str, name: str, *, owner: Raw | None = None, label: str = "", **content: Any) -> Raw:
    """An object as it is in the cluster."""
    metadata: Raw = {"name": name, "namespace": "ns"}
    if owner is not None:
        metadata["ownerReferences"] = [{"controller": True, "kind": "StarRocksCluster", "name": "sample"} | owner]
    if label:
        metadata["labels"] = {"app.starrocks.ownerreference/name": label}
    return {"kind": kind, "metadata": metadata, **content}


OURS: Raw = {"uid": "uid-sample"}
