"""The Python half of the rules: small functions that look at one value and name the culprit.

Each returns None when the value is fine, else the name of the offending part ("" when there is nothing to name).
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from starrocks_operator.model.quantity import parse_quantity
from starrocks_operator.model.rules.rule import Judge

Raw = Mapping[str, Any]


def always(_value: Any) -> None:
    """Nothing to find in the value by itself."""


def must(predicate: Callable[[Any], bool]) -> Judge:
    """A judge without a culprit: the value itself is wrong."""
    return lambda value: None if predicate(value) else ""


def matches(pattern: str) -> Judge:
    """The whole text must match."""
    return must(lambda text: re.fullmatch(pattern, text) is not None)


def one_of(*choices: str) -> Judge:
    """The text must be one of these, or empty."""
    return must(lambda text: text in ("", *choices))


def unique(key: str) -> Judge:
    """No two items may have the same value under a key; absent, empty and zero do not count."""

    def judge(items: Sequence[Raw]) -> str | None:
        counted = Counter(value for item in items if (value := item.get(key)))
        return next((str(value) for value, count in counted.items() if count > 1), None)

    return judge


def wrong_resource(quantities: Raw) -> str | None:
    """A key that is no resource name of Kubernetes."""
    standard = ("cpu", "memory", "ephemeral-storage", "storage")
    return next(
        (key for key in quantities if key not in standard and not key.startswith("hugepages-") and "/" not in key), None
    )


def shared_mount_path(component: Raw) -> str | None:
    """A mount path used by entries of two different lists."""
    lists = ("storageVolumes", "configMaps", "secrets")
    paths: list[set[str]] = [{item.get("mountPath", "") for item in component.get(name) or ()} - {""} for name in lists]
    for index, mine in enumerate(paths):
        for others in paths[index + 1 :]:
            if shared := sorted(mine & others):
                return shared[0]
    return None


def shrunk_volume(new: Sequence[Raw], old: Sequence[Raw]) -> str | None:
    """A volume whose size became smaller."""
    before = {volume.get("name"): parse_quantity(volume.get("storageSize", "")) for volume in old}
    for volume in new:
        size, was = parse_quantity(volume.get("storageSize", "")), before.get(volume.get("name"))
        if size is not None and was is not None and size < was:
            return str(volume["name"])
    return None


def is_claim_or_sized(volume: Raw) -> bool:
    """A volume that becomes a claim must say its size."""
    special = str(volume.get("storageClassName") or "").lower() in ("emptydir", "hostpath")
    return special or "storageSize" in volume or "hostPath" in volume


def is_size(text: str) -> bool:
    """A quantity that is not negative."""
    size = parse_quantity(text)
    return size is not None and size >= 0


def is_port(value: int) -> bool:
    """A TCP port."""
    return 1 <= value <= 65535


def exposes_traffic_policy(service: Raw) -> bool:
    """externalTrafficPolicy is for Services that are reached from outside."""
    return not service.get("externalTrafficPolicy") or service.get("type") in ("NodePort", "LoadBalancer")


def is_positive_count(value: int | str) -> bool:
    """A count or percentage that does not start with 0."""
    return value >= 1 if isinstance(value, int) else not str(value).startswith("0")  # an older object may hold anything
