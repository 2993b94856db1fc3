"""What is done around the replacement of a pod: settings held and restored, queries kept away and let back.

All of it is undone as soon as it is not needed: when the new process is alive, when the pod is not replaced after all,
and when the roll is over; also by an operator that knows of it from the status or the marker alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from starrocks_operator.membership import Outlook, Rosters
from starrocks_operator.membership.memory import Memory
from starrocks_operator.membership.node_table import SCHEDULING
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.observed import Observed
from starrocks_operator.rollout.quiet import LISTS, Quiet, diversion, readmission, still_quiet
from starrocks_operator.rollout.record import Record
from starrocks_operator.rollout.roll import Roll
from starrocks_operator.rollout.scene import Scene
from starrocks_operator.rollout.settings import FORCED, hold, restore
from starrocks_operator.step import Step, StepKind


@dataclass(frozen=True, kw_only=True)
class Left:
    """What a roll that is over has left to do, and what is to be remembered until it is done."""

    outlook: Outlook = field(default_factory=Outlook)
    record: Mapping[str, Any] = field(default_factory=dict)


def prepare(scene: Scene, record: Record) -> Outlook | None:
    """What comes before the pod stops; None: nothing more. Who is broken takes no queries, and cannot wait."""
    if scene.broken:
        return None
    settings, backend = scene.view.settings if scene.view else None, scene.roll.component == "be"
    back = readmission(record.quiet, scene.rosters, scene.view, but=scene.target.name)
    if back is None and not backend:
        back = restore(Memory.of(scene.cluster, scene.observed.children).held, settings, keys=(SCHEDULING,))
    if back is not None:
        return Outlook(step=back, waits=("what was changed for the pod before is put back",))
    if record.minor:
        if settings is None:
            return Outlook(waits=(f"pod {scene.target.name} is to be replaced: FE's settings have not been read yet",))
        step = hold(settings, backend=backend)
        if step is not None:
            return Outlook(step=step, waits=(f"pod {scene.target.name} is to be replaced: {step.target} is held",))
    return diversion(scene.roll.component, scene.row, scene.view)


def in_between(
    cluster: StarRocksCluster, observed: Observed, rosters: Rosters, rolls: Mapping[str, Roll], record: Record
) -> Step | None:
    """What is undone while the next pod has to wait."""
    busy = in_flight(record, rolls)
    back = readmission(record.quiet, rosters, observed.view, but=record.pod if busy else "")
    if back is not None or (busy and record.component == "be"):
        return back
    settings = observed.view.settings if observed.view else None
    return restore(Memory.of(cluster, observed.children).held, settings, keys=(SCHEDULING,))


def afterwards(cluster: StarRocksCluster, observed: Observed, rosters: Rosters, *, but: str) -> Left:
    """What is undone when nothing is rolled any more, and the backends are back. but: the pod that is being restarted,
    or whose new process has not been seen yet."""
    memory, view = Memory.of(cluster, observed.children), observed.view
    held = {key: was for key, was in memory.held.items() if key in FORCED}
    if not held and not memory.quiet:
        return Left()
    before = Record.of(cluster) or Record(since=observed.now)
    quiet = still_quiet(memory.quiet, rosters, view)
    record = replace(before, quiet=quiet, gate="").document() if quiet else {}
    dead = [row.host.split(".")[0] for row in (view.backends if view else None) or () if not row.alive]
    step = readmission(quiet, rosters, view, but=but)
    if step is None and not (held and dead):
        step = restore(held, view.settings if view else None)
    waits = tuple(f"{name} gets no queries until it is back" for name in _names(quiet, rosters))
    if held and dead:
        waits += (f"FE's settings are held until {dead[0]} is alive",)
    elif step is not None:
        waits += ("what was changed for the roll is put back",)
    return Left(outlook=Outlook(step=step, waits=waits), record=record)


def with_step(quiet: tuple[str, ...], step: Step | None) -> tuple[str, ...]:
    """Also the one that the step is about: it is written down before any frontend is told."""
    if step is None or step.kind != StepKind.DIVERT_QUERIES:
        return quiet
    component = next(name for name, words in LISTS.items() if words == step.fact("list"))
    return tuple(dict.fromkeys((*quiet, Quiet(component=component, id=step.fact("id")).word)))


def in_flight(record: Record, rolls: Mapping[str, Roll]) -> bool:
    """Whether the pod whose turn it was is being made, or has not been seen alive again."""
    roll = rolls.get(record.component)
    if roll is None or not record.pod:
        return False
    item = next((pod for pod in roll.pods if pod.name == record.pod), None)
    if item is None:
        return int(record.pod.rpartition("-")[2]) < roll.replicas
    return item.pod.deleting or (item.new and item.pod.uid != record.uid and record.seen is None)


def _names(quiet: tuple[str, ...], rosters: Rosters) -> tuple[str, ...]:
    slots = (*rosters.be.slots, *rosters.cn.slots)
    ids = {item.id for item in Quiet.of(quiet)}
    return tuple(slot.name for slot in slots for row in slot.rows if row.id in ids)
