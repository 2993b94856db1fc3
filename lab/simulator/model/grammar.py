"""Which statements FE knows, how they are spelt, where they run and what they need. One table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache

from lab.simulator.model.outcome import syntax_error
from lab.simulator.model.version import Features


class Where(Enum):
    """Where a statement is executed when it arrives at a follower."""

    LOCAL = "local"
    LEADER = "leader"


@dataclass(frozen=True)
class Statement:
    kind: str
    where: Where
    privileges: tuple[str, ...] = ()
    arguments: Mapping[str, str | None] = field(default_factory=dict)

    def __getitem__(self, name: str) -> str:
        return self.arguments.get(name) or ""

    @property
    def targets(self) -> list[str]:
        return [first or second for first, second in re.findall(_STRING, self["targets"])]


_STRING = r"\"([^\"]*)\"|'([^']*)'"
_ONE = r"(?:\"[^\"]*\"|'[^']*')"
_MANY = rf"{_ONE}(?:\s*,\s*{_ONE})*"
_USER = r"(?:'[^']*'|\"[^\"]*\"|[\w-]+)(?:@(?:'[^']*'|\"[^\"]*\"|[\w%.]+))?"
_IN_WAREHOUSE = r"(?P<clause>\s+(?:INTO|FROM)\s+WAREHOUSE\s+(?P<warehouse>\w+)(?:\s+CNGROUP\s+\w+)?)?"
_PASSWORD_OR_HASH = rf"(?:PASSWORD ?\((?P<targets>{_ONE})\)|(?P<hash>{_ONE}))"
_IDENTIFIED = rf"IDENTIFIED (?:BY (?P<targets>{_ONE})|(?:WITH mysql_native_password AS|BY PASSWORD) (?P<hash>{_ONE}))"
_NODE, _LOOK = ("NODE",), ("OPERATE", "NODE")
_OPERATE, _GRANT, _BLACKLIST = ("OPERATE",), ("GRANT",), ("BLACKLIST",)

_TABLE: tuple[tuple[str, str, Where, tuple[str, ...]], ...] = (
    ("add_frontend", rf"ALTER SYSTEM ADD (?P<role>FOLLOWER|OBSERVER) (?P<targets>{_ONE})", Where.LEADER, _NODE),
    ("drop_frontend", rf"ALTER SYSTEM DROP (?P<role>FOLLOWER|OBSERVER) (?P<targets>{_ONE})", Where.LEADER, _NODE),
    ("modify_frontend", rf"ALTER SYSTEM MODIFY FRONTEND HOST (?P<targets>{_ONE} TO {_ONE})", Where.LEADER, _NODE),
    ("transfer_leader", rf"ALTER SYSTEM TRANSFER LEADER TO (?P<targets>{_ONE})(?: FORCE)?", Where.LEADER, _NODE),
    (
        "add_nodes",
        rf"ALTER SYSTEM ADD (?P<what>BACKEND|COMPUTE NODE) (?P<targets>{_MANY}){_IN_WAREHOUSE}",
        Where.LEADER,
        _NODE,
    ),
    (
        "drop_nodes",
        rf"ALTER SYSTEM DROP (?P<what>BACKEND|COMPUTE NODE) (?P<targets>{_MANY}){_IN_WAREHOUSE}(?P<force> FORCE)?",
        Where.LEADER,
        _NODE,
    ),
    ("create_warehouse", r"CREATE WAREHOUSE (?:IF NOT EXISTS )?(?P<warehouse>\w+)", Where.LEADER, _OPERATE),
    ("drop_warehouse", r"DROP WAREHOUSE (?:IF EXISTS )?(?P<warehouse>\w+)", Where.LEADER, _OPERATE),
    ("decommission", rf"ALTER SYSTEM DECOMMISSION BACKEND (?P<targets>{_MANY})", Where.LEADER, _NODE),
    ("cancel_decommission", rf"CANCEL DECOMMISSION BACKEND (?P<targets>{_MANY})", Where.LEADER, _NODE),
    ("create_image", r"ALTER SYSTEM CREATE IMAGE", Where.LEADER, _NODE),
    ("show_frontends", r"SHOW FRONTENDS", Where.LEADER, _LOOK),
    ("show_backends", r"SHOW BACKENDS", Where.LEADER, _LOOK),
    ("show_compute_nodes", r"SHOW COMPUTE NODES", Where.LEADER, _LOOK),
    ("show_proc", rf"SHOW PROC (?P<targets>{_ONE})", Where.LOCAL, _OPERATE),
    ("set_config", r"ADMIN SET FRONTEND CONFIG ?\((?P<pairs>.*)\)", Where.LEADER, _OPERATE),
    ("show_config", rf"ADMIN SHOW FRONTEND CONFIG(?: LIKE (?P<targets>{_ONE}))?", Where.LOCAL, _OPERATE),
    ("set_password", rf"SET PASSWORD (?:FOR (?P<user>{_USER}) )?= {_PASSWORD_OR_HASH}", Where.LEADER, ()),
    ("alter_user", rf"ALTER USER (?P<user>{_USER}) {_IDENTIFIED}", Where.LEADER, _GRANT),
    (
        "create_user",
        rf"CREATE USER (?P<exists>IF NOT EXISTS )?(?P<user>{_USER})(?: {_IDENTIFIED})?",
        Where.LEADER,
        _GRANT,
    ),
    ("drop_user", rf"DROP USER (?P<exists>IF EXISTS )?(?P<user>{_USER})", Where.LEADER, _GRANT),
    ("create_role", r"CREATE ROLE (?P<exists>IF NOT EXISTS )?(?P<role>\w+)", Where.LEADER, _GRANT),
    ("grant_system", r"GRANT (?P<what>[\w, ]+) ON SYSTEM TO ROLE (?P<role>\w+)", Where.LEADER, _GRANT),
    ("grant_roles", rf"GRANT (?P<what>[\w, ]+) TO (?:USER )?(?P<user>{_USER})", Where.LEADER, _GRANT),
    ("default_role", rf"SET DEFAULT ROLE (?P<what>[\w, ]+?) TO (?P<user>{_USER})", Where.LEADER, ()),
    ("set_role", r"SET ROLE (?P<what>[\w, ]+)", Where.LOCAL, ()),
    ("current_version", r"SELECT CURRENT_VERSION ?\( ?\)(?: AS \w+)?", Where.LOCAL, ()),
    ("select_one", r"SELECT (?P<number>\d+)", Where.LOCAL, ()),
    ("select_variable", r"SELECT @@(?:SESSION\.|GLOBAL\.)?(?P<variable>\w+)(?: LIMIT \d+)?", Where.LOCAL, ()),
    ("count_rows", r"SELECT COUNT ?\( ?\* ?\) FROM (?P<db>\w+)\.(?P<table>\w+)", Where.LOCAL, ()),
    (
        "blacklist",
        r"(?P<verb>ADD|DELETE) (?P<what>BACKEND|COMPUTE NODE) BLACKLIST (?P<ids>\d+(?:\s*,\s*\d+)*)",
        Where.LOCAL,
        _BLACKLIST,
    ),
    ("show_blacklist", r"SHOW (?P<what>BACKEND|COMPUTE NODE) BLACKLIST", Where.LOCAL, _BLACKLIST),
    ("show_backup", r"SHOW BACKUP(?: (?:FROM|IN) (?P<db>\w+))?", Where.LEADER, ()),
    ("show_restore", r"SHOW RESTORE(?: (?:FROM|IN) (?P<db>\w+))?", Where.LOCAL, ()),
    ("show_databases", r"SHOW DATABASES", Where.LOCAL, ()),
    (
        "most_replicas",
        r"SELECT (?P<which>MAX|MIN) ?\( ?REPLICATION_NUM ?\) AS (?P<alias>\w+) FROM information_schema\.partitions_meta"
        r"(?: WHERE DB_NAME <> '(?P<db>\w+)')?",
        Where.LOCAL,
        (),
    ),
    ("set_variable", r"SET (?:SESSION |GLOBAL )?(?:@@)?(?P<variable>\w+) ?= ?(?P<value>.+)", Where.LOCAL, ()),
    ("ignored", r"(?:SET NAMES .*|USE \w+|COMMIT|ROLLBACK|SHOW WARNINGS)", Where.LOCAL, ()),
)
# A blank in a pattern stands for any white space.
_PATTERNS = tuple(
    (
        kind,
        re.compile(pattern.replace(" ", r"\s+").replace(r"\s+?", r"\s*"), re.IGNORECASE | re.DOTALL),
        where,
        privileges,
    )
    for kind, pattern, where, privileges in _TABLE
)
# These roots of SHOW PROC are the leader's everywhere (reference: starrocks-sql §1).
_FORWARDED_PROC = ("/cluster_balance", "/routine_loads", "/transactions")


@lru_cache(maxsize=1024)
def parse(sql: str, features: Features) -> Statement:
    text = re.sub(r"/\*.*?\*/", " ", sql, flags=re.DOTALL).strip().rstrip(";").strip()
    for kind, pattern, where, privileges in _PATTERNS:
        found = pattern.fullmatch(text)
        if found is None:
            continue
        statement = Statement(kind, where, privileges, found.groupdict())
        if kind == "transfer_leader" and not features.transfer_leader:
            break
        if kind.endswith("blacklist") and not _has_blacklist(statement["what"], features):
            break
        if statement["clause"] and not features.warehouse_clause:
            break
        if kind == "show_proc" and statement.targets[0].startswith(_FORWARDED_PROC):
            return Statement(kind, Where.LEADER, privileges, found.groupdict())
        return statement
    raise syntax_error(sql)


def _has_blacklist(what: str, features: Features) -> bool:
    return features.backend_blacklist if what.upper() == "BACKEND" else features.compute_node_blacklist


_PASSWORDS = re.compile(
    rf"(PASSWORD\s*\(\s*|PASSWORD(?:\s+FOR\s+{_USER})?\s*=\s*|IDENTIFIED\s+BY\s+(?:PASSWORD\s+)?|_PASSWORD\s+AS\s+){_ONE}",
    re.IGNORECASE,
)


def redacted(sql: str) -> str:
    """The statement as it may be logged."""
    return _PASSWORDS.sub(r"\1'***'", sql)


def user_name(text: str) -> str:
    return text.split("@")[0].strip("'\"")
