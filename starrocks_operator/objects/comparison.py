"""What differs between two versions of an object, field by field, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_NAMING_KEYS = ("name", "mountPath", "containerPort", "uid", "port")
_LONGEST = 80
_ABSENT = object()


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """One line for each field: `spec.replicas: 3 → 2`. An object that is not there has no fields."""
    return tuple(_changes(before, after, ""))


def _changes(before: Any, after: Any, path: str) -> Iterator[str]:
    if before == after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in (*before, *(key for key in after if key not in before)):
            below = f"{path}.{key}" if path else str(key)
            yield from _changes(before.get(key, _ABSENT), after.get(key, _ABSENT), below)
        return
    key = _naming_key(before, after)
    if key is not None:
        one, other = ({str(item[key]): item for item in items} for items in (before, after))
        for name in (*one, *(name for name in other if name not in one)):
            yield from _changes(one.get(name, _ABSENT), other.get(name, _ABSENT), f"{path}[{name}]")
        if list(one) != list(other) and set(one) == set(other):
            yield f"{path}: in another order"
        return
    yield f"{path}: {_told(before)} → {_told(after)}"


def _naming_key(before: Any, after: Any) -> str | None:
    """What tells the items of both lists apart, if anything does."""
    if not (_is_list(before) and _is_list(after)):
        return None
    items = (*before, *after)
    if not items or not all(isinstance(item, Mapping) for item in items):
        return None
    for key in _NAMING_KEYS:
        if all(key in item for item in items) and all(
            len({item[key] for item in each}) == len(each) for each in (before, after)
        ):
            return key
    return None


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _told(value: Any) -> str:
    if value is _ABSENT:
        return "absent"
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
