"""Statements about users, passwords and roles."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from lab.simulator.model.accounts import BUILT_IN_ROLES, Account, auth_string
from lab.simulator.model.grammar import user_name
from lab.simulator.model.outcome import Done, Outcome, SqlError
from lab.simulator.model.rows import State

if TYPE_CHECKING:
    from lab.simulator.model.commands import Call


def _account(state: State, name: str) -> Account:
    found = state.accounts.get(name)
    if found is None:
        raise SqlError(f"cannot find user '{name}'@'%'")
    return found


def _keep(state: State, account: Account) -> State:
    return replace(state, accounts={**state.accounts, account.name: account})


def _hash_of(call: Call) -> str:
    """What FE keeps: of a password in words its hash, a hash as it is."""
    given = call.statement["hash"].strip("'\"")
    if not given:
        return auth_string((call.statement.targets or [""])[0])
    if not re.fullmatch(r"\*[0-9A-F]{40}", given):
        raise SqlError("Password hash should be a 41-digit hexadecimal number")
    return given[1:].lower()


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.split(",") if name.strip())


def _set_password(call: Call) -> Outcome:
    name = user_name(call.statement["user"]) or call.session.user
    if name == "root" and call.session.user != "root":
        raise SqlError("Can not set password for root user, except root itself")
    hashed = _hash_of(call)
    call.database.write(lambda state: _keep(state, replace(_account(state, name), auth_string=hashed)))
    return Done()


def _create_user(call: Call) -> Outcome:
    name = user_name(call.statement["user"])
    hashed = _hash_of(call)

    def create(state: State) -> State:
        if name in state.accounts:
            if call.statement["exists"]:
                return state
            raise SqlError(f"Operation CREATE USER failed for '{name}'@'%' : user already exists")
        return _keep(state, Account(name=name, auth_string=hashed))

    call.database.write(create)
    return Done()


def _drop_user(call: Call) -> Outcome:
    name = user_name(call.statement["user"])

    def drop(state: State) -> State:
        if name not in state.accounts and not call.statement["exists"]:
            raise SqlError(f"Operation DROP USER failed for '{name}'@'%' : user not exists")
        return replace(state, accounts={key: value for key, value in state.accounts.items() if key != name})

    call.database.write(drop)
    return Done()


def _create_role(call: Call) -> Outcome:
    role = call.statement["role"]

    def create(state: State) -> State:
        if role in state.roles or role in BUILT_IN_ROLES:
            if call.statement["exists"]:
                return state
            raise SqlError(f"Operation CREATE ROLE failed for {role} : role already exists")
        return replace(state, roles={**state.roles, role: frozenset()})

    call.database.write(create)
    return Done()


def _grant_system(call: Call) -> Outcome:
    role, what = call.statement["role"], _names(call.statement["what"].upper())
    if "NODE" in what:
        raise SqlError("cannot grant/revoke system privilege: NODE")

    def grant(state: State) -> State:
        if role not in state.roles:
            raise SqlError(f"cannot find role {role}")
        return replace(state, roles={**state.roles, role: state.roles[role] | what})

    call.database.write(grant)
    return Done()


def _grant_roles(call: Call) -> Outcome:
    name, what = user_name(call.statement["user"]), _names(call.statement["what"])
    if what & {"root", "cluster_admin"} and call.session.user != "root":
        raise SqlError("Can not grant root or cluster_admin role except root user")

    def grant(state: State) -> State:
        for role in what:
            if role not in state.roles and role not in BUILT_IN_ROLES:
                raise SqlError(f"cannot find role {role}")
        account = _account(state, name)
        return _keep(state, replace(account, roles=account.roles | what))

    call.database.write(grant)
    return Done()


def _default_role(call: Call) -> Outcome:
    name, what = user_name(call.statement["user"]), call.statement["what"]

    def change(state: State) -> State:
        account = _account(state, name)
        chosen = account.roles if what.upper() == "ALL" else _names(what)
        return _keep(state, replace(account, default_roles=chosen))

    call.database.write(change)
    return Done()


def _set_role(call: Call) -> Outcome:
    account = _account(call.database.view(call.process), call.session.user)
    what = call.statement["what"].strip()
    call.session.roles = (
        account.roles if what.upper() == "ALL" else frozenset() if what.upper() == "NONE" else _names(what)
    )
    return Done()


HANDLERS: Mapping[str, Callable[[Call], Outcome]] = {
    "set_password": _set_password,
    "alter_user": _set_password,
    "create_user": _create_user,
    "drop_user": _drop_user,
    "create_role": _create_role,
    "grant_system": _grant_system,
    "grant_roles": _grant_roles,
    "default_role": _default_role,
    "set_role": _set_role,
}
