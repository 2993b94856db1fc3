"""The roll of a whole cluster: which pod comes next, whether it may be replaced now, and the step that does it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from starrocks_operator.decision import Context, Finding
from starrocks_operator.membership import Outlook, Rosters
from starrocks_operator.membership.memory import Memory
from starrocks_operator.membership.node_ground import stall_of
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.debugging import names_in
from starrocks_operator.observed import Observed
from starrocks_operator.rollout.gates import METADATA_IMAGE, Objection, objection, ordered
from starrocks_operator.rollout.image import proven
from starrocks_operator.rollout.new_volumes import lacking, offering, unasked
from starrocks_operator.rollout.order import Turn, debugged_last, is_broken, turns
from starrocks_operator.rollout.quiet import still_quiet
from starrocks_operator.rollout.record import Record, record_of
from starrocks_operator.rollout.replacement import replacement
from starrocks_operator.rollout.restart import pods_on_request
from starrocks_operator.rollout.roll import Method, Roll, RollPod
from starrocks_operator.rollout.rows import has_joined, row_of, started
from starrocks_operator.rollout.scene import Scene
from starrocks_operator.rollout.shaping import shape_of
from starrocks_operator.rollout.surroundings import afterwards, in_between, in_flight, prepare, with_step
from starrocks_operator.rollout.versions import REFUSED, Direction, version_course
from starrocks_operator.rollout.versions import Course as Versions
from starrocks_operator.step import Step

BEING_MADE = "NewGenerationAlive"


@dataclass(frozen=True, kw_only=True)
class Course:
    """outlook: the next step, waits and findings. shapes: what StatefulSets must have now, by component.

    record: what the status is to remember of the roll; empty: nothing is rolled. direction: of the releases.
    formers: StatefulSets that are to be made anew, written down. urgent: whether one of them cannot wait.
    """

    outlook: Outlook = field(default_factory=Outlook)
    shapes: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict)
    direction: Direction = Direction.SAME
    formers: Mapping[str, str] = field(default_factory=dict)
    urgent: bool = False


def course_of(
    cluster: StarRocksCluster,
    observed: Observed,
    context: Context,
    rosters: Rosters,
    rolls: Mapping[str, Roll],
    *,
    founded: bool = True,
    halted: bool = False,
    paused: bool = False,
) -> Course:
    """What a roll does next. While nothing is rolled this costs next to nothing.

    founded: whether there may be anything to lose. halted: whether a StatefulSet is missing, and everything stays as it
    is until it is there again. paused: whether no pod will be replaced, whosever turn it is.
    """
    owned = Outlook(findings=tuple(_left_to_owners(rolls)))
    judge = _Judge(cluster, observed, context, rosters, rolls, founded, paused)
    if halted:
        told = (cluster.status.rollout if cluster.status else None) or {}
        direction = version_course(cluster, observed.children, rosters, rolls).direction
        return Course(outlook=owned, shapes=_shapes(rolls, observed, None), record=told, direction=direction)
    if not any(roll.open for roll in rolls.values() if roll.method != Method.OWNER):
        return judge.at_rest(owned)
    course = judge.course()
    return replace(course, outlook=owned.then(course.outlook))


@dataclass(frozen=True)
class _Judge:
    cluster: StarRocksCluster
    observed: Observed
    context: Context
    rosters: Rosters
    rolls: Mapping[str, Roll]
    founded: bool
    paused: bool

    def course(self) -> Course:
        versions = version_course(self.cluster, self.observed.children, self.rosters, self.rolls)
        found = turns(
            self.rolls,
            self.rosters,
            self.observed.view,
            now=self.observed.now,
            direction=versions.direction,
            frontends_first=self.cluster.spec.wait_for_full_rollout,
        )
        ordered_by_release = versions.direction in (Direction.UPGRADE, Direction.DOWNGRADE)
        debugged = names_in(self.context.debugged)
        turn = next(debugged_last(found, debugged, ordered=ordered_by_release), None)
        record = self._seen(self.record(minor=versions.minor and not self.cluster.warehouse))
        if record.began is None and any(roll.old for roll in self.rolls.values() if roll.method != Method.OWNER):
            record = replace(record, began=self.observed.now)
        if versions.finding is not None and (turn is None or not turn.broken or versions.finding.reason == REFUSED):
            return self._waiting(record, versions, "", versions.finding.reason, finding=versions.finding)
        if turn is None:
            return self._waiting(record, versions, "the last of the pods is being replaced", BEING_MADE)
        scene = self._scene(turn, versions, record)
        obstacle = _unfinished(turn, self.rolls, record) or objection(scene)
        name = turn.target.name
        if obstacle is not None:
            wait = f"pod {name} is to be replaced, but not yet: {obstacle.why}"
            record, step = ordered(scene, record) if obstacle.gate == METADATA_IMAGE else (record, None)
            told = self._waiting(record, versions, wait, obstacle.gate, why=obstacle.why, finding=obstacle.finding)
            return told if step is None else replace(told, outlook=replace(told.outlook, step=step))
        record = self._turned(record, turn.roll, turn.target)
        first = prepare(scene, record)
        if first is not None:
            record = replace(record, quiet=with_step(record.quiet, first.step))
            return self._course(replace(record, gate=""), versions, first, turn=turn)
        if turn.roll.renews:
            return self._renewal(replace(record, gate=""), versions, turn)
        step = replacement(turn.roll, turn.target, reason=f"Pod {name} is replaced: {_reason(turn)}.")
        return self._course(
            replace(record, gate=""), versions, Outlook(step=step, waits=(f"pod {name} is being replaced",))
        )

    def at_rest(self, owned: Outlook) -> Course:
        """Nothing is to be rolled: what is left of the last roll is undone, and pods are restarted on request."""
        asked = pods_on_request(self.cluster, self.observed, self.rolls, self.scene_of_restart)
        wished = bool(asked.outlook.step or asked.outlook.waits)
        record = self._seen(self.record()) if wished or Record.of(self.cluster) else None
        going = record.pod if record and in_flight(record, self.rolls) else ""
        left = afterwards(self.cluster, self.observed, self.rosters, but=asked.turn[1].name if asked.turn else going)
        told = left.record
        if record is not None and wished:
            record = self._turned(record, *asked.turn) if asked.turn else record
            record = replace(record, began=None, image=None, quiet=with_step(record.quiet, asked.outlook.step))
            told = record.document()
        outlook = owned.then(left.outlook).then(asked.outlook)
        course = Course(outlook=outlook, shapes=_shapes(self.rolls, self.observed, None), record=told)
        return self.taken_back(course, ("", ""))

    def _turned(self, record: Record, roll: Roll, target: RollPod) -> Record:
        row = row_of(self.rosters, roll.component, target)
        return record.turned_to(roll.component, target.name, uid=target.pod.uid, started=started(row))

    def _renewal(self, record: Record, versions: Versions, turn: Turn) -> Course:
        """A pod that gets new volumes: first the StatefulSet has them, then the claims are there, then the pod goes."""
        roll, target, children = turn.roll, turn.target, self.observed.children
        wait = f"pod {target.name} is being replaced"
        if not roll.trial:
            remake = offering(roll, target)
            outlook = Outlook(waits=(wait,)) if remake is None else remake.outlook(self.cluster, children)
            course = self._course(record, versions, outlook, turn=turn)
            return course if remake is None else replace(course, formers={roll.component: remake.document})
        if claim := lacking(roll, target, children):
            return self._course(record, versions, Outlook(waits=(f"{wait} when claim {claim} exists",)), turn=turn)
        step = replacement(
            roll, target, reason=f"Pod {target.name} is replaced: it gets volume {', '.join(roll.trial)}."
        )
        return self._course(record, versions, Outlook(step=step, waits=(wait,)), turn=turn)

    def taken_back(self, course: Course, turned: tuple[str, str]) -> Course:
        """New volumes are no longer there for a pod whose turn is over: nothing is more urgent."""
        for name, roll in self.rolls.items():
            withdraw = self.paused or turned != (name, roll.offered_to[0])
            remake = unasked(roll, self.observed.revisions, withdraw=withdraw)
            if remake is not None:
                back = remake.outlook(self.cluster, self.observed.children)
                outlook = replace(back.then(course.outlook), step=back.step)
                return replace(course, outlook=outlook, formers={name: remake.document}, urgent=bool(roll.trial))
        return course

    def scene_of_restart(self, roll: Roll, target: RollPod) -> Scene:
        """Of a pod that is to be made anew as it was."""
        versions = version_course(self.cluster, self.observed.children, self.rosters, self.rolls)
        broken = is_broken(roll, target, self.rosters, self.observed.now)
        return self._scene(Turn(roll=roll, target=target, broken=broken), versions, self.record())

    def record(self, *, minor: bool = False) -> Record:
        view = self.observed.view
        health = view.health if view else None
        ours = [roll for roll in self.rolls.values() if roll.method != Method.OWNER]
        record = record_of(self.cluster, ours, self.observed.now, unhealthy=health.unhealthy if health else None)
        quiet = still_quiet(Memory.of(self.cluster, self.observed.children).quiet, self.rosters, view)
        return replace(record, minor=record.minor or minor, quiet=quiet, image=proven(record.image, view))

    def _seen(self, record: Record) -> Record:
        """When FE first showed the pod that was replaced last as a new, living process."""
        roll, view = self.rolls.get(record.component), self.observed.view
        item = next((pod for pod in (roll.pods if roll else ()) if pod.name == record.pod), None)
        if roll is None or item is None or view is None or not item.new:
            return record
        row = row_of(self.rosters, roll.component, item)
        fresh = item.pod.uid != record.uid and started(row) != record.started
        alive = item.pod.ready and has_joined(row) and fresh
        return replace(record, seen=(record.seen or view.asked_at) if alive else None)

    def _scene(self, turn: Turn, versions: Versions, record: Record) -> Scene:
        return Scene(
            cluster=self.cluster,
            observed=self.observed,
            context=self.context,
            rosters=self.rosters,
            rolls=self.rolls,
            roll=turn.roll,
            target=turn.target,
            versions=versions,
            record=record,
            broken=turn.broken or not self.founded,
            founded=self.founded,
        )

    def _waiting(
        self, record: Record, versions: Versions, wait: str, gate: str, *, why: str = "", finding: Finding | None = None
    ) -> Course:
        record = replace(record, gate=gate)
        findings: tuple[Finding, ...] = () if finding is None else (finding,)
        words = wait or f"no pod is replaced: see {gate}"
        late = _stalled(record, why or words, self.observed.now, stall_of(self.cluster)) if finding is None else None
        findings += () if late is None else (late,)
        step = in_between(self.cluster, self.observed, self.rosters, self.rolls, record)
        return self._course(record, versions, Outlook(step=step, waits=(words,), findings=findings))

    def _course(self, record: Record, versions: Versions, outlook: Outlook, *, turn: Turn | None = None) -> Course:
        """turn: whose turn it is, if nothing objects to it."""
        course = Course(
            outlook=outlook,
            shapes=_shapes(self.rolls, self.observed, outlook.step),
            record=record.document(),
            direction=versions.direction,
        )
        return self.taken_back(course, (turn.roll.component, turn.target.name) if turn is not None else ("", ""))


def _unfinished(turn: Turn, rolls: Mapping[str, Roll], record: Record) -> Objection | None:
    """One pod after the other, also of two components: those that are being made come first, and so do those of which
    it is not known yet whether they are old. Broken ones cannot wait for each other."""
    for name, roll in rolls.items():
        if name != turn.roll.component and roll.lagging and roll.method != Method.OWNER:
            why = f"StatefulSet {roll.name} was changed, and its controller has yet to take note: pods may be old there"
            return Objection(gate=BEING_MADE, why=why)
    if turn.broken:
        return None
    last = rolls.get(record.component)
    for roll in (turn.roll, *((last,) if last is not None and last.method != Method.OWNER else ())):
        going = [pod.name for pod in roll.pods if pod.pod.deleting and pod.name != turn.target.name]
        there = {pod.ordinal for pod in roll.pods}
        made = [f"{roll.name}-{ordinal}" for ordinal in range(roll.replicas) if ordinal not in there]
        if going or made:
            return Objection(gate=BEING_MADE, why=f"pod {(going or made)[0]} is being made anew")
    return None


def _reason(turn: Turn) -> str:
    return "it is broken as it is, and its template has changed" if turn.broken else "its template has changed"


def _stalled(record: Record, why: str, now: datetime, patience: timedelta) -> Finding | None:
    if now - record.since < patience:
        return None
    return Finding(
        reason="RolloutStalled",
        message=f"Since {record.since:%Y-%m-%d %H:%M} UTC no pod has been replaced ({record.done} of {record.total} "
        f"are as wanted). {record.gate} objects: {why}. Nothing is forced; it goes on when this is resolved, and "
        "putting the spec back takes the change back. docs/operate.md tells what each gate is for, and how to switch "
        "it off.",
        degraded=True,
    )


def _left_to_owners(rolls: Mapping[str, Roll]) -> Iterator[Finding]:
    for name, roll in rolls.items():
        if roll.method == Method.OWNER and roll.old:
            count = f"{len(roll.old)} pod{'' if len(roll.old) == 1 else 's'}"
            yield Finding(
                reason="PodsWaitForOwner",
                message=f"{name}: {count} of an older template ({', '.join(pod.name for pod in roll.old[:5])}) are "
                "replaced by their owner, as updateStrategy OnDelete says: delete them one by one.",
                remark=True,
            )


def _shapes(rolls: Mapping[str, Roll], observed: Observed, step: Step | None) -> dict[str, Mapping[str, object]]:
    """What is offered to a pod whose turn it is not any more is taken back."""
    told = (step.fact("component"), step.target) if step else ("", "")
    return {
        name: document
        for name, roll in rolls.items()
        if (document := shape_of(roll, observed.revisions, withdraw=told != (name, roll.offered_to[0])).document())
    }
