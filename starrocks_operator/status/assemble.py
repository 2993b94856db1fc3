"""The whole .status of a StarRocksCluster, from the cluster, what was seen, the decision and the last run.

Applied to its own result it gives the same again: times change only when what they tell of changes, so a quiet
cluster is never written to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starrocks_operator.decide import is_ignored
from starrocks_operator.decision import Decision
from starrocks_operator.membership import Founding, Rosters, accounts, founding_of, pods_of, rosters_of
from starrocks_operator.membership.frontend_table import DROPPED
from starrocks_operator.membership.memory import is_marker_due
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.observed import Observed
from starrocks_operator.protection import protection_status
from starrocks_operator.rollout import remembered
from starrocks_operator.run_report import RunReport
from starrocks_operator.status.asleep import said_of_sleep
from starrocks_operator.status.conditions import Ground, Judgement, judge
from starrocks_operator.status.departures import Departures, departures_of, held_settings, written
from starrocks_operator.status.frontend_departures import frontend_departures_of
from starrocks_operator.status.frontend_proxy import proxy_of, proxy_status
from starrocks_operator.status.members import members_of
from starrocks_operator.status.workloads import Workload, component_status, workloads_of

Status = dict[str, Any]

_FIELDS = {
    "fe": "starRocksFeStatus",
    "fe-observer": "starRocksFeObserverStatus",
    "be": "starRocksBeStatus",
    "cn": "starRocksCnStatus",
}


def status_of(
    cluster: StarRocksCluster, observed: Observed, decision: Decision, *, last_run: RunReport | None
) -> Status:
    """The status to be written, if it differs from the one that is there."""
    old: Status = cluster.status.to_dict() if cluster.status else {}
    if is_ignored(cluster) or cluster.is_deleted:
        return old
    now = written(observed.now)
    rosters = rosters_of(cluster, decision.context, pods_of(observed.children), observed.view)
    workloads = workloads_of(cluster, observed.children, rosters, observed.view)
    founding = founding_of(cluster, observed.children, observed.view)
    departures = departures_of(cluster, observed, decision, rosters, since=founding.at)
    members = _members(cluster, observed, decision, rosters, departures)
    told: Status = {
        "members": members,
        "heldSettings": held_settings(cluster, observed, decision, members),
        "rollout": remembered(decision, last_run),
    }
    ground = Ground(
        cluster=cluster,
        decision=decision,
        workloads=workloads,
        view=observed.view,
        last_run=last_run,
        founded=bool(founding.cluster_id),
        proxy=proxy_of(cluster, observed.children),
        marker_is_due=bool(founding.cluster_id and members) and is_marker_due(cluster, observed.children, told),
    )
    status: Status = {
        "phase": "",
        "reason": "",
        "observedGeneration": cluster.generation,
        "conditions": _conditions(judge(ground), old, cluster.generation, now),
        "version": _version(observed, old),
        "bootstrap": _bootstrap(founding, old, now),
        **told,
        "onlineConfiguration": decision.online,
        "protection": protection_status(cluster, observed),
        "accounts": accounts.record(cluster, observed),
        "nextStep": _next_step(decision, old, now),
        "waitingFor": list(decision.waits),
        "plan": dict(decision.plan or {}),
        "reconcile": _reconcile(last_run, old),
    }
    for workload in workloads:
        name = workload.component
        status[_FIELDS[name]] = component_status(workload, cluster, observed.children)
    status["starRocksFeProxyStatus"] = proxy_status(ground.proxy, cluster)
    if _unasked(rosters, observed):
        _keep_judgement(status, old, cluster.generation)
    status |= _phase(status, decision, workloads, last_run)
    status = said_of_sleep(status, decision, tuple(_FIELDS.values()))
    kept = {key: old[key] for key in ("disasterRecoveryStatus",) if key in old}
    return {key: value for key, value in (status | kept).items() if key == "phase" or value not in ("", [], {}, None)}


def _unasked(rosters: Rosters, observed: Observed) -> bool:
    """Whether there are frontends to ask and they have not been asked: after a restart of the operator."""
    askable = any(slot.runs and slot.pod is not None and slot.pod.address for slot in rosters.fe.slots)
    return observed.view is None and not observed.credentials_problem and askable


def _keep_judgement(status: Status, old: Status, generation: int) -> None:
    """Not having asked yet is no news: what was said of this generation stands until FE has been asked."""
    before = {condition["type"]: condition for condition in old.get("conditions", ())}
    if before and all(condition.get("observedGeneration") == generation for condition in before.values()):
        for key in ("conditions", "waitingFor", *_FIELDS.values()):
            status[key] = old.get(key)


def _conditions(judgements: Sequence[Judgement], old: Status, generation: int, now: str) -> list[dict[str, Any]]:
    before = {condition["type"]: condition for condition in old.get("conditions", ())}
    conditions = []
    for judgement in judgements:
        past = before.get(judgement.type, {})
        since = past.get("lastTransitionTime") if past.get("status") == judgement.status else None
        conditions.append(
            {
                "type": judgement.type,
                "status": judgement.status,
                "reason": judgement.reason,
                "message": judgement.message,
                "observedGeneration": generation,
                "lastTransitionTime": since or now,
            }
        )
    return conditions


def _phase(
    status: Status, decision: Decision, workloads: Sequence[Workload], last_run: RunReport | None
) -> dict[str, str]:
    """running, reconciling or failed, as the official operator says it, with the reason in words."""
    conditions = {condition["type"]: condition for condition in status["conditions"] or ()}
    ready, degraded = conditions["Ready"], conditions["Degraded"]
    if ready["status"] == "True":
        return {"phase": "running", "reason": ""}
    stopped = any(finding.blocks == "everything" for finding in decision.findings)
    failed_run = decision.due and last_run is not None and not last_run.succeeded
    if stopped or failed_run or any(workload.failed for workload in workloads if not workload.orphaned):
        return {"phase": "failed", "reason": degraded["message"]}
    return {"phase": "reconciling", "reason": ready["message"]}


def _version(observed: Observed, old: Status) -> str:
    view = observed.view
    rows = (view.frontends if view else None) or ()
    return next((row.version for row in rows if row.role == "LEADER" and row.version), old.get("version") or "")


def _members(
    cluster: StarRocksCluster, observed: Observed, decision: Decision, rosters: Rosters, departures: Departures
) -> list[dict[str, Any]]:
    """Without a leader nobody can tell: the members as last known, their state unknown, and none of them leading."""
    view = observed.view
    if view is not None and view.frontends is not None:
        frontends = frontend_departures_of(cluster, observed, decision, rosters, view=view)
        return members_of(rosters, view, departures, frontends)
    known = (cluster.status.to_dict() if cluster.status else {}).get("members") or []
    if view is None and not decision.asleep:
        return list(known)
    return [_unknown(member) for member in known]


def _unknown(member: dict[str, Any]) -> dict[str, Any]:
    gone = {"alive", "message"} | ({"role"} if member.get("role") == "LEADER" else set())
    state = member.get("state") if member.get("state") == DROPPED else "unknown"
    return {key: value for key, value in member.items() if key not in gone} | {"state": state}


def _bootstrap(founding: Founding, old: Status, now: str) -> dict[str, str]:
    if not founding.cluster_id:
        return {}
    noted = old.get("bootstrap") or {}
    at = noted.get("at") if noted.get("clusterId") == founding.cluster_id else None
    return {"clusterId": founding.cluster_id, "at": at or now}


def _next_step(decision: Decision, old: Status, now: str) -> dict[str, Any]:
    """The record that is written before a step is taken. What it expects is in its hash."""
    if decision.step is None:
        return {}
    document = {key: value for key, value in decision.step.document().items() if key != "expects"}
    noted = old.get("nextStep") or {}
    at = noted.get("recordedAt") if noted.get("hash") == decision.step.hash else None
    return document | {"recordedAt": at or now}


def _reconcile(last_run: RunReport | None, old: Status) -> dict[str, Any]:
    """The last run; how many failed in a row is counted from one status to the next."""
    noted: dict[str, Any] = old.get("reconcile") or {}
    if last_run is None:
        return noted
    ended = written(last_run.finished_at)
    failures = 0 if last_run.succeeded else noted.get("failures", 0) + (noted.get("lastRunAt") != ended)
    document = {
        "fingerprint": last_run.fingerprint,
        "lastRunAt": ended,
        "result": "succeeded" if last_run.succeeded else "failed",
        "message": last_run.message[:1000],
        "failures": failures,
    }
    return {key: value for key, value in document.items() if value not in ("", None)}
