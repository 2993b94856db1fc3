"""The status of a ComputeNodeGroup, and the Events that its changes are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

from starrocks_operator.decision import Decision
from starrocks_operator.group.cases import COMPONENT, cases_of, member_of, pods_of
from starrocks_operator.model import ComputeNodeGroup, ComputeNodeGroupStatus, GroupMember
from starrocks_operator.objects.metadata import selector
from starrocks_operator.observed import Observed
from starrocks_operator.run_report import RunReport
from starrocks_operator.status.transitions import Transition

IGNORED_SIDECARS = "componentsImage is ignored: the operator itself registers and removes compute nodes"


def status_of_group(
    group: ComputeNodeGroup, observed: Observed, decision: Decision, *, last_run: RunReport | None
) -> dict[str, Any]:
    """The whole of it, as the API server keeps it."""
    before = group.status or ComputeNodeGroupStatus()
    members = _members(before, group, observed)
    failed = last_run is not None and not last_run.succeeded
    fault = next((finding for finding in decision.findings if finding.degraded), None)
    ready = not decision.waits and decision.step is None and not decision.apply and fault is None
    phase = "deleting" if group.is_deleted else "failed" if fault or failed else "running" if ready else "reconciling"
    reason = fault.message if fault else (last_run.message if failed and last_run else "")
    reason = reason or next(iter(decision.waits), "")
    status: dict[str, Any] = {
        "phase": phase,
        "observedGeneration": group.generation,
        "replicas": len(pods_of(group, observed)),
        "readyReplicas": sum(bool(member.alive) for member in members),
        "selector": ",".join(f"{key}={value}" for key, value in selector(group.as_cluster(), COMPONENT).items()),
        "conditions": _conditions(group, observed, decision, ready=ready),
    }
    if reason:
        status["reason"] = reason[:1000]
    if members:
        status["members"] = [_written(member) for member in members]
    if decision.step is not None:
        status["nextStep"] = decision.step.document()
    if group.spec.components_image:
        status["notes"] = [IGNORED_SIDECARS]
    return status


def _members(before: ComputeNodeGroupStatus, group: ComputeNodeGroup, observed: Observed) -> tuple[GroupMember, ...]:
    """What was recorded stays while FE has not told its rows."""
    if observed.view is None or observed.view.compute_nodes is None:
        return before.members
    return tuple(member for case in cases_of(group, observed) if (member := member_of(case)) is not None)


def _written(member: GroupMember) -> dict[str, Any]:
    document = member.model_dump(mode="json", by_alias=True)
    return {key: value for key, value in document.items() if value not in ("", None)}


def _conditions(
    group: ComputeNodeGroup, observed: Observed, decision: Decision, *, ready: bool
) -> list[dict[str, Any]]:
    reached = observed.view is not None and observed.view.compute_nodes is not None
    fault = next((finding for finding in decision.findings if finding.degraded), None)
    waits = "; ".join(decision.waits[:5]) or (fault.message if fault else "")
    found = (
        ("Ready", ready, "AsWished" if ready else "Reconciling", "" if ready else waits),
        ("FrontendsReachable", reached, "Answered" if reached else "NoAnswer", ""),
        ("Degraded", fault is not None, fault.reason if fault else "AsWished", fault.message if fault else ""),
    )
    before = {condition.type: condition for condition in (group.status.conditions if group.status else ())}
    now = observed.now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    conditions = []
    for kind, holds, reason, message in found:
        status, known = "True" if holds else "False", before.get(kind)
        since = known.last_transition_time if known and known.status == status else now
        conditions.append(
            {
                "type": kind,
                "status": status,
                "reason": reason,
                "message": message[:1000],
                "observedGeneration": group.generation,
                "lastTransitionTime": since or now,
            }
        )
    return conditions


def group_transitions(before: Mapping[str, Any], after: Mapping[str, Any]) -> Sequence[Transition]:
    """Events: a fault that appears, and a group that becomes as it was wished."""
    was, now = _by_type(before), _by_type(after)
    found = []
    degraded = now.get("Degraded", {})
    if degraded.get("status") == "True" and was.get("Degraded", {}).get("reason") != degraded.get("reason"):
        found.append(Transition(type="Warning", reason=degraded["reason"], message=degraded["message"]))
    if now.get("Ready", {}).get("status") == "True" and was.get("Ready", {}).get("status") != "True":
        message = f"{after.get('readyReplicas', 0)} compute nodes are alive in FE."
        found.append(Transition(type="Normal", reason="ComputeNodesReady", message=message))
    return found


def _by_type(status: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {condition["type"]: condition for condition in status.get("conditions") or ()}
