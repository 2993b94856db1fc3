"""Single pods restarted on request: `starrocks.com/restart-pods: "sample-be-1@2026-05-01T12:00:00Z, …"`.

A pod that is older than the moment gets no new queries and is deleted, through the gates of every replacement, and its
StatefulSet makes it anew as it was. They wait until no roll is open. What is not understood is said, and nothing else
is done about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from starrocks_operator.decision import Finding
from starrocks_operator.membership import Outlook
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.restarts import SOON, misunderstood, moment
from starrocks_operator.observed import Observed
from starrocks_operator.rollout.gates import objection
from starrocks_operator.rollout.quiet import diversion
from starrocks_operator.rollout.roll import Roll, RollPod
from starrocks_operator.rollout.scene import Scene
from starrocks_operator.step import Step, StepKind

RESTART_PODS = "starrocks.com/restart-pods"
NOTICED = timedelta(seconds=30)
"""So long after a pod has been restarted, what FE shows of it is of the new process."""
LONGEST_ORDINAL = 9


@dataclass(frozen=True, kw_only=True)
class Asked:
    """outlook: the next step, and what was not understood. turn: whose turn it is, if nothing objects to it."""

    outlook: Outlook
    turn: tuple[Roll, RollPod] | None = None


@dataclass(frozen=True, kw_only=True)
class Wish:
    """A pod that shall not be older than a moment."""

    pod: str
    at: datetime


def pods_on_request(
    cluster: StarRocksCluster,
    observed: Observed,
    rolls: Mapping[str, Roll],
    scene_of: Callable[[Roll, RollPod], Scene],
) -> Asked:
    """The next pod of those that are to be restarted. Asked while no roll is open."""
    wishes, problems = _wishes(cluster, rolls, observed.now)
    problems = (*misunderstood(cluster, observed.now), *problems)
    outlook = Outlook(findings=(_misunderstood(problems),) if problems else ())
    for roll, target, wish in _due(wishes, rolls):
        if wish.at > observed.now:
            outlook = outlook.then(Outlook(waits=(f"pod {target.name} is to be restarted at {wish.at.isoformat()}",)))
            continue
        scene = scene_of(roll, target)
        why = objection(scene)
        young = _young(wishes, rolls, observed.now)
        said = _others(roll, target) or (why.why if why else "") or young
        if said:
            wait = f"pod {target.name} is to be restarted, but not yet: {said}"
            return Asked(outlook=outlook.then(Outlook(waits=(wait,))))
        ahead = None if scene.broken else diversion(roll.component, scene.row, scene.view)
        done = Outlook(step=_restarted(roll, target), waits=(f"pod {target.name} is being restarted",))
        return Asked(outlook=outlook.then(ahead or done), turn=(roll, target))
    return Asked(outlook=outlook)


def requested(cluster: StarRocksCluster, rolls: Mapping[str, Roll], now: datetime) -> tuple[str, ...]:
    """The pods that are still to be restarted, in that order."""
    return tuple(target.name for _, target, wish in _due(_wishes(cluster, rolls, now)[0], rolls) if wish.at <= now)


def _wishes(
    cluster: StarRocksCluster, rolls: Mapping[str, Roll], now: datetime
) -> tuple[tuple[Wish, ...], tuple[str, ...]]:
    wishes, problems = [], []
    for word in filter(None, (word.strip() for word in cluster.annotations.get(RESTART_PODS, "").split(","))):
        pod, _, text = word.partition("@")
        at = moment(text.strip())
        if at is None:
            problems.append(f"{RESTART_PODS}: {word[:80]!r} names no moment such as {pod[:60]}@2026-05-01T12:00:00Z")
        elif not any(_has(roll, pod.strip()) for roll in rolls.values()):
            problems.append(f"{RESTART_PODS}: {pod[:80]!r} is no pod of this cluster")
        elif at > now + SOON:
            problems.append(f"{RESTART_PODS}: {word[:80]!r} lies in the future")
        else:
            wishes.append(Wish(pod=pod.strip(), at=at))
    return tuple(wishes), tuple(problems)


def _has(roll: Roll, pod: str) -> bool:
    ordinal = pod.removeprefix(f"{roll.name}-")
    known = ordinal != pod and ordinal.isdecimal() and len(ordinal) <= LONGEST_ORDINAL
    return known and int(ordinal) < roll.replicas


def _due(wishes: tuple[Wish, ...], rolls: Mapping[str, Roll]) -> Iterator[tuple[Roll, RollPod, Wish]]:
    for wish in wishes:
        for roll in rolls.values():
            for pod in roll.pods:
                if pod.name == wish.pod and pod.pod.created is not None and pod.pod.created < wish.at:
                    yield roll, pod, wish


def _young(wishes: tuple[Wish, ...], rolls: Mapping[str, Roll], now: datetime) -> str:
    """Of those that have been restarted already: what FE shows of one may still be its former process."""
    asked = {wish.pod: wish.at for wish in wishes}
    for roll in rolls.values():
        for item in roll.pods:
            at, made, since = asked.get(item.name), item.pod.created, item.pod.running_since
            done = at is not None and made is not None and made >= at
            if done and (since is None or now - since < NOTICED):
                return f"{item.name} has just been restarted"
    return ""


def _others(roll: Roll, target: RollPod) -> str:
    """What of its own component speaks against it, beside the gates."""
    if target.pod.deleting:
        return "it is being deleted"
    missing = [pod.name for pod in roll.pods if not pod.pod.ready and pod is not target]
    if target.pod.ready and (missing or len(roll.pods) < roll.replicas):
        return f"{', '.join(missing) or 'another pod'} is not ready"
    return ""


def _restarted(roll: Roll, target: RollPod) -> Step:
    return Step(
        kind=StepKind.DELETE_POD,
        target=target.name,
        reason=f"Pod {target.name} is restarted, as its owner asked.",
        reversible=True,
        expects=(("component", roll.component), ("uid", target.pod.uid)),
    )


def _misunderstood(problems: tuple[str, ...]) -> Finding:
    return Finding(
        reason="RestartNotUnderstood",
        message=f"A restart was asked for in words that are not understood, and is not done: {'; '.join(problems)}.",
        remark=True,
    )
