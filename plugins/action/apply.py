"""The hot path of the operator: apply the objects of one component, in the controller process.

An action plugin costs a hundredth of a module, and it reads the cluster's file itself, so that no string of a
StarRocksCluster ever meets a template. Imports are at the top on purpose: they are paid once per run, not per task.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.starrocks.operator.plugins.plugin_utils.outcome import Outcome, same_content, shown
from ansible_collections.starrocks.operator.plugins.plugin_utils.server import API_VERSIONS, Answer, ApiServer
from kubernetes.config import ConfigException

from starrocks_operator.decision import Context
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects import build
from starrocks_operator.objects.metadata import owner_reference

NEVER_PRUNED = ("StatefulSet", "PersistentVolumeClaim")

ARGUMENTS = {
    "cluster_file": {"type": "path", "required": True},
    "component": {"type": "str", "choices": ["fe", "be", "cn", "hpa"]},
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
        _, arguments = self.validate_argument_spec(
            argument_spec=ARGUMENTS,
            mutually_exclusive=[("component", "objects", "prune")],
            required_one_of=[("component", "objects", "prune")],
        )
        play = _read(Path(arguments["cluster_file"]))
        self._check, self._diff = self._task.check_mode, self._task.diff
        self._outcome = Outcome()
        try:
            self._act(play, arguments)
        except ConfigException as failure:
            raise AnsibleActionFail(
                f"There is no way to log in to the API server ({failure}): set KUBECONFIG, or run in a pod."
            ) from failure
        return self._outcome.document(diff=self._diff)

    def _act(self, play: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
        cluster = StarRocksCluster.parse(play["cluster"])
        server = ApiServer()
        if remark := _leaving(server, cluster):
            self._outcome.remark = remark
        elif arguments["prune"]:
            for entry in play.get("prune") or ():
                self._prune(server, cluster, entry)
        else:
            objects = arguments["objects"]
            if objects is None:
                component = arguments["component"]
                objects = build(cluster, Context.parse(play["context"])).get(component, ())
            for wanted in objects:
                self._apply(server, cluster, wanted)

    def _apply(self, server: ApiServer, cluster: StarRocksCluster, wanted: Mapping[str, Any]) -> None:
        wanted = _owned(wanted, cluster)
        contents = self._check or self._diff
        before = server.get(wanted, metadata_only=not contents)
        after = server.apply(wanted, dry_run=self._check)
        if after.ok:
            # A dry run has no resource version of its own; a real one keeps it if nothing changed.
            same = same_content(before.body, after.body) if contents else _same_version(before, after)
            changed = not (before.ok and same)
            self._outcome.record(wanted, changed=changed, resource_version=after.resource_version)
            if changed and self._diff:
                self._show(wanted, before=shown(before.body) if before.ok else {}, after=shown(after.body))
        elif after.namespace_is_going:
            self._outcome.remark = f"Namespace {cluster.namespace} is being deleted: nothing is made in it any more."
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


def _leaving(server: ApiServer, cluster: StarRocksCluster) -> str:
    """Why nothing is to be made for this cluster any more, if so; else empty.

    A cluster deleted and made anew under the same name has another uid: objects must not go to the old one.
    """
    asked = {
        "apiVersion": API_VERSIONS["StarRocksCluster"],
        "kind": "StarRocksCluster",
        "metadata": {"namespace": cluster.namespace, "name": cluster.name},
    }
    live = server.get(asked)
    if live.absent or (live.ok and live.metadata.get("uid") != cluster.uid):
        return f"StarRocksCluster {cluster.key} was deleted: nothing is done for it any more."
    if live.ok and live.metadata.get("deletionTimestamp"):
        return f"StarRocksCluster {cluster.key} is being deleted: nothing is done for it any more."
    if live.ok:
        return ""
    raise AnsibleActionFail(live.sentence(f"StarRocksCluster {cluster.key} could not be read"))


def _owned(wanted: Mapping[str, Any], cluster: StarRocksCluster) -> dict[str, Any]:
    metadata = {**wanted["metadata"], "ownerReferences": [owner_reference(cluster)]}
    return {**wanted, "metadata": metadata | {"namespace": cluster.namespace}}


def _is_ours(metadata: Mapping[str, Any], cluster: StarRocksCluster) -> bool:
    owners = metadata.get("ownerReferences") or ()
    return any(owner.get("controller") and owner.get("uid") == cluster.uid for owner in owners)


def _same_version(before: Answer, after: Answer) -> bool:
    return bool(after.resource_version) and before.resource_version == after.resource_version


def _named(raw: Mapping[str, Any]) -> str:
    return f"{raw['kind']} {raw['metadata']['name']}"
