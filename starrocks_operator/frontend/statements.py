"""The SQL of each question and each Step, as text; and what FE's error texts mean. Nothing here talks to anybody."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from starrocks_operator.step import SETTING_STEPS, Step, StepKind

LOCAL_FRONTENDS = "SHOW PROC '/frontends'"
"""Answered by every frontend from its own memory, leader or not."""

SHOW_FRONTENDS = "SHOW FRONTENDS"
SHOW_BACKENDS = "SHOW BACKENDS"
SHOW_COMPUTE_NODES = "SHOW COMPUTE NODES"

SHOW_SETTING = "ADMIN SHOW FRONTEND CONFIG LIKE '{key}'"
"""Answered by every frontend from its own memory."""

SHOW_BLACKLIST = "SHOW COMPUTE NODE BLACKLIST"
"""Answered by every frontend from its own memory; releases before 4.0 do not know it."""

STATISTIC = "SHOW PROC '/statistic'"
BALANCE = "SHOW PROC '/cluster_balance'"

FEWEST_REPLICAS = "SELECT MIN(REPLICATION_NUM) AS replication FROM information_schema.partitions_meta"

SHOW_BACKEND_BLACKLIST = "SHOW BACKEND BLACKLIST"
"""The same of backends; releases before 3.3 do not know it."""

MOST_REPLICAS = (
    "SELECT MAX(REPLICATION_NUM) AS replication FROM information_schema.partitions_meta WHERE DB_NAME <> '_statistics_'"
)
"""FE's own statistics follow the number of backends; where a release counts them all the same, FE says so itself."""

_FORMS: Mapping[StepKind, str] = {
    StepKind.ADD_FOLLOWER: 'ALTER SYSTEM ADD FOLLOWER "{target}"',
    StepKind.DROP_FOLLOWER: 'ALTER SYSTEM DROP FOLLOWER "{target}"',
    StepKind.ADD_OBSERVER: 'ALTER SYSTEM ADD OBSERVER "{target}"',
    StepKind.DROP_OBSERVER: 'ALTER SYSTEM DROP OBSERVER "{target}"',
    StepKind.ADD_BACKEND: 'ALTER SYSTEM ADD BACKEND "{target}"',
    StepKind.DECOMMISSION_BACKEND: 'ALTER SYSTEM DECOMMISSION BACKEND "{target}"',
    StepKind.CANCEL_DECOMMISSION: 'CANCEL DECOMMISSION BACKEND "{target}"',
    StepKind.DROP_BACKEND: 'ALTER SYSTEM DROP BACKEND "{target}"',
    StepKind.FORCE_DROP_BACKEND: 'ALTER SYSTEM DROP BACKEND "{target}" FORCE',
    StepKind.ADD_COMPUTE_NODE: 'ALTER SYSTEM ADD COMPUTE NODE "{target}"',
    StepKind.DROP_COMPUTE_NODE: 'ALTER SYSTEM DROP COMPUTE NODE "{target}"',
    StepKind.DROP_WAREHOUSE: "DROP WAREHOUSE IF EXISTS {target}",
    StepKind.BLACKLIST_COMPUTE_NODE: "ADD COMPUTE NODE BLACKLIST {id}",
    StepKind.UNBLACKLIST_COMPUTE_NODE: "DELETE COMPUTE NODE BLACKLIST {id}",
    StepKind.DIVERT_QUERIES: "ADD {list} BLACKLIST {id}",
    StepKind.READMIT_QUERIES: "DELETE {list} BLACKLIST {id}",
    StepKind.HOLD_SETTING: 'ADMIN SET FRONTEND CONFIG ("{target}" = "{to}")',
    StepKind.RESTORE_SETTING: 'ADMIN SET FRONTEND CONFIG ("{target}" = "{to}")',
    StepKind.CREATE_IMAGE: "ALTER SYSTEM CREATE IMAGE",
    StepKind.HOLD_AUTO_DROP: 'ADMIN SET FRONTEND CONFIG ("{target}" = "{to}")',
    StepKind.RESTORE_AUTO_DROP: 'ADMIN SET FRONTEND CONFIG ("{target}" = "{to}")',
    StepKind.SET_FRONTEND_CONFIG: 'ADMIN SET FRONTEND CONFIG ("{target}" = "{to}")',
}

_WITHIN: Mapping[StepKind, str] = {
    StepKind.ADD_COMPUTE_NODE: " INTO WAREHOUSE {within}",
    StepKind.DROP_COMPUTE_NODE: " FROM WAREHOUSE {within}",
}
"""Said only of compute nodes that are not in FE's default warehouse: releases without warehouses do not know it."""

OPERATOR_ROLE = "starrocks_operator"

_SET_PASSWORD = "SET PASSWORD = '{hash}'"  # noqa: S105 - a statement
"""Of the account that is logged in. Of the password only its hash is sent, as FE keeps it."""

_ACCOUNT_FORMS: Mapping[StepKind, tuple[str, ...]] = {
    StepKind.SET_ROOT_PASSWORD: (_SET_PASSWORD,),
    StepKind.ROTATE_ROOT_PASSWORD: (_SET_PASSWORD,),
    StepKind.ROTATE_OPERATOR_PASSWORD: (_SET_PASSWORD,),
    StepKind.CREATE_OPERATOR_ACCOUNT: (
        "CREATE USER IF NOT EXISTS '[user]'@'%' IDENTIFIED WITH mysql_native_password AS '{hash}'",
        "ALTER USER '[user]'@'%' IDENTIFIED WITH mysql_native_password AS '{hash}'",
        f"CREATE ROLE IF NOT EXISTS {OPERATOR_ROLE}",
        f"GRANT OPERATE, REPOSITORY, BLACKLIST ON SYSTEM TO ROLE {OPERATOR_ROLE}",
        f"GRANT cluster_admin, {OPERATOR_ROLE} TO USER '[user]'@'%'",
        "SET DEFAULT ROLE ALL TO '[user]'@'%'",
    ),
}
"""Each may be said again, after any number of them. {hash} is put in when they are sent, and shown nowhere."""

_READS: Mapping[StepKind, str] = {
    StepKind.ADD_FOLLOWER: SHOW_FRONTENDS,
    StepKind.DROP_FOLLOWER: SHOW_FRONTENDS,
    StepKind.ADD_OBSERVER: SHOW_FRONTENDS,
    StepKind.DROP_OBSERVER: SHOW_FRONTENDS,
    StepKind.ADD_BACKEND: SHOW_BACKENDS,
    StepKind.DECOMMISSION_BACKEND: SHOW_BACKENDS,
    StepKind.CANCEL_DECOMMISSION: SHOW_BACKENDS,
    StepKind.DROP_BACKEND: SHOW_BACKENDS,
    StepKind.FORCE_DROP_BACKEND: SHOW_BACKENDS,
    StepKind.ADD_COMPUTE_NODE: SHOW_COMPUTE_NODES,
    StepKind.DROP_COMPUTE_NODE: SHOW_COMPUTE_NODES,
    StepKind.BLACKLIST_COMPUTE_NODE: SHOW_COMPUTE_NODES,
    StepKind.UNBLACKLIST_COMPUTE_NODE: SHOW_COMPUTE_NODES,
}

ACCOUNT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")

_PLAIN: Mapping[str, re.Pattern[str]] = {
    "host:port": re.compile(r"[A-Za-z0-9._:\[\]-]+:[0-9]{1,5}"),
    "setting": re.compile(r"[a-z0-9_]+"),
    "warehouse": re.compile(r"[a-z][a-z0-9_]*"),
    "number": re.compile(r"[0-9]+"),
    "value": re.compile(r"[A-Za-z0-9_.-]*"),
    "parameter": re.compile(r"[A-Za-z0-9_.,:;/ @%+*=()\[\]<>|~^!?&#-]*"),
    "account": ACCOUNT_NAME,
    "list": re.compile("BACKEND|COMPUTE NODE"),
}

_ALREADY = ("already exists", "same host", "does not exist", "same backend already", "same compute node already")
_BUSY = ("failed to acquire globalstatemgr lock", "frontend name already exists")


def statement_of(step: Step) -> str:
    """The one statement that does the step. A target that is not plainly what it must be is refused, never quoted."""
    form = _FORMS[step.kind]
    setting = step.kind in SETTING_STEPS
    word = "setting" if setting else "warehouse" if step.kind == StepKind.DROP_WAREHOUSE else "host:port"
    _plainly(step.target, word)
    values = {"target": step.target} | {fact: step.fact(fact) for fact in ("to", "id", "within", "list")}
    if values["within"]:
        _plainly(values["within"], "warehouse")
        form += _WITHIN.get(step.kind, "")
    if setting:
        _plainly(values["to"], "parameter" if step.kind == StepKind.SET_FRONTEND_CONFIG else "value")
    if "{list}" in form:
        _plainly(values["list"], "list")
    if "{id}" in form:
        _plainly(values["id"], "number")
    return form.format(**values)


def account_statements(step: Step) -> tuple[str, ...]:
    """The statements that do a step on an account, with {hash} where the new password's hash belongs."""
    _plainly(step.target, "account")
    return tuple(form.replace("[user]", step.target) for form in _ACCOUNT_FORMS[step.kind])


def native_hash(password: str) -> str:
    """A password as mysql_native_password keeps it."""
    once = hashlib.sha1(password.encode(), usedforsecurity=False).digest()
    return "*" + hashlib.sha1(once, usedforsecurity=False).hexdigest().upper()


def read_of(step: Step) -> str:
    """The question that shows what a step is about."""
    if step.kind in SETTING_STEPS:
        _plainly(step.target, "setting")
        return SHOW_SETTING.format(key=step.target)
    return _READS[step.kind]


def _plainly(text: str, form: str) -> None:
    if not _PLAIN[form].fullmatch(text):
        message = f"{text!r} is not of the form {form}, so no statement is made of it."
        raise ValueError(message)


def means_already_so(error: str) -> bool:
    """Whether FE refused because the member is already there, or already gone. Then the rows decide."""
    lowered = error.lower()
    return not means_busy(error) and any(phrase in lowered for phrase in _ALREADY)


def means_busy(error: str) -> bool:
    """Whether FE only asks for a second attempt."""
    lowered = error.lower()
    return any(phrase in lowered for phrase in _BUSY)
