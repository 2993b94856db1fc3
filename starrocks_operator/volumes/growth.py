"""Volumes that grow: each claim first, then the StatefulSet is made anew around its pods. No pod is touched.

A claim is told to grow whenever its spec asks for more, also during a roll or a scale-in: a full disk may be what they
wait for. The StatefulSet, whose claim templates cannot be changed, is made anew only when nothing else is going on:
it is written down (`objects.former`), deleted without its pods, and applied again from what was written down.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from starrocks_operator.components import COMPONENTS
from starrocks_operator.decision import Context, Finding
from starrocks_operator.membership import Outlook
from starrocks_operator.model import ComponentSpec, StarRocksCluster
from starrocks_operator.objects.former import is_remembered, kept_in, written_down
from starrocks_operator.objects.metadata import content_hash
from starrocks_operator.objects.volumes import Claim, claim_templates, claims_of
from starrocks_operator.observed import Observed, Raw
from starrocks_operator.rollout.roll import Roll
from starrocks_operator.rollout.shaping import shape_of
from starrocks_operator.step import Step, StepKind
from starrocks_operator.storage.claims import Growing, growing
from starrocks_operator.storage.retention import goes_with_it
from starrocks_operator.storage.sizes import is_larger

T = TypeVar("T")

PATIENT = 5.0


@dataclass(frozen=True, kw_only=True)
class Growth:
    """outlook: the next step, waits and findings. formers, shapes: for the Context. anew: components whose
    StatefulSet is not there, or going, and will be made again."""

    outlook: Outlook = field(default_factory=Outlook)
    formers: Mapping[str, str] = field(default_factory=dict)
    shapes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    anew: frozenset[str] = frozenset()

    def resting(self, found: Mapping[str, T]) -> dict[str, T]:
        """Without the components whose StatefulSet is made anew."""
        return {name: value for name, value in found.items() if name not in self.anew}


@dataclass(frozen=True, kw_only=True)
class _Scene:
    cluster: StarRocksCluster
    observed: Observed
    context: Context
    rolls: Mapping[str, Roll]


def growth_of(cluster: StarRocksCluster, observed: Observed, context: Context, rolls: Mapping[str, Roll]) -> Growth:
    """What comes next for the volumes of all components."""
    scene = _Scene(cluster=cluster, observed=observed, context=context, rolls=rolls)
    anew = frozenset(name for name, roll in rolls.items() if _is_going(roll.live))
    outlook, formers, shapes = Outlook(), {}, {}
    grows: Step | None = None
    for name, roll in rolls.items():
        spec = cluster.spec.components.get(name)  # type: ignore[call-overload]
        if name in anew:
            formers[name] = kept_in(cluster, name, observed.children)
            shapes[name] = _as_it_was(roll, observed)
            title = COMPONENTS[name].title
            outlook = outlook.then(Outlook(waits=(f"the StatefulSet of the {title}s is made anew around its pods",)))
        elif spec is not None:
            found, document = _of_component(scene, name, spec, roll, calm=not anew)
            outlook = outlook.then(found)
            if found.step is not None and found.step.kind == StepKind.GROW_CLAIM:
                grows = grows or found.step  # a full disk does not wait for another component's StatefulSet
            formers |= {name: document} if document else {}
    led = observed.view is not None and observed.view.leader is not None
    outlook = replace(outlook, step=(grows or outlook.step) if led else grows)
    return Growth(
        outlook=outlook,
        formers={name: document for name, document in formers.items() if document},
        shapes={name: shape for name, shape in shapes.items() if shape},
        anew=anew,
    )


def _is_going(live: Raw) -> bool:
    return is_remembered(live) or bool(live["metadata"].get("deletionTimestamp"))


def _as_it_was(roll: Roll, observed: Observed) -> Mapping[str, Any]:
    """The shape in which it is made again: with the template that its pods have, whatever is wanted by now."""
    if not is_remembered(roll.live):
        return {}
    kept = shape_of(roll, observed.revisions, keep=True).document()
    return {**kept, "claims": (roll.live.get("spec") or {}).get("volumeClaimTemplates") or []}


def _of_component(scene: _Scene, name: str, spec: ComponentSpec, roll: Roll, *, calm: bool) -> tuple[Outlook, str]:
    """Outlook, and what is to be written down of the StatefulSet; empty: nothing."""
    asked = {claim.name: claim for claim in claims_of(spec)}
    has = {
        claim.name: claim for claim in map(Claim.of, (roll.live.get("spec") or {}).get("volumeClaimTemplates") or ())
    }
    outlook = Outlook(findings=tuple(_shrinks(name, asked, has)))
    pods = min(spec.replicas, scene.context.live.get(name, 0))
    claims = tuple(growing(scene.cluster, name, spec, scene.observed.children, pods=pods))
    if claims:
        return outlook.then(_claims(scene, name, claims)), ""
    grown = [volume for volume in asked if volume in has and is_larger(asked[volume], has[volume])]
    if not grown or asked.keys() != has.keys():
        return outlook, ""
    about = f"the {COMPONENTS[name].title}s' volumes have grown; their StatefulSet is made anew"
    if why := _in_the_way(scene, name, roll, calm=calm):
        return outlook.then(Outlook(waits=(f"{about} when {why}",), pace=PATIENT)), ""
    sizes = {volume: asked[volume].size if volume in grown else has[volume].size for volume in asked}
    document = written_down(roll.live, claim_templates(spec, sizes))
    if kept_in(scene.cluster, name, scene.observed.children) != document:
        return outlook.then(Outlook(waits=(f"{about} when it is written down",))), document
    step = Step(
        kind=StepKind.ORPHAN_STATEFUL_SET,
        target=roll.name,
        reason=f"The volumes of the {COMPONENTS[name].title}s have grown, and a StatefulSet cannot be told: it is "
        "deleted without its pods, and made anew around them.",
        reversible=True,
        expects=(
            ("component", name),
            ("uid", str(roll.live["metadata"].get("uid", ""))),
            ("written", content_hash({"document": document})),
        ),
    )
    return outlook.then(Outlook(step=step, waits=(f"{about} around its pods",))), document


def _in_the_way(scene: _Scene, name: str, roll: Roll, *, calm: bool) -> str:
    """Why the StatefulSet cannot be made anew now, after `when`; empty: nothing."""
    if not calm:
        return "another one is there again"
    if any(each.open or each.lagging for each in scene.rolls.values()):
        return "pods are no longer being replaced"
    if scene.context.wished.get(name) != roll.replicas:
        return "there are as many as the spec asks for"
    if goes_with_it(roll.live, scene.observed.children):
        return "no volume would go with it: set persistentVolumeClaimRetentionPolicy.whenDeleted to Retain meanwhile"
    present = [pod for pod in roll.pods if not pod.pod.deleting]
    return "" if len(present) == roll.replicas else "all its pods are there"


def _claims(scene: _Scene, name: str, claims: tuple[Growing, ...]) -> Outlook:
    """One at a time; one that its class does not let grow holds up no other."""
    outlook = Outlook()
    refused: dict[str, list[Growing]] = {}
    for claim in claims:
        if claim.requested:
            outlook = outlook.then(_on_its_way(claim, scene))
        elif why := _refusal(claim, scene.observed):
            refused.setdefault(why, []).append(claim)
    busy = bool(outlook.waits)
    for why, held in refused.items():
        outlook = outlook.then(Outlook(findings=(_refused(name, why, held),)))
    open_claims = [claim for claim in claims if not claim.requested and not _refusal(claim, scene.observed)]
    if open_claims and not busy:
        first = open_claims[0]
        outlook = outlook.then(Outlook(step=_grow(first), waits=(f"volume {first.name} grows to {first.asked}",)))
    return outlook


def _on_its_way(claim: Growing, scene: _Scene) -> Outlook:
    words = f"volume {claim.name} grows to {claim.asked}"
    wait = f"{words}: its file system is still to grow, where it is mounted" if claim.pending else words
    trouble = claim.trouble(scene.observed.now)
    if not trouble:
        return Outlook(waits=(wait,), pace=PATIENT)
    finding = Finding(
        reason="VolumeGrowthStalled",
        message=f"Volume {claim.name} is to grow to {claim.asked}, and {trouble}. The other volumes wait for it. "
        f"See kubectl describe pvc {claim.name}.",
        degraded=True,
    )
    return Outlook(waits=(wait,), findings=(finding,), pace=PATIENT)


def _grow(claim: Growing) -> Step:
    return Step(
        kind=StepKind.GROW_CLAIM,
        target=claim.name,
        reason=f"Volume {claim.name} has {claim.has} and shall have {claim.asked}.",
        reversible=False,
        expects=(("uid", claim.uid), ("from", claim.has), ("to", claim.asked)),
    )


def _refusal(claim: Growing, observed: Observed) -> str:
    """Why the claim cannot grow; empty: it can, or nobody knows before the API server is asked."""
    if not claim.storage_class:
        return "were not made by a StorageClass"
    if observed.expandable.get(claim.storage_class) is False:
        return f"are of StorageClass {claim.storage_class}, which does not let volumes grow (allowVolumeExpansion)"
    return ""


def _refused(name: str, why: str, held: list[Growing]) -> Finding:
    names = ", ".join(claim.name for claim in held)
    return Finding(
        reason="VolumeGrowthRefused",
        message=f"Volumes of the {COMPONENTS[name].title}s shall have {held[0].asked}, and {names} {why}. Their size "
        "stays; all else is applied. Allow it, if the driver can; or set storageSize back.",
    )


def _shrinks(name: str, asked: Mapping[str, Claim], has: Mapping[str, Claim]) -> Iterator[Finding]:
    for volume in sorted(asked.keys() & has.keys()):
        if is_larger(has[volume], asked[volume]):
            yield Finding(
                reason="VolumeShrinkRefused",
                message=f"Volume {volume} of the {COMPONENTS[name].title}s was made with {has[volume].size} and shall "
                f"have {asked[volume].size}: no volume gets smaller. Its size stays; all else is applied. Set "
                "storageSize back.",
            )
