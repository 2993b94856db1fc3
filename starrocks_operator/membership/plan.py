"""The membership of a whole cluster: guards first, then frontends, backends and compute nodes; at most one step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from starrocks_operator.decision import Context, Finding
from starrocks_operator.membership import accounts, frontends, nodes, observers
from starrocks_operator.membership.bootstrap import Founding
from starrocks_operator.membership.compute_nodes import COMPUTE_NODES
from starrocks_operator.membership.frontend_ground import frontend_ground
from starrocks_operator.membership.node_ground import backend_kind, node_ground
from starrocks_operator.membership.outlook import Outlook
from starrocks_operator.membership.rosters import Rosters
from starrocks_operator.membership.slots import DEFAULT_GRACE
from starrocks_operator.membership.warehouses import farewell, kind_of, warehouse_finding
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.observed import Accounts, FrontendView, Observed, Outcome
from starrocks_operator.step import StepKind

TAKING_BACK = frozenset({StepKind.CANCEL_DECOMMISSION, StepKind.UNBLACKLIST_COMPUTE_NODE})
"""Steps that wait for nobody: while another component's step fails again and again, the node would be emptied."""


@dataclass(frozen=True, kw_only=True)
class Situation:
    """What membership is decided on, worked out once per decision."""

    cluster: StarRocksCluster
    observed: Observed
    context: Context
    rosters: Rosters
    founding: Founding
    grace: timedelta = DEFAULT_GRACE


def plan(situation: Situation) -> Outlook:
    """What comes next; no step while anything blocks membership, but the waits and findings all the same."""
    observed, view = situation.observed, situation.observed.view
    guards = _guards(situation)
    if situation.cluster.warehouse:
        return _of_warehouse(situation, guards)
    if view is None or view.leader is None or view.frontends is None:
        return Outlook(waits=_without_leader(situation), findings=guards)
    outlook = accounts.plan(observed)
    members = frontends.plan(
        situation.rosters.fe,
        frontend_ground(
            situation.cluster,
            observed,
            situation.context,
            view=view,
            since=situation.founding.at,
            grace=situation.grace,
        ),
    )
    outlook = outlook.then(members)
    observer_ground = frontend_ground(
        situation.cluster,
        observed,
        situation.context,
        view=view,
        since=situation.founding.at,
        grace=situation.grace,
        component="fe-observer",
    )
    outlook = outlook.then(observers.plan(situation.rosters.observers, situation.rosters.fe, observer_ground))
    ground = node_ground(situation.cluster, observed, since=situation.founding.at, grace=situation.grace)
    others = []
    if view.backends is not None:
        others.append(nodes.plan(situation.rosters.be, backend_kind(situation.context), ground))
    if view.compute_nodes is not None:
        others.append(nodes.plan(situation.rosters.cn, COMPUTE_NODES, ground))
        others.append(farewell(situation.cluster, observed))
    back = next((part.step for part in others if part.step is not None and part.step.kind in TAKING_BACK), None)
    for part in others:
        outlook = outlook.then(part)
    return _unless_blocked(replace(outlook, step=back or outlook.step), guards)


def _of_warehouse(situation: Situation, guards: tuple[Finding, ...]) -> Outlook:
    """Its compute nodes alone: the frontends are its cluster's to look after."""
    cluster, observed, view = situation.cluster, situation.observed, situation.observed.view
    if view is None or view.leader is None or view.compute_nodes is None:
        return Outlook(waits=(f"no frontend of {cluster.frontends_of} leads yet",), findings=guards)
    ground = node_ground(cluster, observed, since=situation.founding.at, grace=situation.grace)
    return _unless_blocked(nodes.plan(situation.rosters.cn, kind_of(cluster), ground), guards)


def _unless_blocked(outlook: Outlook, guards: tuple[Finding, ...]) -> Outlook:
    blocked = any(finding.blocks != "nothing" for finding in guards)
    return Outlook(
        step=None if blocked else outlook.step,
        waits=outlook.waits,
        findings=guards + outlook.findings,
        pace=outlook.pace,
    )


def _guards(situation: Situation) -> tuple[Finding, ...]:
    """What stops every step."""
    found = [
        situation.founding.finding,
        _unreadable_password(situation.observed),
        _refused_password(situation.observed),
        _untrusted(situation.observed.view),
        _missing_leader(situation),
        warehouse_finding(situation.cluster, situation.observed),
    ]
    return tuple(finding for finding in found if finding is not None)


def _unreadable_password(observed: Observed) -> Finding | None:
    if not observed.credentials_problem:
        return None
    return Finding(
        reason="PasswordUnavailable",
        message=f"FE's root password cannot be read: {observed.credentials_problem}",
        blocks="membership",
        degraded=True,
    )


def _untrusted(view: FrontendView | None) -> Finding | None:
    found = [answer for answer in view.answers if answer.outcome == Outcome.UNTRUSTED] if view else []
    if not found:
        return None
    return Finding(
        reason="TlsRefused",
        message=f"FE cannot be asked over a connection that is to be trusted: {'; '.join(a.error for a in found)}. No "
        "password was sent. See the annotations starrocks.com/fe-ssl-mode and starrocks.com/fe-ssl-ca.",
        blocks="membership",
        degraded=True,
    )


def _refused_password(observed: Observed) -> Finding | None:
    view, accounts = observed.view, observed.accounts
    denied = [answer for answer in view.answers if answer.outcome == Outcome.DENIED] if view else []
    if not denied:
        return None
    names = ", ".join(sorted(answer.pod for answer in denied))
    said = f" FE says: {denied[0].error}." if denied[0].error else ""
    return Finding(
        reason="PasswordRefused",
        message=f"{names} refused user root with the password that the CR names (env MYSQL_PWD of the frontends)."
        f"{said} Put FE's present root password there, or in the Secret it refers to.{_way_out(accounts)}",
        blocks="membership",
        degraded=True,
    )


def _way_out(accounts: Accounts) -> str:
    """For those who changed the Secret while no operator was there to remember the password before."""
    if not accounts.root.startswith("Secret "):
        return ""
    return " If the Secret was changed to rotate it: add the former password to it, under the same key and .previous."


def _missing_leader(situation: Situation) -> Finding | None:
    """Only once there was a leader: before the founding it is a wait like any other."""
    view = situation.observed.view
    founding = situation.founding
    if view is None or view.leader is not None or not founding.cluster_id or founding.finding:
        return None
    answers = ", ".join(f"{answer.pod} {answer.outcome}" for answer in view.answers) or "none could be asked"
    return Finding(
        reason="LeaderMissing",
        message=f"No frontend leads ({answers}). Nothing can be written, and no membership step is taken, until a "
        "majority of the frontends lives.",
        blocks="membership",
        degraded=True,
    )


def _without_leader(situation: Situation) -> tuple[str, ...]:
    """What the frontends wait for while none leads: their pods, and if those run, the election."""
    slots = situation.rosters.fe.wanted
    waits = tuple(f"frontend {slot.name} is not up: {slot.pod_words}" for slot in slots if not slot.runs)
    view = situation.observed.view
    if view is None and any(slot.pod and slot.pod.address for slot in slots):
        return (*waits, "the frontends have not been asked yet")
    if view is not None and view.answers:
        return (*waits, "no frontend leads yet")
    return waits or ("the frontends have no pods yet",)
