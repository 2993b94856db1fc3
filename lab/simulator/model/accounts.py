"""Users, passwords and the few privileges that membership work needs (reference: starrocks-sql §6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha1

from lab.simulator.model.outcome import SqlError
from lab.simulator.model.session import Session

ALL_SYSTEM = frozenset({"NODE", "OPERATE", "GRANT", "REPOSITORY", "BLACKLIST"})
BUILT_IN_ROLES: Mapping[str, frozenset[str]] = {
    "root": ALL_SYSTEM,
    "cluster_admin": frozenset({"NODE"}),
    "db_admin": frozenset({"OPERATE", "REPOSITORY", "BLACKLIST"}),
    "user_admin": frozenset({"GRANT"}),
    "public": frozenset(),
}


@dataclass(frozen=True, kw_only=True)
class Account:
    name: str
    auth_string: str = ""  # hex of SHA1(SHA1(password)): what mysql_native_password keeps
    roles: frozenset[str] = frozenset()
    default_roles: frozenset[str] = frozenset()


def auth_string(password: str) -> str:
    # mysql_native_password is made of SHA1; nothing here is stored or secret
    return (
        sha1(sha1(password.encode(), usedforsecurity=False).digest(), usedforsecurity=False).hexdigest()
        if password
        else ""
    )


def initial_accounts() -> Mapping[str, Account]:
    root = frozenset({"root"})
    return {"root": Account(name="root", roles=root, default_roles=root)}


def access_denied(user: str, *, with_password: bool) -> SqlError:
    return SqlError(f"Access denied for user '{user}' (using password: {'YES' if with_password else 'NO'})", 1045)


def check_password(accounts: Mapping[str, Account], user: str, password: str) -> None:
    account = accounts.get(user)
    if account is None or account.auth_string != auth_string(password):
        raise access_denied(user, with_password=bool(password))


def active_roles(account: Account, session: Session) -> frozenset[str]:
    wanted = account.default_roles if session.roles is None else session.roles
    return wanted & account.roles


def check_privilege(
    accounts: Mapping[str, Account],
    roles: Mapping[str, frozenset[str]],
    session: Session,
    wanted: tuple[str, ...],
) -> None:
    """At least one of the wanted SYSTEM privileges must come from an *active* role."""
    if not wanted:
        return
    account = accounts.get(session.user)
    if account is None:
        raise access_denied(session.user, with_password=False)
    active = active_roles(account, session)
    held: set[str] = set()
    for role in active:
        held |= BUILT_IN_ROLES.get(role, frozenset()) | roles.get(role, frozenset())
    if held.isdisjoint(wanted):
        raise SqlError(
            f"Access denied; you need (at least one of) the {' or '.join(wanted)} privilege(s) on SYSTEM for this "
            "operation. Please ask the admin to grant permission(s) or try activating existing roles using "
            f"<set [default] role>. Current role(s): [{', '.join(sorted(active)) or 'NONE'}]. "
            f"Inactivated role(s): [{', '.join(sorted(account.roles - active)) or 'NONE'}].",
            5203,
        )
