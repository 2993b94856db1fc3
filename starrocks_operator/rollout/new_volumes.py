"""Pods that get volumes which they did not have: their StatefulSet is made anew around them, twice for each pod.

Claim templates cannot be changed, and a StatefulSet whose running pods lack a claim is stuck: its controller tries to
change the first such pod, may not, and makes none that has died above it. So it *rests* at the former claims and the
former template: whatever dies comes back as it was. For one pod, the lowest that lacks a volume or one above those that
have all, it is deleted without its pods and made again with the new claims and the new template; when that pod has
been made anew, or cannot be replaced after all, the same way back. With the last one the new ones stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starrocks_operator.components import COMPONENTS
from starrocks_operator.membership import Outlook
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.former import is_remembered, kept_in, written_down
from starrocks_operator.objects.metadata import TEMPLATE_HASH, content_hash
from starrocks_operator.objects.sleep import awake_replicas
from starrocks_operator.observed import Children, Raw
from starrocks_operator.rollout.roll import FORMER_REVISION, OFFERED_TO, WANTED_REVISION, Roll, RollPod, annotation
from starrocks_operator.rollout.shaping import ON_DELETE, hash_of, template_in
from starrocks_operator.step import Step, StepKind
from starrocks_operator.storage.added import OFFERED_VOLUMES, claims_in, resting_templates

_NO_MARKS = dict.fromkeys((OFFERED_TO, FORMER_REVISION, WANTED_REVISION, OFFERED_VOLUMES), "")


@dataclass(frozen=True, kw_only=True)
class Remake:
    """A StatefulSet that is to be made anew. document: as what, see `objects.former`. why: a sentence."""

    roll: Roll
    document: str
    why: str

    def outlook(self, cluster: StarRocksCluster, children: Children) -> Outlook:
        """It is deleted, without its pods, when it is written down as what it comes back."""
        title = COMPONENTS[self.roll.component].title
        wait = f"the StatefulSet of the {title}s is made anew around its pods"
        if kept_in(cluster, self.roll.component, children) != self.document:
            return Outlook(waits=(f"{wait} when that is written down",))
        step = Step(
            kind=StepKind.ORPHAN_STATEFUL_SET,
            target=self.roll.name,
            reason=f"{self.why}, and a StatefulSet cannot be told: it is deleted without its pods, and made anew "
            "around them.",
            reversible=True,
            expects=(
                ("component", self.roll.component),
                ("uid", str(self.roll.live["metadata"].get("uid", ""))),
                ("written", content_hash({"document": self.document})),
            ),
        )
        return Outlook(step=step, waits=(wait,))


def offering(roll: Roll, target: RollPod) -> Remake | None:
    """With the new volumes, for this pod; None: it cannot be told yet what is to come back after that."""
    if roll.lagging or not roll.update_revision:
        return None
    marks = {
        **_NO_MARKS,
        TEMPLATE_HASH: roll.wanted_hash,
        OFFERED_TO: f"{target.name}@{target.pod.uid}",
        FORMER_REVISION: f"{hash_of(roll.live)}@{roll.update_revision}",
        OFFERED_VOLUMES: ",".join(roll.adding),
    }
    why = f"Pod {target.name} gets volume {', '.join(roll.adding)}"
    return _remade(roll, marks, strategy=ON_DELETE, why=why)


def unasked(roll: Roll, revisions: Mapping[str, Raw], *, withdraw: bool) -> Remake | None:
    """What has to be made anew whosever turn it is; None: nothing. withdraw: it is no longer this pod's turn."""
    if roll.lagging or is_remembered(roll.live):
        return None
    if roll.trial:
        return _back(roll, revisions) if _is_over(roll, withdraw=withdraw) else None
    if roll.adding and not roll.old and (_all_have_them(roll) or _nobody_has_any(roll)):
        strategy = roll.desired["spec"]["updateStrategy"]
        why = f"The {COMPONENTS[roll.component].title}s have volume {', '.join(roll.adding)}"
        return _remade(roll, {**_NO_MARKS, TEMPLATE_HASH: roll.wanted_hash}, strategy=strategy, why=why)
    return None


def lacking(roll: Roll, target: RollPod, children: Children) -> str:
    """The first new claim of the pod that does not exist yet: a pod that goes before that might not come back."""
    names = (f"{volume}-{target.name}" for volume in roll.trial)
    return next((name for name in names if children.get("PersistentVolumeClaim", name) is None), "")


def _is_over(roll: Roll, *, withdraw: bool) -> bool:
    """Whether the new volumes are to be taken back: the pod has them, is not to have them now, or others need it."""
    name, uid = roll.offered_to
    found = next((pod for pod in roll.pods if pod.name == name), None)
    if roll.changing or _signature(roll.desired) != _signature(roll.live):
        return True
    if not roll.old and _all_there(roll):
        return False
    if {f"{roll.name}-{n}" for n in range(roll.replicas)} - {pod.name for pod in roll.pods} - {name}:
        return True  # it does not come back as long as others lack a claim
    return found is not None and (found.pod.uid != uid or (withdraw and not found.pod.deleting))


def _back(roll: Roll, revisions: Mapping[str, Raw]) -> Remake | None:
    former, _, revision = annotation(roll.live, FORMER_REVISION).partition("@")
    template = template_in(revisions.get(revision))
    if template is None:
        return None
    marks = {**_NO_MARKS, TEMPLATE_HASH: former, WANTED_REVISION: f"{hash_of(roll.live)}@{roll.update_revision}"}
    fields = {"template": template, "updateStrategy": ON_DELETE}
    document = written_down(roll.live, resting_templates(roll.live), fields=fields, marks=marks, revision=revision)
    why = f"Volume {', '.join(roll.trial)} was there for pod {roll.offered_to[0]} only"
    return Remake(roll=roll, document=document, why=why)


def _remade(roll: Roll, marks: Mapping[str, str], *, strategy: Mapping[str, Any], why: str) -> Remake:
    spec = roll.desired["spec"]
    fields = {"template": spec["template"], "updateStrategy": strategy}
    document = written_down(roll.live, spec["volumeClaimTemplates"], fields=fields, marks=marks, revision="")
    return Remake(roll=roll, document=document, why=why)


def _all_have_them(roll: Roll) -> bool:
    wanted = {claim.name for claim in claims_in(roll.desired)}
    return _all_there(roll) and bool(roll.pods) and all(wanted <= pod.pod.claims for pod in roll.pods)


def _nobody_has_any(roll: Roll) -> bool:
    return not roll.pods and roll.replicas == 0 and awake_replicas(roll.live) is None


def _all_there(roll: Roll) -> bool:
    return len([pod for pod in roll.pods if pod.ordinal < roll.replicas]) == roll.replicas


def _signature(stateful_set: Raw) -> set[tuple[str, str | None]]:
    return {(claim.name, claim.storage_class) for claim in claims_in(stateful_set)}
