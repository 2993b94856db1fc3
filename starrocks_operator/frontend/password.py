"""The password of FE's user root, out of the object that the CR names."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from starrocks_operator.frontend.endpoints import Credentials
from starrocks_operator.objects import References


class PasswordError(Exception):
    """The password cannot be read; the message says why, in a sentence."""


def password_holder(wanted: References) -> tuple[str, str] | None:
    """Kind and name of the object that holds the password; None if none is needed."""
    source = wanted.password
    if source is None or not (source.secret or source.config_map):
        return None
    return ("Secret", source.secret) if source.secret else ("ConfigMap", source.config_map)


def credentials_of(wanted: References, holder: Mapping[str, Any] | None) -> Credentials:
    """The root account. holder: the object that `password_holder` names, None if it does not exist."""
    source = wanted.password
    named = password_holder(wanted)
    if source is None or named is None:
        return Credentials(password=source.value if source else "")
    kind, name = named
    value = ((holder or {}).get("data") or {}).get(source.key)
    if value is None:
        if source.optional:
            return Credentials()
        lack = "does not exist" if holder is None else f"has no key {source.key}"
        message = f"{kind} {name}, which MYSQL_PWD of the frontends refers to, {lack}."
        raise PasswordError(message)
    try:
        return Credentials(password=base64.b64decode(value).decode() if kind == "Secret" else str(value))
    except (binascii.Error, UnicodeDecodeError):
        message = f"The password in {kind} {name}, key {source.key}, is no UTF-8 text."
        raise PasswordError(message) from None
