"""The roll of a whole cluster: which pod comes next, whether it may be replaced now, and the step that does it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from starrocks_operator.decision import Context
from starrocks_operator.membership import Outlook, Rosters
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.observed import Observed
from starrocks_operator.rollout.gates import Scene, objection
from starrocks_operator.rollout.replacement import replacement
from starrocks_operator.rollout.restart import pods_on_request
from starrocks_operator.rollout.roll import Method, Roll, RollPod
from starrocks_operator.rollout.shaping import shape_of

ORDER = ("be", "cn", "fe-observer", "fe")


@dataclass(frozen=True, kw_only=True)
class Course:
    """outlook: the next step, waits and findings. shapes: what StatefulSets must have now, by component."""

    outlook: Outlook = field(default_factory=Outlook)
    shapes: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


def course_of(
    cluster: StarRocksCluster, observed: Observed, context: Context, rosters: Rosters, rolls: Mapping[str, Roll]
) -> Course:
    """What a roll does next. While nothing is rolled this costs next to nothing."""
    outlook, withdrawn = Outlook(), set()
    for name in ORDER:
        roll = rolls.get(name)
        if roll is None or roll.method == Method.OWNER or not roll.open:
            continue
        target = _next(roll)
        if target is None:
            outlook = outlook.then(Outlook(waits=(f"{name}: the last of its pods is being replaced",)))
            break
        scene = Scene(cluster=cluster, observed=observed, context=context, rosters=rosters, roll=roll, target=target)
        why = objection(scene)
        if why is not None:
            withdrawn.add(name)
            outlook = outlook.then(Outlook(waits=(f"pod {target.name} is to be replaced, but not yet: {why[1]}",)))
            break
        reason = f"Pod {target.name} is replaced: its template has changed."
        step = replacement(roll, target, reason=reason)
        outlook = outlook.then(Outlook(step=step, waits=(f"pod {target.name} is being replaced",)))
        break
    if outlook == Outlook():
        outlook = pods_on_request(cluster, observed, context, rosters, rolls)
    shapes = {
        name: shape.document()
        for name, roll in rolls.items()
        if (shape := shape_of(roll, observed.revisions, withdraw=name in withdrawn)).document()
    }
    return Course(outlook=outlook, shapes=shapes)


def _next(roll: Roll) -> RollPod | None:
    if any(not pod.pod.ready for pod in roll.pods if pod.new):
        return None
    return roll.old[-1] if roll.old else None
