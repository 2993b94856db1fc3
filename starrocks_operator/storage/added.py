"""Volumes that a component is to have besides those it was made with, told from its StatefulSet's claim templates.

While its pods get them one by one, the StatefulSet *rests* at the claims that it was made with: a pod may have more
volumes than that, and not fewer. It has the new ones, too, only while one pod is made anew; then they are *offered*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starrocks_operator.objects.volumes import Claim
from starrocks_operator.observed import Raw

OFFERED_VOLUMES = "starrocks.com/volumes-offered"
"""Names of the claim templates that the StatefulSet has for one pod only, separated by commas."""


def claims_in(stateful_set: Raw) -> tuple[Claim, ...]:
    """What its claim templates ask for."""
    return tuple(map(Claim.of, _templates(stateful_set)))


def offered(live: Raw) -> tuple[str, ...]:
    """The volumes that are there for one pod only."""
    told = str((live["metadata"].get("annotations") or {}).get(OFFERED_VOLUMES, ""))
    return tuple(filter(None, told.split(",")))


def resting_templates(live: Raw) -> list[Mapping[str, Any]]:
    """The claim templates without those that are offered."""
    gone = offered(live)
    return [template for template in live_templates(live) if template["metadata"]["name"] not in gone]


def live_templates(live: Raw) -> list[Mapping[str, Any]]:
    """The claim templates as they are, without what the API server adds."""
    return [{field: dict(template.get(field) or {}) for field in ("metadata", "spec")} for template in _templates(live)]


def added(desired: Raw, live: Raw) -> tuple[str, ...]:
    """The volumes that are wanted, and not there at rest."""
    has = {template["metadata"]["name"] for template in _templates(live)} - set(offered(live))
    return tuple(claim.name for claim in claims_in(desired) if claim.name not in has)


def ungiven(desired: Raw, live: Raw) -> tuple[str, ...]:
    """New volumes that pods do not get, since their owner keeps the operator from replacing all of them. What is
    offered already is taken back first."""
    strategy = desired["spec"].get("updateStrategy") or {}
    rolling = strategy.get("rollingUpdate")
    floor = rolling.get("partition") if isinstance(rolling, Mapping) else 0
    owned = strategy.get("type") == "OnDelete" or bool(floor)
    return added(desired, live) if owned and not offered(live) else ()


def _templates(stateful_set: Raw) -> Sequence[Raw]:
    return (stateful_set.get("spec") or {}).get("volumeClaimTemplates") or ()
