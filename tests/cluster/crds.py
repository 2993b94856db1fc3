"""The CRD and the policies on the lab, and what the API server says about an object."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from kubernetes import client
from kubernetes.client.exceptions import ApiException

from lab.controlplane.plane import ControlPlane
from starrocks_operator.model.cluster import GROUP, PLURAL

CRD = "crds/starrocks.com_starrocksclusters.yaml"
POLICIES = "deploy/policies.yaml"


class Server:
    """The API server, asked about StarRocksClusters of one group."""

    def __init__(self, plane: ControlPlane, *, group: str = GROUP) -> None:
        self.plane = plane
        self.group = group
        self._objects = client.CustomObjectsApi(plane.client())

    def refusals(self, document: Mapping[str, Any]) -> dict[str, str]:
        """What the API server has against creating an object: a sentence by field; nothing if it is fine."""
        try:
            self.create(document, dry_run="All")
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
            self.group, version, "default", PLURAL, body, field_validation="Strict", **options
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
            self.group, "v1", "default", PLURAL, name, dict(change), _content_type="application/merge-patch+json"
        )
        return changed

    def get(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self._objects.get_namespaced_custom_object(self.group, "v1", "default", PLURAL, name)
        return found

    def delete(self, name: str) -> None:
        self._objects.delete_namespaced_custom_object(self.group, "v1", "default", PLURAL, name)
