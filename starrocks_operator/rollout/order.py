"""Which pod is replaced next, over all components; told anew at every step, since leadership moves.

Upgrade, and whatever changes no release: backends, compute nodes, observers, followers, and the leader last.
Downgrade: the frontends first, the leader last among them, then compute nodes, then backends. Pods that are broken
already go before all others, so that a fix gets into a broken cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from starrocks_operator.membership import Rosters
from starrocks_operator.observed import FrontendView
from starrocks_operator.rollout.roll import Method, Roll, RollPod
from starrocks_operator.rollout.rows import has_joined, row_of
from starrocks_operator.rollout.versions import Direction

ORDER: Mapping[Direction, tuple[str, ...]] = {
    Direction.SAME: ("be", "cn", "fe-observer", "fe"),
    Direction.UPGRADE: ("be", "cn", "fe-observer", "fe"),
    Direction.DOWNGRADE: ("fe-observer", "fe", "cn", "be"),
    Direction.UNKNOWN: (),
}
FRONTENDS_FIRST = ("fe", "fe-observer", "be", "cn")
"""As `waitForFullRollout` asks, where releases do not ask otherwise."""

PATIENCE = timedelta(seconds=60)
"""So long a pod may be unready, and dead for FE, until it counts as broken: it may just have started."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """The pod whose turn it is. broken: it serves nobody as it is."""

    roll: Roll
    target: RollPod
    broken: bool


def turns(
    rolls: Mapping[str, Roll],
    rosters: Rosters,
    view: FrontendView | None,
    *,
    now: datetime,
    direction: Direction,
    frontends_first: bool = False,
) -> Iterator[Turn]:
    """All that are left, in their order as it is now; the first one is next. None at all: it cannot be told."""
    names = FRONTENDS_FIRST if frontends_first and direction == Direction.SAME else ORDER[direction]
    found = (rolls.get(name) for name in names or ORDER[Direction.SAME])
    open_rolls = [roll for roll in found if roll is not None and roll.method != Method.OWNER and roll.old]
    broken = {
        roll.component: [target for target in reversed(roll.candidates) if is_broken(roll, target, rosters, now)]
        for roll in open_rolls
    }
    first = {target.name for targets in broken.values() for target in targets}
    led = view is not None and view.leader is not None
    # While somebody leads, a broken frontend waits for its backends' release: it would write metadata for it.
    urgent = open_rolls[:1] if led and direction in (Direction.UPGRADE, Direction.DOWNGRADE) else open_rolls
    for roll in urgent:
        yield from (Turn(roll=roll, target=target, broken=True) for target in broken.pop(roll.component))
    for roll in open_rolls if names else ():
        yield from (Turn(roll=roll, target=target, broken=True) for target in broken.get(roll.component, ()))
        for target in _in_turn(roll, rosters, view):
            if target.name not in first:
                yield Turn(roll=roll, target=target, broken=False)


def debugged_last(found: Iterator[Turn], debugged: frozenset[str], *, ordered: bool) -> Iterator[Turn]:
    """The same, with pods that their owner debugs after all others: those need not wait for him.

    ordered: the components must be taken in their order, so that one which is not through holds up the next.
    """
    left: list[Turn] = []
    for turn in found:
        if turn.target.name in debugged:
            left.append(turn)
        elif ordered and left and turn.roll.component != left[0].roll.component:
            break
        else:
            yield turn
    yield from left


def is_broken(roll: Roll, target: RollPod, rosters: Rosters, now: datetime) -> bool:
    """Whether nothing is lost with this pod: it fails, or has been unready for long, and FE does not count on it."""
    pod, row = target.pod, row_of(rosters, roll.component, target)
    if pod.ready or pod.deleting or (row is not None and has_joined(row)):
        return False
    since = pod.unready_since
    return pod.failed or (since is not None and now - since >= PATIENCE)


def _in_turn(roll: Roll, rosters: Rosters, view: FrontendView | None) -> Iterator[RollPod]:
    """From the highest ordinal down; the leader after all other frontends. Those that cannot be next come last."""
    leader = view.leader if view else None
    leads = []
    candidates = roll.candidates
    for target in reversed(candidates):
        row = row_of(rosters, roll.component, target)
        if leader is not None and row is not None and row.host == leader:
            leads.append(target)
        else:
            yield target
    yield from leads
    yield from (target for target in roll.old if target not in candidates)
