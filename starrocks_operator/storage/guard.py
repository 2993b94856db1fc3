"""What stands between a changed spec and the data: the volumes that a StatefulSet was made with, and pods without any.

- Claims of an existing StatefulSet cannot be changed in place. A grown size is kept as it was and reported. Any other
  difference (a volume removed, added, or of another class) would give pods an empty directory where their data was, or
  be refused by Kubernetes at every later change: the component is held until spec and claims agree.
- Where metadata or tablets lie in an emptyDir, replacing a pod loses them. A changed pod template is held unless the
  frontends can be taken in again one by one, or the backends hold no tablet, or the owner consents by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starrocks_operator.components import COMPONENTS, Component
from starrocks_operator.decision import Finding
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.model.quantity import parse_quantity
from starrocks_operator.objects import drift
from starrocks_operator.objects.metadata import TEMPLATE_HASH
from starrocks_operator.objects.volumes import Claim, claims_of
from starrocks_operator.observed import FrontendView, Raw

LOSS_CONSENT = "starrocks.com/accept-data-loss-at-generation"
REJOINING_FRONTENDS = 3  # so many, all alive, can lose one after the other and take each in again

Object = Mapping[str, Any]


@dataclass(frozen=True)
class Guarded:
    """What the guard found. held: components that may not be applied, each with the reason."""

    held: Mapping[str, str]
    findings: tuple[Finding, ...]


def guarded(
    cluster: StarRocksCluster,
    *,
    wanted: Mapping[str, Sequence[Object]],
    live: Mapping[str, Raw],
    view: FrontendView | None,
    founded: bool,
) -> Guarded:
    """Compare each component's wanted StatefulSet with the live one; `wanted` and `live` are by component.

    founded: whether there is a cluster that could lose anything.
    """
    held: dict[str, str] = {}
    findings: list[Finding] = []
    for name, stateful_set in live.items():
        component = COMPONENTS[name]
        desired = next((item for item in wanted.get(name, ()) if item["kind"] == "StatefulSet"), None)
        if desired is None:
            continue
        found = [*_claims(cluster, component, desired, stateful_set)]
        if founded:
            found += _volatile(cluster, component, desired, stateful_set, view)
        for finding in found:
            findings.append(finding)
            if finding.degraded:
                held.setdefault(name, finding.message)
    return Guarded(held=held, findings=tuple(findings))


def _claims(cluster: StarRocksCluster, component: Component, desired: Object, stateful_set: Raw) -> Iterator[Finding]:
    spec = next((spec for name, spec in cluster.spec.components.items() if name == component.name), None)
    asked = {claim.name: claim for claim in claims_of(spec)} if spec else {}
    wanted, live = _templates(desired), _templates(stateful_set)
    for name in sorted(wanted.keys() | live.keys()):
        trouble = _difference(wanted.get(name), live.get(name))
        if trouble:
            yield Finding(
                reason="VolumeChangeNotSupported",
                message=f"Volume {name} of the {component.title}s {trouble}. The volumes of existing pods cannot be "
                f"changed yet, and the data on them would be lost: nothing of the {component.title}s is applied until "
                "the spec says what they were made with.",
                degraded=True,
            )
        elif name in asked and name in live and not same_size(asked[name], live[name]):
            yield Finding(
                reason="VolumeGrowthNotSupported",
                message=f"Volume {name} of the {component.title}s was made with {live[name].size} and shall have "
                f"{asked[name].size}: growing volumes is not supported yet. Its size stays; all else is applied.",
            )


def _difference(wanted: Claim | None, live: Claim | None) -> str:
    if wanted is None or live is None:
        return "is new" if live is None else "is no longer in the spec as a volume of its own"
    if wanted.storage_class is not None and wanted.storage_class != live.storage_class:
        return f"shall have storage class {wanted.storage_class!r} and was made with {live.storage_class!r}"
    return ""


def same_size(one: Claim, other: Claim) -> bool:
    """Kubernetes writes quantities in its own way: 1024Mi comes back as 1Gi."""
    return one.size == other.size or parse_quantity(one.size) == parse_quantity(other.size) is not None


def _templates(stateful_set: Raw) -> dict[str, Claim]:
    templates = (stateful_set.get("spec") or {}).get("volumeClaimTemplates") or ()
    return {claim.name: claim for claim in map(Claim.of, templates)}


def _volatile(
    cluster: StarRocksCluster, component: Component, desired: Object, stateful_set: Raw, view: FrontendView | None
) -> Iterator[Finding]:
    danger = _danger(component, stateful_set, view)
    if not danger or not template_changes(desired, stateful_set):
        return
    if cluster.annotations.get(LOSS_CONSENT) == str(cluster.generation):
        return
    yield Finding(
        reason="VolatileStorage",
        message=f"The pods of the {component.title}s would be replaced, and what they hold lies in an emptyDir: "
        f"{danger}. Nothing of the {component.title}s is applied. Undo the change; or, if the data may be lost, set "
        f'the annotation {LOSS_CONSENT}: "{cluster.generation}".',
        degraded=True,
    )


def _danger(component: Component, stateful_set: Raw, view: FrontendView | None) -> str:
    """What would be lost with the pods of this StatefulSet; empty: nothing."""
    if not _on_empty_dir(component, stateful_set):
        return ""
    if component.name == "fe":
        rows = (view.frontends if view else None) or ()
        followers = [row for row in rows if row.role in ("LEADER", "FOLLOWER")]
        if len(followers) >= REJOINING_FRONTENDS and all(row.alive for row in followers):
            return ""
        return "with fewer than three living frontends the cluster's metadata would be gone"
    if view is None or view.backends is None:
        return "how many tablets they hold is unknown"
    tablets = sum(row.tablets or 0 for row in view.backends)
    return f"{tablets} tablet replicas are counted on backends" if tablets else ""


def _on_empty_dir(component: Component, stateful_set: Raw) -> bool:
    suffixes = tuple(
        f"-{suffix}" for volume in component.default_volumes if volume.precious for suffix in volume.suffixes
    )
    pod = ((stateful_set.get("spec") or {}).get("template") or {}).get("spec") or {}
    return any("emptyDir" in volume and volume["name"].endswith(suffixes) for volume in pod.get("volumes") or ())


def template_changes(desired: Object, stateful_set: Raw) -> bool:
    """Whether applying would replace pods. What we applied last is known by its hash; of another operator's
    StatefulSet only what we would add or change can be seen."""
    recorded = (stateful_set["metadata"].get("annotations") or {}).get(TEMPLATE_HASH)
    if recorded is not None:
        return bool(recorded != desired["metadata"]["annotations"][TEMPLATE_HASH])
    live, wanted = stateful_set["spec"].get("template") or {}, desired["spec"]["template"]
    return drift.missing({"template": live}, {"template": wanted}) is not None
