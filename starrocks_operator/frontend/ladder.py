"""The logins that a cluster gives the operator, in the order in which they are tried; out of the objects it names.

The account of its own first, then root: with the password named now, with the one before (remembered, or kept in the
Secret beside it), and, as long as FE never accepted a password, with none, as FE is born.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from starrocks_operator.frontend.endpoints import Credentials
from starrocks_operator.frontend.password import PasswordError, credentials_of, password_holder
from starrocks_operator.frontend.statements import ACCOUNT_NAME
from starrocks_operator.frontend.tls import Tls, TlsMode
from starrocks_operator.membership.accounts import ROOT, verified
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.references import References, TlsSource
from starrocks_operator.observed import Accounts, Login

DEFAULT_ACCOUNT = "starrocks_operator"
PREVIOUS = ".previous"

Raw = Mapping[str, Any]
Holders = Mapping[tuple[str, str], Raw | None]
"""The Secrets and ConfigMaps of `holders_of`, by kind and name; None: it does not exist."""


@dataclass(frozen=True, kw_only=True)
class Former:
    """Passwords that FE accepted before the Secrets changed, as somebody remembers them."""

    root: str = field(default="", repr=False)
    operator: str = field(default="", repr=False)


@dataclass(frozen=True, kw_only=True)
class Ladder:
    """credentials: None: there are none, and `problem` says why."""

    credentials: Credentials | None = None
    accounts: Accounts = field(default_factory=Accounts)
    problem: str = ""


NOTHING_FORMER = Former()


def holders_of(wanted: References) -> tuple[tuple[str, str], ...]:
    """Kind and name of all objects whose content is needed to log in."""
    found = [password_holder(wanted), ("Secret", wanted.operator_account), (wanted.tls.kind, wanted.tls.name)]
    return tuple(sorted({one for one in found if one is not None and one[1]}))


def ladder(
    cluster: StarRocksCluster,
    wanted: References,
    holders: Holders,
    *,
    former: Former = NOTHING_FORMER,
    default_tls: str = TlsMode.DISABLED,
) -> Ladder:
    """All logins, TLS, and what may be told of them."""
    own, own_problem = _own(wanted, holders)
    root, source, problem = _root(cluster, wanted, holders)
    rungs = _own_rungs(own, wanted, holders, former)
    if root is not None:
        rungs += _root_rungs(cluster, root, wanted, holders, former)
    accounts = Accounts(
        root=source,
        operator=_version(("Secret", wanted.operator_account), holders) if own else "",
        user=own.user if own else "",
        unusable=_unusable(own, "the operator's own account") or _unusable(root, "user root"),
        problem=own_problem,
    )
    try:
        tls = _tls(wanted.tls, holders, default_tls)
    except PasswordError as failure:
        return Ladder(accounts=accounts, problem=str(failure))
    if not rungs:
        return Ladder(accounts=accounts, problem=problem)
    versions = [accounts.operator, accounts.root, _version((wanted.tls.kind, wanted.tls.name), holders), tls.mode]
    edition = " ".join([str(cluster.key), cluster.uid, *versions, *(rung.login for rung in rungs)])
    first = replace(rungs[0], others=tuple(rungs[1:]), edition=edition, tls=tls)
    return Ladder(credentials=first, accounts=accounts)


def _own(wanted: References, holders: Holders) -> tuple[Credentials | None, str]:
    """The operator's own account, or why there is none."""
    name = wanted.operator_account
    if not name:
        return None, ""
    raw = holders.get(("Secret", name))
    if raw is None:
        return None, f"Secret {name} does not exist."
    try:
        user, password = _text(raw, "username") or DEFAULT_ACCOUNT, _text(raw, "password")
    except ValueError:
        return None, f"Secret {name} holds what is no UTF-8 text."
    if not password:
        return None, f"Secret {name} has no key password, or an empty one."
    if not ACCOUNT_NAME.fullmatch(user) or user.lower() == ROOT:
        return None, f"{user!r}, in Secret {name}, is no name for it: letters, digits, . _ and -, and not root."
    return Credentials(user=user, password=password, login=Login.ACCOUNT), ""


def _root(cluster: StarRocksCluster, wanted: References, holders: Holders) -> tuple[Credentials | None, str, str]:
    """Root's login, where its password is, and why there is none."""
    holder = password_holder(wanted)
    try:
        root = credentials_of(wanted, holders.get(holder) if holder else None)
    except PasswordError as failure:
        return None, "", str(failure)
    if not root.password:
        return root, "", ""
    source = _version(holder, holders) if holder else f"MYSQL_PWD in the spec@{cluster.generation}"
    return root, source, ""


def _own_rungs(own: Credentials | None, wanted: References, holders: Holders, former: Former) -> list[Credentials]:
    if own is None:
        return []
    kept = _kept(holders.get(("Secret", wanted.operator_account)), "password")
    return [own, *_former(own, former.operator or kept, Login.ACCOUNT_FORMER)]


def _root_rungs(
    cluster: StarRocksCluster, root: Credentials, wanted: References, holders: Holders, former: Former
) -> list[Credentials]:
    holder, source = password_holder(wanted), wanted.password
    kept = _kept(holders.get(holder), source.key) if holder and source and holder[0] == "Secret" else ""
    rungs = [root, *_former(root, former.root or kept, Login.FORMER)]
    if root.password and not verified(cluster)["root"]:
        rungs.append(replace(root, password="", login=Login.EMPTY))
    return rungs


def _former(now: Credentials, password: str, login: Login) -> list[Credentials]:
    return [replace(now, password=password, login=login)] if password and password != now.password else []


def _kept(raw: Raw | None, key: str) -> str:
    """The password before, if its owner keeps it in the Secret."""
    try:
        return _text(raw or {}, key + PREVIOUS)
    except ValueError:
        return ""


def _text(raw: Raw, key: str) -> str:
    value = (raw.get("data") or {}).get(key) or ""
    try:
        return base64.b64decode(value).decode()
    except binascii.Error as failure:
        raise ValueError(key) from failure


def _version(holder: tuple[str, str], holders: Holders) -> str:
    raw = holders.get(holder)
    return f"{holder[0]} {holder[1]}@{(raw.get('metadata') or {}).get('resourceVersion', '')}" if raw else ""


def _unusable(who: Credentials | None, whose: str) -> str:
    if who is None or who.password.isprintable():
        return ""
    return f"The password of {whose} holds a line break or another character that nobody can type."


def _tls(wanted: TlsSource, holders: Holders, default: str) -> Tls:
    if wanted.problem:
        raise PasswordError(wanted.problem)
    mode = wanted.mode or default
    if mode not in set(TlsMode):
        message = f"Annotation starrocks.com/fe-ssl-mode is {mode!r}: write one of {', '.join(TlsMode)}."
        raise PasswordError(message)
    if not wanted.name:
        return Tls(mode=TlsMode(mode))
    raw = holders.get((wanted.kind, wanted.name))
    try:
        text = (
            _text(raw or {}, wanted.key)
            if wanted.kind == "Secret"
            else str((raw or {}).get("data", {}).get(wanted.key, ""))
        )
    except ValueError:
        text = ""
    if "-----BEGIN CERTIFICATE-----" not in text:
        message = (
            f"The CA of FE's certificates cannot be read: {wanted.kind} {wanted.name} has no PEM under {wanted.key}."
        )
        raise PasswordError(message)
    return Tls(mode=TlsMode(mode), ca=text)
