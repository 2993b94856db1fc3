"""Passwords as a table: how FE lets us in, and what the cluster names -> one step, or what a person should know.

Root's password is set as soon as a frontend leads and root has none; it follows the Secret when that changes; and the
operator's own account is made as soon as root lets us in. None of these steps has the password in it: only where it is
and in which version, so that a step for a Secret that has changed meanwhile is not taken.
"""

from __future__ import annotations

from collections.abc import Mapping

from starrocks_operator.decision import Finding
from starrocks_operator.membership.outlook import Outlook
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.observed import Accounts, FrontendView, Login, Observed
from starrocks_operator.step import Step, StepKind

ROOT = "root"
ROOT_LOGINS = frozenset({Login.GIVEN, Login.FORMER, Login.EMPTY})

_ROOT_STEPS: Mapping[str, tuple[StepKind, str]] = {
    Login.EMPTY: (StepKind.SET_ROOT_PASSWORD, "FE's user root has no password yet: it gets the one in {source}."),
    Login.FORMER: (StepKind.ROTATE_ROOT_PASSWORD, "The password of FE's user root has changed in {source}."),
}


def plan(observed: Observed) -> Outlook:
    """The next step on an account, before any on a member: the pods need root's password to join."""
    accounts, view = observed.accounts, observed.view
    if view is None or view.leader is None or not view.login:
        return Outlook()
    step = _root_step(accounts, view) or _operator_step(accounts, view)
    if step is not None and accounts.unusable:
        return Outlook(findings=(_unusable(accounts),))
    return Outlook(step=step, findings=tuple(_findings(accounts, view)))


def root_login(view: FrontendView) -> str:
    """How FE lets root in, as far as it was asked; empty: unknown."""
    return view.login if view.login in ROOT_LOGINS else view.root


def wants_root(cluster: StarRocksCluster, accounts: Accounts) -> bool:
    """Whether it is to be asked if root's password is the named one, though we have an account of our own."""
    return bool(accounts.operator and accounts.root) and verified(cluster)["root"] != accounts.root


def verified(cluster: StarRocksCluster) -> dict[str, str]:
    """Of which Secrets, and in which version, FE has accepted the password, as the status remembers it."""
    noted = cluster.status.accounts if cluster.status else None
    return {"root": noted.root or "", "operator": noted.operator or ""} if noted else {"root": "", "operator": ""}


def record(cluster: StarRocksCluster, observed: Observed) -> dict[str, str]:
    """What the status is to remember."""
    noted, accounts, view = verified(cluster), observed.accounts, observed.view
    if view is not None and root_login(view) == Login.GIVEN and accounts.root:
        noted["root"] = accounts.root
    if view is not None and view.login == Login.ACCOUNT:
        noted["operator"] = accounts.operator
    return {name: where for name, where in noted.items() if where}


def _root_step(accounts: Accounts, view: FrontendView) -> Step | None:
    found = root_login(view)
    if found not in _ROOT_STEPS or not accounts.root:
        return None
    kind, reason = _ROOT_STEPS[found]
    return _step(kind, ROOT, login=found, source=accounts.root, reason=reason)


def _operator_step(accounts: Accounts, view: FrontendView) -> Step | None:
    if not accounts.operator:
        return None
    if view.login == Login.ACCOUNT_FORMER:
        reason = "The password of the operator's own account has changed in {source}."
        return _step(
            StepKind.ROTATE_OPERATOR_PASSWORD, accounts.user, login=view.login, source=accounts.operator, reason=reason
        )
    if view.login != Login.GIVEN:
        return None
    reason = "The operator gets an account of its own in FE, with the password in {source}."
    return _step(
        StepKind.CREATE_OPERATOR_ACCOUNT, accounts.user, login=view.login, source=accounts.operator, reason=reason
    )


def _step(kind: StepKind, target: str, *, login: str, source: str, reason: str) -> Step:
    return Step(
        kind=kind,
        target=target,
        reason=reason.format(source=source.partition("@")[0]),
        reversible=True,
        expects=(("login", str(login)), ("secret", source)),
    )


def _unusable(accounts: Accounts) -> Finding:
    return Finding(
        reason="PasswordUnusable",
        message=f"{accounts.unusable} It is not set in FE. Write it without (kubectl create secret --from-literal).",
        degraded=True,
    )


def _findings(accounts: Accounts, view: FrontendView) -> list[Finding]:
    found = []
    if accounts.problem:
        message = f"The operator's own account cannot be used: {accounts.problem} Root's is used as long as that works."
        found.append(Finding(reason="OperatorAccountUnavailable", message=message, degraded=True))
    if view.root == Login.REFUSED:
        message = (
            f"FE refuses root's password in {accounts.root.partition('@')[0]}. The operator has an account of its own "
            "and goes on, but pods log in as root to join: a backend or compute node that restarts cannot, until FE's "
            "present root password is there."
        )
        found.append(Finding(reason="RootPasswordDiffers", message=message, degraded=True))
    return found
