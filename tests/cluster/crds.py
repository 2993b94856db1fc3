"""The CRD and the policies on the lab, and what the API server says about an object."""

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from kubernetes import client
from kubernetes.client.exceptions import ApiException

from lab.controlplane.plane import ControlPlane
from starrocks_operator.model.cluster import GROUP, PLURAL

CRD = "crds/starrocks.com_starrocksclusters.yaml"
POLICIES = "deploy/policies.yaml"


class Server:
    """The API server, asked about StarRocksClusters, or another kind, of one group."""

    def __init__(self, plane: ControlPlane, *, group: str = GROUP, plural: str = PLURAL) -> None:
        self.plane = plane
        self.group, self.plural = group, plural
        self._objects = client.CustomObjectsApi(plane.client())

    def refusals(self, document: Mapping[str, Any]) -> dict[str, str]:
        """What the API server has against creating an object: a sentence by field; nothing if it is fine."""
        return self._refusals(lambda: self.create(document, dry_run="All"))

    def refusals_of_change(self, name: str, change: Mapping[str, Any], *, version: str = "v1") -> dict[str, str]:
        """What it has against a merge patch."""
        patch = self._objects.patch_namespaced_custom_object
        where = (self.group, version, "default", self.plural, name)
        as_patch = "application/merge-patch+json"
        return self._refusals(lambda: patch(*where, dict(change), dry_run="All", _content_type=as_patch))

    @staticmethod
    def _refusals(ask: Callable[[], object]) -> dict[str, str]:
        try:
            ask()
        except ApiException as refused:
            if refused.status == HTTPStatus.NOT_FOUND:
                return {"": "this kind is not served yet"}
            answer = json.loads(refused.body)
            causes = answer.get("details", {}).get("causes") or [{"field": "", "message": answer["message"]}]
            return {cause.get("field", ""): cause["message"] for cause in causes}
        return {}

    def create(self, document: Mapping[str, Any], **options: Any) -> dict[str, Any]:
        body = dict(document) | {"apiVersion": f"{self.group}/{document['apiVersion'].rsplit('/')[-1]}"}
        version = body["apiVersion"].rsplit("/")[-1]
        made: dict[str, Any] = self._objects.create_namespaced_custom_object(
            self.group, version, "default", self.plural, body, field_validation="Strict", **options
        )
        return made

    def patch(self, name: str, change: Mapping[str, Any], *, subresource: str = "") -> dict[str, Any]:
        """A merge patch."""
        patch = {
            "": self._objects.patch_namespaced_custom_object,
            "status": self._objects.patch_namespaced_custom_object_status,
            "scale": self._objects.patch_namespaced_custom_object_scale,
        }[subresource]
        changed: dict[str, Any] = patch(
            self.group, "v1", "default", self.plural, name, dict(change), _content_type="application/merge-patch+json"
        )
        return changed

    def get(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self._objects.get_namespaced_custom_object(
            self.group, "v1", "default", self.plural, name
        )
        return found

    def delete(self, name: str) -> None:
        self._objects.delete_namespaced_custom_object(self.group, "v1", "default", self.plural, name)
