"""The hot path of the operator: apply the objects of one component, in the controller process.

An action plugin costs a hundredth of a module, and it reads the cluster's file itself, so that no string of a
StarRocksCluster ever meets a template. Imports are at the top on purpose: they are paid once per run, not per task.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.starrocks.operator.plugins.plugin_utils.lifeline import end_with_parent
from ansible_collections.starrocks.operator.plugins.plugin_utils.outcome import (
    Outcome,
    pod_template,
    same_content,
    shown,
)
from ansible_collections.starrocks.operator.plugins.plugin_utils.preconditions import (
    controller_of,
    holds_data,
    objection,
)
from ansible_collections.starrocks.operator.plugins.plugin_utils.server import API_VERSIONS, Answer, ApiServer
from ansible_collections.starrocks.operator.plugins.plugin_utils.takeover import as_if_taken_over, taken_over_by_us
from kubernetes.config import ConfigException

from starrocks_operator.decision import COMPONENTS, WAREHOUSE, Context
from starrocks_operator.lease import lease_objection
from starrocks_operator.model import GROUP_KIND, ComputeNodeGroup, StarRocksCluster, parse
from starrocks_operator.objects import objects_of
from starrocks_operator.objects.compute_node_group import build_of
from starrocks_operator.objects.metadata import kind_of, owner_reference
from starrocks_operator.objects.ownership import is_adopted

LEASE_API = "coordination.k8s.io/v1"
ATTEMPTS = 3  # looks at a StatefulSet that others write at the same moment
NEVER_PRUNED = ("StatefulSet", "PersistentVolumeClaim")

ARGUMENTS = {
    "cluster_file": {"type": "path", "required": True},
    "component": {"type": "str", "choices": [*COMPONENTS, WAREHOUSE]},
    "objects": {"type": "list", "elements": "dict"},
    "prune": {"type": "bool", "default": False},
}


class ActionModule(ActionBase):
    """Applies one component's objects, or deletes the objects that are to be pruned."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = False
    _supports_diff = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        end_with_parent()
        _, arguments = self.validate_argument_spec(
            argument_spec=ARGUMENTS,
            mutually_exclusive=[("component", "objects", "prune")],
            required_one_of=[("component", "objects", "prune")],
        )
        play = _read(Path(arguments["cluster_file"]))
        if reason := _nothing_to_do(play, arguments):
            return {"changed": False, "skipped": True, "skip_reason": reason}
        self._check, self._diff = self._task.check_mode, self._task.diff
        self._by_content = self._check or self._diff
        self._outcome = Outcome()
        try:
            self._act(play, arguments)
        except ConfigException as failure:
            raise AnsibleActionFail(
                f"There is no way to log in to the API server ({failure}): set KUBECONFIG, or run in a pod."
            ) from failure
        return self._outcome.document(diff=self._diff)

    def _act(self, play: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
        group = ComputeNodeGroup.parse(play["cluster"]) if play["cluster"].get("kind") == GROUP_KIND else None
        cluster = group.as_cluster() if group is not None else parse(play["cluster"])
        server = ApiServer()
        if refusal := _fenced(server, cluster, play.get("operator") or {}):
            self._outcome.refusals.append(refusal)
        elif remark := _leaving(server, cluster):
            self._outcome.remark = remark
        elif arguments["prune"]:
            for entry in play.get("prune") or ():
                self._prune(server, cluster, entry)
        else:
            objects = arguments["objects"]
            if objects is None:
                part, context = arguments["component"], Context.parse(play["context"])
                made = objects_of(cluster, context, part) if group is None else build_of(group, context).get(part)
                objects = made or ()
            for wanted in objects:
                if wanted["kind"] == "PersistentVolumeClaim":
                    self._mark(server, _within(wanted, cluster), play.get("known"))
                else:
                    self._apply(server, cluster, _owned(wanted, cluster), play.get("known"))

    def _apply(
        self, server: ApiServer, cluster: StarRocksCluster, wanted: Mapping[str, Any], known: Mapping[str, str] | None
    ) -> None:
        """known: the resource versions that the caller last saw, by "Kind/name"; they save asking for them.

        A StatefulSet's own controller writes it too: what changed between the look and the write is looked at again.
        """
        attempts = ATTEMPTS
        while self._attempt(server, cluster, wanted, known, last=attempts == 1):
            attempts -= 1

    def _attempt(
        self,
        server: ApiServer,
        cluster: StarRocksCluster,
        wanted: Mapping[str, Any],
        known: Mapping[str, str] | None,
        *,
        last: bool,
    ) -> bool:
        """Look, and write what may be written. True: it was changed meanwhile, and should be looked at again."""
        live = self._live(server, wanted, known)
        if live is not None and not (live.ok or live.absent):
            self._outcome.refusals.append(live.sentence(f"{_named(wanted)} was not applied, as it could not be read"))
            return False
        if live is not None and live.ok and (reason := objection(live.body, wanted, cluster)):
            self._outcome.refusals.append(f"{_named(wanted)} was not applied: it {reason}.")
            return False
        version = live.resource_version if live is not None else (known or {}).get(_key(wanted))
        found = version
        if live is not None and live.ok and not self._check and (taken := taken_over_by_us(server, live, wanted)):
            if taken.status == 409 and not last:
                return True
            if not taken.ok:
                self._outcome.refusals.append(taken.sentence(f"{_named(wanted)} was not taken over"))
                return False
            found = taken.resource_version
        if live is not None and live.ok and holds_data(wanted):
            wanted = {**wanted, "metadata": {**wanted["metadata"], "resourceVersion": found}}
        answer = server.apply(wanted, dry_run=self._check)
        if live is not None and live.ok and self._check and is_adopted(live.body):
            answer = as_if_taken_over(server, live, wanted, answer)
        if answer.status == 409 and "resourceVersion" in wanted["metadata"] and not last:
            return True
        self._note(wanted, live, answer, version)
        return False

    def _live(self, server: ApiServer, wanted: Mapping[str, Any], known: Mapping[str, str] | None) -> Answer | None:
        """The object as it is; None: it is known, and that is enough."""
        whole = holds_data(wanted) or self._by_content
        if whole or known is None or _key(wanted) not in known:
            return server.get(wanted, metadata_only=not whole)
        return None

    def _mark(self, server: ApiServer, wanted: Mapping[str, Any], known: Mapping[str, str] | None) -> None:
        """Write annotations onto a volume claim, whoever made it. One that is gone meanwhile is left alone."""
        asks = known is None or self._by_content
        live = server.get(wanted, metadata_only=not self._by_content) if asks else None
        version = live.resource_version if live is not None else (known or {}).get(_key(wanted))
        after = server.annotate(wanted, dry_run=self._check)
        if not after.absent:
            self._note(wanted, live, after, version)

    def _note(self, wanted: Mapping[str, Any], live: Answer | None, after: Answer, version: str | None) -> None:
        """Put down what became of an object."""
        if after.ok:
            changed, new_pods = after.resource_version != version, None
            if live is not None and self._by_content:  # a dry run has no resource version of its own
                changed = not live.ok or not same_content(live.body, after.body)
                new_pods = live.ok and pod_template(live.body) != pod_template(after.body)
            self._outcome.record(wanted, changed=changed, resource_version=after.resource_version, new_pods=new_pods)
            if changed and self._diff:
                before = shown(live.body) if live is not None and live.ok else {}
                self._show(wanted, before=before, after=shown(after.body))
        elif after.namespace_is_going:
            namespace = wanted["metadata"]["namespace"]
            self._outcome.remark = f"Namespace {namespace} is being deleted: nothing is made in it any more."
        elif after.status == 409 and "resourceVersion" in wanted["metadata"]:
            self._outcome.refusals.append(
                f"{_named(wanted)} was not applied: it was changed while it was looked at, so it is looked at again."
            )
        else:
            self._outcome.refusals.append(after.sentence(f"{_named(wanted)} was not applied"))

    def _prune(self, server: ApiServer, cluster: StarRocksCluster, entry: Mapping[str, Any]) -> None:
        """Delete an object of ours that is no longer wanted. What is not ours, or holds data, stays."""
        kind, name = str(entry["kind"]), str(entry["name"])
        if kind in NEVER_PRUNED or kind not in API_VERSIONS:
            self._outcome.refusals.append(f"{kind} {name} was not deleted: the operator never deletes a {kind}.")
            return
        asked = {
            "apiVersion": API_VERSIONS[kind],
            "kind": kind,
            "metadata": {"namespace": cluster.namespace, "name": name},
        }
        live = server.get(asked)
        if live.ok and _is_ours(live.metadata, cluster):
            answer = server.delete({**asked, "metadata": live.metadata}, dry_run=self._check)
        elif live.ok:
            self._outcome.refusals.append(f"{kind} {name} was not deleted: it does not belong to {cluster.key}.")
            return
        else:
            answer = live
        if answer.ok or answer.absent:
            self._outcome.record(asked, changed=answer.ok)
            if answer.ok and self._diff:
                self._show(asked, before=shown(live.body), after={})
        else:
            self._outcome.refusals.append(answer.sentence(f"{kind} {name} was not deleted"))

    def _show(self, raw: Mapping[str, Any], *, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        self._outcome.differences.append(
            {"before": before, "after": after, "before_header": _named(raw), "after_header": _named(raw)}
        )


def _read(path: Path) -> dict[str, Any]:
    try:
        play: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as failure:
        raise AnsibleActionFail(f"The cluster's file {path} cannot be read ({failure}).") from failure
    return play


def _nothing_to_do(play: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """Why there is nothing to do, if so; asked here because a condition in the play costs more than the answer."""
    component = arguments["component"]
    if component is not None and component not in play.get("due", (component,)):
        return f"{component} is not due"
    return "nothing is to be pruned" if arguments["prune"] and not play.get("prune") else ""


def _leaving(server: ApiServer, cluster: StarRocksCluster) -> str:
    """Why nothing is to be made for this cluster any more, if so; else empty.

    A cluster deleted and made anew under the same name has another uid: objects must not go to the old one.
    """
    asked = {
        **kind_of(cluster),
        "metadata": {"namespace": cluster.namespace, "name": cluster.resource_name},
    }
    live = server.get(asked)
    if live.absent or (live.ok and live.metadata.get("uid") != cluster.uid):
        return f"{asked['kind']} {cluster.key} was deleted: nothing is done for it any more."
    if live.ok and live.metadata.get("deletionTimestamp"):
        return f"{asked['kind']} {cluster.key} is being deleted: nothing is done for it any more."
    if live.ok:
        return ""
    raise AnsibleActionFail(live.sentence(f"{asked['kind']} {cluster.key} could not be read"))


def _fenced(server: ApiServer, cluster: StarRocksCluster, operator: Mapping[str, Any]) -> str:
    """Why the operator that started this run may no longer write; empty if it may, or if it has no Lease to hold."""
    lease = operator.get("lease")
    if not lease:
        return ""
    live = server.get({"apiVersion": LEASE_API, "kind": "Lease", "metadata": lease}, metadata_only=False)
    if not (live.ok or live.absent):
        return live.sentence(f"Nothing was written for {cluster.key}, as the operator's Lease could not be read")
    found = live.body if live.ok else None
    reason = lease_objection(found, identity=str(operator.get("identity", "")), now=datetime.now(UTC))
    return f"Nothing was written for {cluster.key}: {reason}." if reason else ""


def _owned(wanted: Mapping[str, Any], cluster: StarRocksCluster) -> dict[str, Any]:
    """As a child of the cluster; never a volume claim, which would be deleted with it."""
    metadata = {**wanted["metadata"], "ownerReferences": [owner_reference(cluster)]}
    return _within({**wanted, "metadata": metadata}, cluster)


def _within(wanted: Mapping[str, Any], cluster: StarRocksCluster) -> dict[str, Any]:
    return {**wanted, "metadata": {**wanted["metadata"], "namespace": cluster.namespace}}


def _is_ours(metadata: Mapping[str, Any], cluster: StarRocksCluster) -> bool:
    controller = controller_of(metadata)
    return controller is not None and controller.get("uid") == cluster.uid


def _key(raw: Mapping[str, Any]) -> str:
    return f"{raw['kind']}/{raw['metadata']['name']}"


def _named(raw: Mapping[str, Any]) -> str:
    return f"{raw['kind']} {raw['metadata']['name']}"
