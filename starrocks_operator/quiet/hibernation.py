"""`starrocks.com/hibernate: "true"`: no pods, and nothing is lost; without the annotation they come back.

Compute nodes go to zero, then backends, observers and frontends, each when the pods before it are gone; claims and
members stay. What a StatefulSet had is remembered on it, so that all of them wake up, whatever the spec says by then.
While everything sleeps nobody is asked and nothing is written; a change of the spec is applied on waking: frontends
first and all together, the others when one leads. Membership rests until the last one has been woken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from starrocks_operator.components import COMPONENTS
from starrocks_operator.decision import Decision, Finding
from starrocks_operator.due import owner_uid
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.names import autoscaler_name
from starrocks_operator.objects.sleep import awake_replicas
from starrocks_operator.observed import ObjectKey, Observed, Raw
from starrocks_operator.quiet.still import held_still
from starrocks_operator.rollout.versions import wrong_way
from starrocks_operator.step import Step, StepKind
from starrocks_operator.storage.precious import CLAIM, places

HIBERNATE = "starrocks.com/hibernate"
BEDTIME = ("cn", "be", "fe-observer", "fe")
"""The order: who depends on others goes first."""
WAKING = "the cluster is waking up: frontends first, the others when one leads"

_NO_NEWS = frozenset({"LeaderMissing", "RolloutStalled"})
"""What is found of a cluster that is only about to wake up."""


@dataclass(frozen=True, kw_only=True)
class Night:
    """What hibernation is decided on. workloads: the live StatefulSets. properties: by component, its configuration."""

    cluster: StarRocksCluster
    observed: Observed
    workloads: Mapping[str, Raw]
    properties: Mapping[str, Mapping[str, str]]


def hibernated(decision: Decision, night: Night) -> Decision:
    """The decision, with hibernation or waking up in it; without either, as it is."""
    sleeping = {name for name, raw in night.workloads.items() if awake_replicas(raw) is not None}
    if night.cluster.annotations.get(HIBERNATE, "").strip().lower() != "true":
        return _waking(decision, night) if sleeping & set(night.cluster.spec.components) else decision
    if not sleeping:
        if refused := "; ".join(_refusals(night)):
            return replace(decision, findings=(*decision.findings, _refusal(refused)))
        if wait := _busy(decision, night):
            return replace(decision, waits=(*decision.waits, f"hibernation begins when {wait}"))
    return _going_to_sleep(decision, night)


def _waking(decision: Decision, night: Night) -> Decision:
    """Nobody leads yet, and nodes are missing: that is no news, and nothing is to be concluded from it."""
    quiet = tuple(finding for finding in decision.findings if finding.reason not in _NO_NEWS)
    woken = replace(decision, step=_repair(decision, night), findings=quiet, waits=(*decision.waits, WAKING), pace=None)
    refused = next(_wrong_ways(decision, night), None)
    return woken if refused is None else held_still(woken, refused)


def _repair(decision: Decision, night: Night) -> Step | None:
    """While nobody leads nobody else is woken: what replaces a frontend that fails, so that a fix gets in."""
    step, view = decision.step, night.observed.view
    rolls = step is not None and step.fact("component") == "fe" and step.fact("template") != ""
    return step if rolls and (view is None or view.leader is None) else None


def _wrong_ways(decision: Decision, night: Night) -> Iterator[Finding]:
    """No roll stands between a sleeping pod and another release."""
    for name, items in decision.apply.items():
        live = night.workloads.get(name)
        for item in items:
            if item["kind"] == "StatefulSet" and live is not None and awake_replicas(live) is not None:
                found = wrong_way(night.cluster, name, live, item)
                yield from () if found is None else (found,)


def _going_to_sleep(decision: Decision, night: Night) -> Decision:
    step, wait = _next(night)
    remarks = tuple(finding for finding in decision.findings if finding.remark)
    scaler = night.observed.children.get("HorizontalPodAutoscaler", autoscaler_name(night.cluster))
    prune = (ObjectKey.of(scaler),) if scaler is not None and _is_ours(scaler, night.cluster) else ()
    asleep = step is None and not wait and not prune
    return replace(
        decision,
        context=replace(decision.context, components=()),
        apply={},
        prune=prune,
        step=step,
        waits=(wait,) if wait else (),
        findings=(_asleep() if asleep else _falling_asleep(), *remarks),
        held={},
        changes=tuple(f"{key}: the cluster hibernates" for key in prune),
        fingerprint=f"sleep-{step.hash if step else ''}-{len(prune)}",
        pace=None,
        asleep=asleep,
    )


def _next(night: Night) -> tuple[Step | None, str]:
    """The next step and what is waited for."""
    for name in BEDTIME:
        workload = night.workloads.get(name)
        if workload is None:
            continue
        title = f"the {COMPONENTS[name].title}s"
        if (live := int((workload.get("spec") or {}).get("replicas", 1))) > 0:
            if name != "fe" and (known := _decommissions(night)):
                return None, f"{title} are to sleep, but {known}"
            return _sleep(name, workload, live), f"{title} are going to sleep"
        if _has_pods(night, workload):
            return None, f"{title} are going to sleep: their pods are being stopped"
    return None, ""


def _sleep(name: str, workload: Raw, live: int) -> Step:
    metadata = workload["metadata"]
    return Step(
        kind=StepKind.SLEEP_STATEFUL_SET,
        target=metadata["name"],
        reason=f"The cluster hibernates: the {COMPONENTS[name].title}s' pods go, their volumes and members stay.",
        reversible=True,
        expects=(("component", name), ("uid", str(metadata.get("uid", ""))), ("from", str(live))),
    )


def _decommissions(night: Night) -> str:
    """Why nodes must not be stopped: one of them is giving its tablets away. Frontends may be, when no node runs."""
    if night.cluster.warehouse or not _runs(night, "be"):
        return ""
    view = night.observed.view
    if view is None or view.backends is None:
        return "no frontend leads that could say whether a backend is being decommissioned"
    leaving = [row.host.split(".")[0] for row in view.backends if row.decommissioned]
    return f"{', '.join(leaving)} is being decommissioned" if leaving else ""


def _busy(decision: Decision, night: Night) -> str:
    """What is brought to its end before it begins; empty: nothing."""
    if known := _decommissions(night):
        return f"this is over: {known}"
    if decision.rollout.get("pod"):  # without pods, all would wake up with what only some of them have proven
        return "the roll that has begun is over, or taken back"
    for name, live in decision.context.live.items():
        if live > decision.context.wished.get(name, live):
            return f"the {COMPONENTS[name].title}s that are no longer wanted have left"
    return ""


def _refusals(night: Night) -> Iterator[str]:
    for name, workload in night.workloads.items():
        title, component, spec = COMPONENTS[name].title, COMPONENTS[name], workload.get("spec") or {}
        if not spec.get("replicas", 1):
            continue
        if name not in night.cluster.spec.components:
            yield f"{component.spec_field} was removed from the spec, and its {title}s still run"
        for place in places(component, workload, night.properties.get(name) or {}):
            if place.source != CLAIM:
                yield f"the {title}s keep their data in {place}, which is no volume of their own"
        retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
        if retention.get("whenScaled") == "Delete":
            yield f"the {title}s' volumes would be deleted (persistentVolumeClaimRetentionPolicy.whenScaled)"
        if name == "fe" and spec.get("podManagementPolicy") == "OrderedReady" and spec.get("replicas", 1) > 1:
            yield "frontends that start one after the other (podManagementPolicy OrderedReady) find no majority again"


def _refusal(why: str) -> Finding:
    return Finding(
        reason="HibernationRefused",
        message=f"The annotation {HIBERNATE} asks for a cluster without pods, which is refused: {why}. Everything goes "
        "on as without it.",
    )


def _falling_asleep() -> Finding:
    return Finding(reason="Hibernating", message="The cluster is being put to sleep; its volumes and members stay.")


def _asleep() -> Finding:
    return Finding(
        reason="Hibernated",
        message="The cluster sleeps: it has no pods, and keeps its volumes. It wakes up when the annotation "
        f"{HIBERNATE} is removed.",
    )


def _runs(night: Night, name: str) -> bool:
    workload = night.workloads.get(name)
    return workload is not None and int((workload.get("spec") or {}).get("replicas", 1)) > 0


def _has_pods(night: Night, workload: Raw) -> bool:
    prefix = f"{workload['metadata']['name']}-"
    names = (raw["metadata"]["name"] for raw in night.observed.children.of_kind("Pod"))
    return any(name.startswith(prefix) and name.removeprefix(prefix).isdecimal() for name in names)


def _is_ours(raw: Raw, cluster: StarRocksCluster) -> bool:
    return owner_uid(raw) == cluster.uid and not raw["metadata"].get("deletionTimestamp")
