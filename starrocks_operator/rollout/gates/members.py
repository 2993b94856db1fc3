"""Gates on members: those that were replaced are alive again, and nobody else is missing or on the way out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from starrocks_operator.membership.memory import Memory
from starrocks_operator.rollout.gates.gate import Gate
from starrocks_operator.rollout.roll import Method, Roll, RollPod
from starrocks_operator.rollout.rows import has_joined, roster_of, row_of, started
from starrocks_operator.rollout.scene import Scene
from starrocks_operator.rollout.versions import Direction, image_in, reported, wanted_release

OLD_ENOUGH = timedelta(seconds=30)
"""FE notices within 20 seconds that a member is dead: so old, what it shows is of the new process."""


def new_generation(scene: Scene) -> str:
    """Of every pod that was replaced; of the last one it is seen twice, and by its start, that it is a new process."""
    for name, roll in scene.rolls.items():
        if roll.method == Method.OWNER or not (roll.open or name == scene.record.component):
            continue
        for item in roll.pods:
            if item.new and (trouble := _not_alive(scene, roll, item)):
                return trouble
    return _restless(scene) or _unproven(scene)


def _restless(scene: Scene) -> str:
    """Whether another pod, not replaced by us, has just gone down or come up: FE may not have noticed yet."""
    for item in scene.roll.pods:
        since = item.pod.unready_since
        if item.name == scene.target.name or item.pod.ready:
            continue
        if not has_joined(row_of(scene.rosters, scene.roll.component, item)):
            continue  # it has
        if item.pod.deleting or since is None or scene.observed.now - since < OLD_ENOUGH:
            return f"{item.name} is not ready, and FE may not have noticed yet"
    return ""


def _not_alive(scene: Scene, roll: Roll, item: RollPod) -> str:
    if not item.pod.ready:
        return f"{item.name} was replaced, and its pod {item.pod.trouble}"
    row = row_of(scene.rosters, roll.component, item)
    if not has_joined(row):
        return f"{item.name} was replaced, and FE does not count it as alive yet"
    wanted, has = wanted_release(scene.cluster, roll), reported(row.version if row else "")
    image = image_in(scene.observed.children.get("Pod", item.name) or {})
    if wanted and has and wanted != has and image == image_in(roll.desired["spec"]["template"]):
        return f"{item.name} was replaced, and says that it is {'.'.join(map(str, has))}"
    return ""


def _unproven(scene: Scene) -> str:
    """Whether what FE shows of the pod that was replaced last may still be its predecessor."""
    record, view = scene.record, scene.view
    if (record.component, record.pod) == (scene.roll.component, scene.target.name):
        return ""  # the one before was proven when this one's turn came
    last = next(_last_replaced(scene), None)
    if last is not None:
        roll, item = last
        if item.pod.uid == record.uid:
            return ""  # it was not replaced after all
        start = started(row_of(scene.rosters, roll.component, item))
        if record.started and start == record.started:
            return f"{item.name} was replaced, and FE still shows its former process"
        if record.seen is None or view is None or view.asked_at <= record.seen:
            return f"{item.name} was replaced, and has been seen alive once: a second time makes sure"
        return ""
    young = [
        item.name
        for roll in scene.rolls.values()
        for item in roll.pods
        if roll.old
        and item.new
        and roll.method != Method.OWNER
        and (item.pod.running_since is None or scene.observed.now - item.pod.running_since < OLD_ENOUGH)
    ]
    return f"{young[0]} has just been started" if young else ""


def _last_replaced(scene: Scene) -> Iterator[tuple[Roll, RollPod]]:
    roll = scene.rolls.get(scene.record.component)
    yield from (
        (roll, item) for item in (roll.pods if roll else ()) if roll and item.new and item.name == scene.record.pod
    )


def backends_alive(scene: Scene) -> str:
    """One backend is missing at a time; and frontends of another release come after all backends."""
    if scene.roll.component != "be" and not (scene.frontend and scene.versions.direction == Direction.UPGRADE):
        return ""
    view = scene.view
    if view is None or view.backends is None:
        return "FE has not told of its backends"
    dead = [row.host.split(".")[0] for row in view.backends if not row.alive]
    return f"{', '.join(dead)} {'is' if len(dead) == 1 else 'are'} not alive" if dead else ""


def nobody_leaves(scene: Scene) -> str:
    """A decommission moves tablets, and needs the others meanwhile; between minor releases it must be over."""
    if scene.roll.component == "be" or scene.versions.minor:
        rows = (scene.view.backends if scene.view else None) or ()
        leaving = [row.host.split(".")[0] for row in rows if row.decommissioned]
        ordered = Memory.of(scene.cluster, scene.observed.children)
        leaving = leaving or [row.host.split(".")[0] for row in rows if ordered.ordered(row)]
        if leaving:
            return f"{leaving[0]} is being decommissioned"
    slots = roster_of(scene.rosters, scene.roll.component).slots
    going = [slot.name for slot in slots if not slot.wanted and (slot.rows or slot.pod is not None)]
    return f"{going[0]} is leaving" if going else ""


GENERATION = (Gate(name="NewGenerationAlive", objection=new_generation),)
MEMBERS = (
    Gate(name="BackendsAlive", objection=backends_alive),
    Gate(name="NoDecommission", objection=nobody_leaves),
)
