"""Whether a live object still has everything we want of it, though the API server has added its defaults.

Only what is wanted is looked at. Empty counts as absent, since the API server drops it; quantities are compared by
value, since it rewrites them; items of lists are found by what names them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

_NAMING_KEYS = ("mountPath", "containerPort", "name", "uid")
_QUANTITY_MAPS = frozenset({"requests", "limits"})
_QUANTITY_FIELDS = frozenset({"storage", "value", "averageValue", "divisor", "sizeLimit"})
_MARKERS = frozenset({"emptyDir"})  # an empty map that says something by being there
# Fields behind feature gates: a server without the feature takes the object and silently leaves them out.
_MAY_BE_LEFT_OUT = frozenset(
    {(".rollingUpdate", ".maxUnavailable"), (".resources", ".claims"), (".lifecycle", ".stopSignal")}
)
_SPEAKABLE = frozenset({"image", "serviceName", "type"})  # strings that may be told; others may be secrets
_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d+)|([KMGTPE]i|[numkMGTPE]))?")
_SUFFIXES = {
    **{suffix: Decimal(1024) ** power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)},
    **{suffix: Decimal(1000) ** power for power, suffix in enumerate("num", -3)},
    **{suffix: Decimal(1000) ** power for power, suffix in enumerate(("", *"kMGTPE"))},
}

Path = tuple[str, ...]


def missing(live: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
    """Path and words of the first wanted field that the live object does not have; None if it has all."""
    return next(_differences(live, wanted, ()), None)


def _differences(live: Any, wanted: Any, path: Path) -> Iterator[str]:
    if _empty(wanted, path) and _empty(live, path):
        return
    match wanted:
        case Mapping():
            yield from _in_map(live, wanted, path)
        case str():
            if live != wanted and not (_is_quantity(path) and _same_quantity(live, wanted)):
                yield _words(live, wanted, path)
        case Sequence():
            yield from _in_list(live, wanted, path)
        case _:
            same = live == wanted and isinstance(live, bool) == isinstance(wanted, bool)
            if not same and not (_is_quantity(path) and _same_quantity(live, wanted)):
                yield _words(live, wanted, path)


def _in_map(live: Any, wanted: Mapping[str, Any], path: Path) -> Iterator[str]:
    if not isinstance(live, Mapping):
        # A map of nothing but empties may be dropped, unless its being there says something.
        if live is not None or _marks(path) or any(_differences({}, wanted, path)):
            yield _words(live, wanted, path)
        return
    for key, value in wanted.items():
        left_out = key not in live and (*path[-1:], f".{key}") in _MAY_BE_LEFT_OUT
        if value is not None and not left_out:
            yield from _differences(live.get(key), value, (*path, f".{key}"))


def _in_list(live: Any, wanted: Sequence[Any], path: Path) -> Iterator[str]:
    if not isinstance(live, Sequence) or isinstance(live, str):
        yield _words(live, wanted, path)
        return
    if (key := _naming_key(wanted)) is not None:
        found = {item[key]: item for item in live if isinstance(item, Mapping) and key in item}
        for item in wanted:
            yield from _differences(found.get(item[key]), item, (*path, f"[{item[key]}]"))
        return
    if len(live) != len(wanted):
        yield f"{_spelled(path)} has {len(live)} items instead of {len(wanted)}"
        return
    for index, (there, item) in enumerate(zip(live, wanted, strict=True)):
        yield from _differences(there, item, (*path, f"[{index}]"))


def _naming_key(items: Sequence[Any]) -> str | None:
    """The key that tells the items of a list apart."""
    if not all(isinstance(item, Mapping) for item in items):
        return None
    for key in _NAMING_KEYS:
        names = [item.get(key) for item in items]
        if all(isinstance(name, str | int) for name in names) and len(set(names)) == len(names):
            return key
    return None


def _empty(value: Any, path: Path) -> bool:
    if value is None:
        return True
    if _marks(path):
        return False
    return value is False or (not isinstance(value, bool) and value in (0, "", (), [], {}))


def _marks(path: Path) -> bool:
    return bool(path) and path[-1][1:] in _MARKERS


def _is_quantity(path: Path) -> bool:
    return path[-1][1:] in _QUANTITY_FIELDS or (len(path) > 1 and path[-2][1:] in _QUANTITY_MAPS)


def _same_quantity(live: Any, wanted: Any) -> bool:
    values = _quantity(live), _quantity(wanted)
    return values[0] is not None and values[0] == values[1]


def _quantity(value: Any) -> Decimal | None:
    """What a quantity is worth: "1000m" and "1" are the same."""
    match = _QUANTITY.fullmatch(str(value))
    if match is None:
        return None
    number, exponent, suffix = match.groups()
    if exponent is not None:
        return Decimal(number).scaleb(int(exponent)) if len(exponent) < 4 else None
    return Decimal(number) * _SUFFIXES[suffix or ""]


def _words(live: Any, wanted: Any, path: Path) -> str:
    where = _spelled(path)
    if live is None:
        return f"{where} is missing"
    tellable = isinstance(wanted, bool | int) or path[-1][1:] in _SPEAKABLE
    if tellable and not isinstance(live, Mapping):
        return f"{where} is {live!r} instead of {wanted!r}"
    return f"{where} differs"


def _spelled(path: Path) -> str:
    return "".join(path).removeprefix(".")
