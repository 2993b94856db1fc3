"""Doing a deed on the API server: one write, bound to what was read, and resolved by looking."""

from __future__ import annotations

from urllib.parse import quote

try:
    from starrocks_operator.deed import is_done
    from starrocks_operator.run_report import StepOutcome
except ImportError:
    pass  # fresh.DOMAIN_MISSING tells

FIELD_MANAGER = "starrocks-operator"
PATHS = {
    "StatefulSet": "/apis/apps/v1/namespaces/{0}/statefulsets/{1}",
    "PersistentVolumeClaim": "/api/v1/namespaces/{0}/persistentvolumeclaims/{1}",
    "Pod": "/api/v1/namespaces/{0}/pods/{1}",
}
CHANGED = (404, 409)


class Hands:
    """Writes to the API server. objection: asked right before a write; a sentence stops it.

    written: the objects that were applied, as the apply action tells of them.
    """

    def __init__(self, api, objection):
        self._api = api
        self._objection = objection
        self.written = []

    def do(self, step, deed):
        """Outcome and a sentence."""
        name = f"{step.kind} {step.target}"
        objection = self._objection()
        if objection:
            return StepOutcome.STALE, f"{name}: {objection}."
        status, answer = self._write(deed)
        if 200 <= status < 300:
            if deed.verb in ("apply", "patch"):
                self._note(deed, answer)
            return StepOutcome.DONE, f"{name}: done."
        if status in CHANGED:
            return StepOutcome.STALE, f"{name}: {deed.kind} {deed.name} has changed since it was read."
        if status:
            said = str(answer.get("message") or answer.get("reason") or "no reason given")[:500]
            return StepOutcome.FAILED, f"{name}: the API server refused it with {status} ({said})."
        if is_done(step, self._api.get(_path(deed))):
            return StepOutcome.DONE, f"{name}: done; the reply was lost, and looking again showed it."
        return StepOutcome.UNKNOWN, f"{name}: {answer['message']}; whether it was done shows at the next look."

    def _note(self, deed, answer):
        version = str((answer.get("metadata") or {}).get("resourceVersion", ""))
        self.written.append({"kind": deed.kind, "name": deed.name, "changed": True, "resourceVersion": version})

    def _write(self, deed):
        if deed.verb == "apply":
            path = f"{_path(deed)}?fieldManager={FIELD_MANAGER}&force=true"
            manifest = {**deed.manifest, "metadata": {**deed.manifest["metadata"], "uid": deed.uid}}
            return self._api.request("PATCH", path, body=manifest, content_type="application/apply-patch+yaml")
        bound = {"uid": deed.uid}
        if deed.version:
            bound["resourceVersion"] = deed.version
        if deed.verb == "patch":
            path = f"{_path(deed)}?fieldManager={FIELD_MANAGER}"
            change = {**deed.manifest, "metadata": bound}
            return self._api.request("PATCH", path, body=change, content_type="application/merge-patch+json")
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": bound}
        if deed.verb == "orphan":
            options["propagationPolicy"] = "Orphan"
        return self._api.request("DELETE", _path(deed), body=options)


def _path(deed):
    return PATHS[deed.kind].format(quote(deed.namespace), quote(deed.name))
