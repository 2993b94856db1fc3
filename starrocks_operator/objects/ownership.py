"""Who owns which field of an object, and how the official operator's share becomes ours, once, at adoption.

An object that another operator wrote with plain updates keeps that operator as the owner of its fields. Applying over
it would share them: whatever the user removes later would stay, since its other owner still wants it. So the entry of
the old owner is made ours before the first apply, and that apply then removes what nobody wants any more.

Source: Kubernetes' documentation, "Server-Side Apply": transferring ownership; reference, starrocks-operator §2.2.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

from starrocks_operator.objects.metadata import APPLIED_HASH, OWNER_LABEL

FIELD_MANAGER = "starrocks-operator"
Raw = Mapping[str, Any]
_ABSENT = object()


def is_adopted(live: Raw) -> bool:
    """Whether the object was made by somebody else, and was never applied by us."""
    return APPLIED_HASH not in ((live.get("metadata") or {}).get("annotations") or {})


def former_share(managed: Sequence[Raw]) -> dict[str, Any]:
    """The fields of the operator that made the object: it is the one that put the owner's label on it."""
    share: dict[str, Any] = {}
    for entry in _entries_of_maker(managed):
        share = _united(share, entry.get("fieldsV1") or {})
    return share


def taken_over(managed: Sequence[Raw], *, api_version: str) -> list[dict[str, Any]] | None:
    """managedFields with the maker's share made ours; None: there is no such share."""
    makers = _entries_of_maker(managed)
    if not makers:
        return None
    ours = [entry for entry in managed if _is_ours(entry)]
    share = former_share(managed)
    for entry in ours:
        share = _united(share, entry.get("fieldsV1") or {})
    others = [dict(entry) for entry in managed if entry not in makers and entry not in ours]
    entry = {
        "manager": FIELD_MANAGER,
        "operation": "Apply",
        "apiVersion": api_version,
        "time": max(str(entry.get("time", "")) for entry in makers),
        "fieldsType": "FieldsV1",
        "fieldsV1": share,
    }
    return [*others, entry]


def without_unwanted(live: Raw, share: Raw, wanted: Raw) -> dict[str, Any]:
    """What is left of an object when the fields of `share` that `wanted` does not have are removed."""
    left: dict[str, Any] = copy.deepcopy(dict(live))
    _remove(left, share, wanted)
    return left


def with_removals(wanted: Raw, share: Raw) -> dict[str, Any]:
    """`wanted` as a strategic merge patch that also removes the fields of `share` which it does not have.

    Where only one of several fields may be there, as of a probe's handlers, applying alone would leave two.
    """
    patch: dict[str, Any] = copy.deepcopy(dict(wanted))
    _null(patch, share)
    return patch


def _entries_of_maker(managed: Sequence[Raw]) -> list[Raw]:
    updates = [entry for entry in managed if entry.get("operation") == "Update" and not entry.get("subresource")]
    makers = {entry.get("manager") for entry in updates if _made(entry)}
    return [entry for entry in updates if entry.get("manager") in makers]


def _made(entry: Raw) -> bool:
    metadata = (entry.get("fieldsV1") or {}).get("f:metadata") or {}
    return f"f:{OWNER_LABEL}" in (metadata.get("f:labels") or {})


def _is_ours(entry: Raw) -> bool:
    return entry.get("manager") == FIELD_MANAGER and entry.get("operation") == "Apply" and not entry.get("subresource")


def _united(one: Raw, other: Raw) -> dict[str, Any]:
    united = dict(one)
    for key, fields in other.items():
        united[key] = _united(united.get(key) or {}, fields)
    return united


def _remove(live: Any, share: Raw, wanted: Any) -> None:
    """In place. Keys: `f:` a field, `k:` the list item with these values, `v:` a value of a list."""
    for key, below in share.items():
        kind, _, name = key.partition(":")
        if kind not in ("f", "k", "v"):
            continue
        place, found = _find(live, kind, name)
        if found is _ABSENT:
            continue
        wished = _find(wanted, kind, name)[1]
        if set(below) - {"."}:
            _remove(found, below, None if wished is _ABSENT else wished)
        emptied = found in ({}, []) and "." in below
        if wished is _ABSENT and (not below or emptied):
            del live[place]


def _null(patch: Any, share: Raw) -> None:
    for key, below in share.items():
        kind, _, name = key.partition(":")
        place, found = _find(patch, kind, name) if kind in ("f", "k") else (None, None)
        if kind == "f" and found is _ABSENT and isinstance(patch, dict):
            patch[place] = None
        elif isinstance(found, (dict, list)) and found:
            _null(found, below)


def _find(value: Any, kind: str, name: str) -> tuple[Any, Any]:
    """Where it is, and what is there."""
    if kind == "f":
        return name, value.get(name, _ABSENT) if isinstance(value, Mapping) else _ABSENT
    if not isinstance(value, Sequence) or isinstance(value, str):
        return None, _ABSENT
    sought = json.loads(name)
    for place, item in enumerate(value):
        if kind == "v" and item == sought:
            return place, item
        if kind == "k" and isinstance(item, Mapping) and sought.items() <= _with_protocol(item).items():
            return place, item
    return None, _ABSENT


def _with_protocol(item: Raw) -> dict[str, Any]:
    """Ports are told apart by protocol, too, which is TCP when nothing is said."""
    return {"protocol": "TCP", **item}
