"""What is to be done for one cluster now: a pure function of the cluster and of what was seen of it.

The watcher calls it on every event, the `member` module once more before it acts, so it must be cheap and must never
raise for anything that the API server accepts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from starrocks_operator import restore
from starrocks_operator.case import Case, case_of
from starrocks_operator.config import collectable
from starrocks_operator.debugging import pod_findings
from starrocks_operator.decision import NO_CUSTOMS, Customs, Decision, Finding
from starrocks_operator.deed import workload_component
from starrocks_operator.due import Due, due, prunable
from starrocks_operator.findings import blocking_everything, configuration_findings, standing_findings
from starrocks_operator.holds import Objects, guards_of, held_components, waits_of
from starrocks_operator.membership import (
    Outlook,
    Pod,
    Situation,
    plan,
    pods_of,
    rosters_of,
)
from starrocks_operator.membership.slots import DEFAULT_GRACE
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.modes import in_its_mode
from starrocks_operator.objects import build
from starrocks_operator.objects.names import CLUSTER_DOMAIN, stateful_set_name
from starrocks_operator.observed import ObjectKey, Observed
from starrocks_operator.plan import Draft
from starrocks_operator.quiet.pause import is_paused
from starrocks_operator.quiet.templates import kept_templates
from starrocks_operator.recall import Recall
from starrocks_operator.rollout import Course, Roll, course_of, roll_of
from starrocks_operator.step import Step, StepKind
from starrocks_operator.storage import stateful_sets
from starrocks_operator.volumes import volumes_of

IGNORED = "starrocks.com/ignored"

_built: Recall[Objects] = Recall(512)


def decide(
    cluster: StarRocksCluster,
    observed: Observed,
    *,
    default_profile: str = "safe",
    domain: str = CLUSTER_DOMAIN,
    grace: timedelta = DEFAULT_GRACE,
    customs: Customs = NO_CUSTOMS,
) -> Decision:
    """The one decision. domain: the DNS domain of the Kubernetes cluster. grace: how long a running pod may take to
    register itself."""
    case = case_of(cluster, observed, default_profile=default_profile, domain=domain, customs=customs)
    if is_ignored(cluster) or cluster.is_deleted:
        return Decision(context=replace(case.context, components=()))
    if stops := blocking_everything(cluster) or _hindrances(case):
        return _stopped(case, stops)
    try:
        wanted = _built.get(
            cluster.uid, (cluster.key, cluster.spec, case.context), lambda: build(cluster, case.context)
        )
    except Exception as failure:  # one broken cluster must not become everybody's trouble
        return _stopped(case, (_unbuildable(failure),))
    kept = kept_templates(cluster.annotations, stateful_sets(wanted), case.workloads)
    if kept.shapes:
        case = replace(case, context=replace(case.context, kept=kept.shapes))
        wanted = build(cluster, case.context)
    observed, pods = case.observed, pods_of(observed.children)
    rosters = rosters_of(cluster, case.context, pods, observed.view)
    rolls = _rolls(case, wanted, pods)
    draft = Draft(cluster=cluster, observed=observed, context=case.context, rolls=rolls, rosters=rosters)
    disks = volumes_of(cluster, observed, case.context, rolls, rosters)
    course = course_of(
        cluster,
        observed,
        case.context,
        rosters,
        disks.resting(rolls),
        founded=case.may_be_founded,
        halted=bool(disks.anew),
        paused=is_paused(cluster.annotations),
    )
    shapes, formers = {**course.shapes, **disks.shapes}, {**disks.formers, **course.formers}
    if shapes or formers:
        case = replace(case, context=replace(case.context, shapes=shapes, formers=formers), disks=disks)
        wanted = build(cluster, case.context)
    outlook = plan(
        Situation(
            cluster=cluster,
            observed=observed,
            context=case.context,
            rosters=rosters,
            founding=case.founding,
            grace=grace,
        )
    )
    case = replace(case, course=course, rolls=rolls)
    rolled = course.outlook.then(disks.outlook)
    rolled = rolled if case.founding.finding is None else replace(rolled, step=None)
    rolled = rolled.then(case.online.outlook).then(Outlook(findings=kept.findings))
    if course.urgent:
        return _alone(_assembled(case, wanted, replace(rolled.then(outlook), step=course.outlook.step)), course)
    decision = _assembled(case, wanted, outlook.then(rolled))
    # A StatefulSet that is not there comes back before anything else is thought of.
    return decision if disks.anew else in_its_mode(decision, draft, case.workloads)


def _alone(decision: Decision, course: Course) -> Decision:
    """A StatefulSet that cannot wait is made anew, in every mode, and nothing else is done meanwhile."""
    apply = {name: items for name, items in decision.apply.items() if name in course.formers}
    components = tuple(name for name in decision.context.components if name in course.formers)
    return replace(
        decision,
        context=replace(decision.context, components=components),
        apply=apply,
        prune=(),
        fingerprint=_fingerprint(apply, (), decision.step),
    )


def _rolls(case: Case, wanted: Objects, pods: Mapping[str, Pod]) -> dict[str, Roll]:
    desired = stateful_sets(wanted)
    return {name: roll_of(name, desired[name], live, pods) for name, live in case.workloads.items() if name in desired}


def is_ignored(cluster: StarRocksCluster) -> bool:
    """Whether its owner told operators to leave it alone."""
    return cluster.annotations.get(IGNORED, "").lower() == "true"


def _hindrances(case: Case) -> tuple[Finding, ...]:
    """A restore of the cluster that is not ours to disturb."""
    founded = bool(case.founding.cluster_id) or "fe" in case.workloads
    found = restore.hindrance(case.cluster, case.observed, founded=founded)
    return (found,) if found is not None else ()


def _stopped(case: Case, findings: tuple[Finding, ...]) -> Decision:
    """Nothing is applied and no step is taken until a person has acted."""
    held = dict.fromkeys(case.context.components, findings[0].message)
    return Decision(context=replace(case.context, components=()), findings=findings, held=held, fingerprint="stopped")


def _unbuildable(failure: Exception) -> Finding:
    return Finding(
        reason="InvalidSpec",
        message=f"No objects can be made of this spec ({type(failure).__name__}: {str(failure)[:300]}).",
        blocks="everything",
        degraded=True,
    )


def _assembled(case: Case, wanted: Objects, outlook: Outlook) -> Decision:
    held = case.disks.resting(held_components(case))
    gates = waits_of(held)
    guards = guards_of(case, wanted)
    held |= {name: finding.message for name, finding in guards if finding.degraded}
    open_components = tuple(name for name in case.context.components if name not in held)
    dues = {name: due(case.cluster, wanted.get(name, ()), case.observed.children) for name in open_components}
    held |= {name: item.waits[0] for name, item in dues.items() if item.waits}
    everything = [item for items in wanted.values() for item in items]
    prune = prunable(
        case.cluster,
        everything,
        case.observed.children,
        components={*open_components, "hpa", "fe_proxy"},
    )
    keys = map(ObjectKey.of, everything)
    prune += collectable(case.cluster, case.observed.children, case.observed.mentioned, keys)
    apply = {name: item.objects for name, item in dues.items() if item.objects}
    changes = _changes(dues, prune)
    outlook = _unhurried(case, outlook, held, apply, changes)
    other_waits = tuple(wait for item in dues.values() for wait in item.waits) + gates
    return Decision(
        context=replace(case.context, components=tuple(name for name in open_components if name not in held)),
        apply=apply,
        prune=prune,
        step=outlook.step,
        waits=other_waits + outlook.waits,
        findings=standing_findings(case.cluster, case.observed, case.workloads)
        + configuration_findings(case.cluster, case.observed, case.settled, case.context)
        + pod_findings(case.cluster, case.observed, case.context)
        + tuple(finding for _, finding in guards)
        + outlook.findings,
        held=held,
        changes=changes,
        rollout=case.course.record,
        fingerprint=_fingerprint(apply, prune, outlook.step),
        pace=None if outlook.step or other_waits else outlook.pace,
        online=case.online.seen,
    )


def _unhurried(
    case: Case, outlook: Outlook, held: Mapping[str, str], apply: Objects, changes: Sequence[str]
) -> Outlook:
    """A StatefulSet is made smaller only when there is nothing else to be changed about it, and nothing against it."""
    component = _made_smaller(case.cluster, outlook.step) or _rolled(outlook.step)
    if not component:
        return outlook
    key = ObjectKey("StatefulSet", stateful_set_name(case.cluster, component))
    if component not in held and all(ObjectKey.of(item) != key for item in apply.get(component, ())):
        return outlook
    change = next((change for change in changes if change.startswith(f"{key}:")), f"{key}: it is held")
    return replace(outlook, step=None, waits=(*outlook.waits, f"nothing else about it may be open ({change})"))


def _made_smaller(cluster: StarRocksCluster, step: Step | None) -> str:
    """The component whose StatefulSet the step makes smaller; a live frontend that is dropped loses its pod at once."""
    if step is not None and step.kind == StepKind.SHRINK_STATEFUL_SET:
        return workload_component(cluster, step.target)
    return "fe" if step is not None and step.kind == StepKind.DROP_FOLLOWER and step.fact("alive") == "true" else ""


def _rolled(step: Step | None) -> str:
    """The component whose pod the step replaces."""
    return step.fact("component") if step is not None else ""


def _changes(dues: Mapping[str, Due], prune: tuple[ObjectKey, ...]) -> tuple[str, ...]:
    written = tuple(change for item in dues.values() for change in item.changes)
    return written + tuple(f"{key}: it is no longer wanted" for key in prune)


def _fingerprint(apply: Objects, prune: tuple[ObjectKey, ...], step: Step | None) -> str:
    """Of what is to be done, with the content of each object by its hash."""
    written = {
        name: [[str(ObjectKey.of(item)), item["metadata"].get("annotations")] for item in items]
        for name, items in apply.items()
    }
    content = json.dumps([written, [str(key) for key in prune], step.hash if step else ""], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:16]
