"""The API server as the `apply` action needs it: server-side apply, and deletes that cannot hit the wrong object.

One connection serves all requests of a task. What is worth trying again, the HTTP library tries again, a bounded
number of times and as slowly as the server asks.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import urllib3
from kubernetes import config
from kubernetes.client import ApiClient, Configuration
from urllib3.exceptions import HTTPError

from starrocks_operator.objects.ownership import FIELD_MANAGER

METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
TRIES = 5
PASSING = (429, 500, 502, 503, 504)  # answers that are worth another try
CONNECT_SECONDS, READ_SECONDS = 3.0, 30.0

PLURALS = {
    "ConfigMap": "configmaps",
    "Service": "services",
    "StatefulSet": "statefulsets",
    "Deployment": "deployments",
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "HorizontalPodAutoscaler": "horizontalpodautoscalers",
    "PodDisruptionBudget": "poddisruptionbudgets",
    "StarRocksCluster": "starrocksclusters",
    "ComputeNodeGroup": "computenodegroups",
    "StarRocksWarehouse": "starrockswarehouses",
    "Lease": "leases",
}
API_VERSIONS = {
    "ConfigMap": "v1",
    "Service": "v1",
    "Deployment": "apps/v1",
    "HorizontalPodAutoscaler": "autoscaling/v2",
    "PodDisruptionBudget": "policy/v1",
    "StarRocksCluster": "starrocks.com/v1",
}


@dataclass(frozen=True)
class Answer:
    """What the API server said. status 0: it said nothing."""

    status: int
    body: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def absent(self) -> bool:
        return self.status == 404

    @property
    def resource_version(self) -> str:
        return str(self.metadata.get("resourceVersion", ""))

    @property
    def metadata(self) -> Mapping[str, Any]:
        return self.body.get("metadata") or {}

    @property
    def namespace_is_going(self) -> bool:
        """Whether the namespace is gone or being deleted, so that nothing can be made in it, rightly."""
        details = self.body.get("details") or {}
        causes = details.get("causes") or ()
        terminating = any(cause.get("reason") == "NamespaceTerminating" for cause in causes)
        return terminating or (self.absent and details.get("kind") == "namespaces")

    @property
    def is_no_such_object(self) -> bool:
        """Whether it has a field that its kind does not know, or one of the wrong type: that is answered with 500."""
        return self.status == 500 and _NO_SUCH_OBJECT in str(self.body.get("message"))

    @property
    def says_duplicate(self) -> bool:
        """Whether it was refused because two entries of a list have a name in common."""
        causes = (self.body.get("details") or {}).get("causes") or ()
        return self.status == 422 and any(cause.get("reason") == "FieldValueDuplicate" for cause in causes)

    def sentence(self, what: str) -> str:
        """Why it did not work, for a person."""
        if not self.status:
            return f"{what}: the API server cannot be reached ({self.error}); it is tried again later."
        words = str(self.body.get("message") or self.body.get("reason") or "no reason given")[:1000]
        if self.is_no_such_object:
            return f"{what}: the API server refused it ({words})."
        if self.status in (409, 429) or self.status >= 500:
            return f"{what}: the API server answered {self.status} in each of {TRIES} tries ({words})."
        return f"{what}: the API server refused it with {self.status} ({words})."


_NO_SUCH_OBJECT = "failed to create typed patch object"


class ApiServer:
    """A connection to the API server that KUBECONFIG names, or the one of the cluster we run in."""

    def __init__(self) -> None:
        configuration = Configuration()
        if path := os.environ.get("KUBECONFIG"):
            config.load_kube_config(config_file=path, client_configuration=configuration, persist_config=False)
        else:
            config.load_incluster_config(client_configuration=configuration)
        configuration.retries = _retries(409, *PASSING)
        self._client = ApiClient(configuration)
        self._timeout = urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS)

    def apply(self, wanted: Mapping[str, Any], *, dry_run: bool) -> Answer:
        """Server-side apply. Conflicts are ours to win: nobody else writes these fields for long.

        With a resourceVersion in `wanted` only that version is written over: another one is a 409, told at once.
        """
        query = {"fieldManager": FIELD_MANAGER, "force": "true"} | ({"dryRun": "All"} if dry_run else {})
        headers = {"Content-Type": "application/apply-patch+yaml"}
        path = f"{path_of(wanted)}?{urlencode(query)}"
        conditional = "resourceVersion" in wanted["metadata"]
        answer = self._request("PATCH", path, headers=headers, body=wanted, conditional=conditional)
        if answer.says_duplicate and wanted["kind"] == "Service" and not dry_run:
            self._replace_ports(wanted)
            answer = self._request("PATCH", path, headers=headers, body=wanted)
        return answer

    def _replace_ports(self, wanted: Mapping[str, Any]) -> Answer:
        """Apply tells a Service's ports apart by number: one that somebody renumbered would stay beside ours."""
        query = urlencode({"fieldManager": FIELD_MANAGER})
        headers = {"Content-Type": "application/merge-patch+json"}
        ports = {"spec": {"ports": wanted["spec"]["ports"]}}
        return self._request("PATCH", f"{path_of(wanted)}?{query}", headers=headers, body=ports)

    def take_over(self, wanted: Mapping[str, Any], managed: list[dict[str, Any]], *, version: str) -> Answer:
        """Write who owns the fields of this very version of an object, and nothing else."""
        changes = [
            {"op": "replace", "path": "/metadata/managedFields", "value": managed},
            {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
        ]
        headers = {"Content-Type": "application/json-patch+json"}
        query = urlencode({"fieldManager": FIELD_MANAGER})
        return self._request("PATCH", f"{path_of(wanted)}?{query}", headers=headers, body=changes, conditional=True)

    def rehearse_patch(self, patch: Mapping[str, Any]) -> Answer:
        """What the API server would make of an object and a strategic merge patch; nothing is stored."""
        headers = {"Content-Type": "application/strategic-merge-patch+json"}
        query = urlencode({"fieldManager": FIELD_MANAGER, "dryRun": "All"})
        return self._request("PATCH", f"{path_of(patch)}?{query}", headers=headers, body=patch)

    def rehearse(self, document: Mapping[str, Any]) -> Answer:
        """What the API server would make of a whole object; nothing is stored."""
        headers = {"Content-Type": "application/json"}
        query = urlencode({"fieldManager": FIELD_MANAGER, "dryRun": "All"})
        return self._request("PUT", f"{path_of(document)}?{query}", headers=headers, body=document)

    def annotate(self, wanted: Mapping[str, Any], *, dry_run: bool) -> Answer:
        """Write the annotations and nothing else, onto an object that exists: unlike apply, this never makes one."""
        query = {"fieldManager": FIELD_MANAGER} | ({"dryRun": "All"} if dry_run else {})
        headers = {"Content-Type": "application/merge-patch+json"}
        annotations = {"metadata": {"annotations": wanted["metadata"].get("annotations") or {}}}
        return self._request("PATCH", f"{path_of(wanted)}?{urlencode(query)}", headers=headers, body=annotations)

    def get(self, wanted: Mapping[str, Any], *, metadata_only: bool = True) -> Answer:
        """The object of this kind, namespace and name as it is."""
        headers = {"Accept": METADATA_ONLY} if metadata_only else {}
        return self._request("GET", path_of(wanted), headers=headers)

    def delete(self, live: Mapping[str, Any], *, dry_run: bool) -> Answer:
        """Delete this very object: not one of the same name that was made since."""
        metadata = live["metadata"]
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Background",
            "preconditions": {"uid": metadata["uid"]},
        }
        if dry_run:
            options["dryRun"] = ["All"]
        return self._request("DELETE", path_of(live), headers={"Content-Type": "application/json"}, body=options)

    def _request(
        self,
        method: str,
        path: str,
        *,
        headers: dict[str, str],
        body: Mapping[str, Any] | list[Any] | None = None,
        conditional: bool = False,
    ) -> Answer:
        """conditional: a 409 says that the condition does not hold, so that asking again is of no use."""
        headers = {"Accept": "application/json", "User-Agent": FIELD_MANAGER} | headers
        self._client.update_params_for_auth(headers, [], ["BearerToken"], path, method, None)
        url = self._client.configuration.host + path
        content = None if body is None else json.dumps(body)
        tries = {"retries": _retries(*PASSING)} if conditional else {}
        pool = self._client.rest_client.pool_manager
        try:
            response = pool.request(method, url, body=content, headers=headers, timeout=self._timeout, **tries)
        except HTTPError as failure:
            return Answer(0, error=str(failure)[:300])
        try:
            document = json.loads(response.data)
        except ValueError:
            document = {"message": response.data.decode(errors="replace")}
        return Answer(response.status, document)


def _retries(*statuses: int) -> urllib3.Retry:
    return urllib3.Retry(
        total=TRIES - 1,
        status_forcelist=statuses,
        allowed_methods=None,
        backoff_factor=0.2,
        backoff_jitter=0.2,
        raise_on_status=False,
    )


def path_of(wanted: Mapping[str, Any]) -> str:
    """Where the API server keeps an object."""
    metadata = wanted["metadata"]
    api_version = wanted["apiVersion"]
    root = "api" if "/" not in api_version else "apis"
    plural, namespace, name = PLURALS[wanted["kind"]], quote(metadata["namespace"]), quote(metadata["name"])
    return f"/{root}/{api_version}/namespaces/{namespace}/{plural}/{name}"
