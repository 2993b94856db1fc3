"""While backends leave at our order, FE must not drop them by itself when they are empty.

A row that FE drops while the pod still runs comes back under a new id at the pod's next start, and gets tablets
again. So `drop_backend_after_decommission` is held at false meanwhile. Frontends forget the setting when they restart;
it is asserted again then. The value it had is written to the status before, and restored at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from starrocks_operator.membership.node_table import Case, Ground, Kind, Move, Standing
from starrocks_operator.step import Step, StepKind

AUTO_DROP = "drop_backend_after_decommission"
OFF = "false"


@dataclass(frozen=True, kw_only=True)
class Hold:
    """first: to be taken before any node is emptied; last: when there is nothing else to do."""

    first: Step | None = None
    last: Step | None = None


def auto_drop_of(cases: Iterable[Case], kind: Kind, ground: Ground, *, objection: bool) -> Hold:
    """What is to be done about the setting. objection: whether nobody is told to leave anyway."""
    value = (ground.settings or {}).get(AUTO_DROP)
    if not kind.holds_tablets or value is None:
        return Hold()
    if any(_needs_it(case, objection=objection) for case in cases):
        return Hold(first=None if value == OFF else _hold(value))
    was = ground.memory.held.get(AUTO_DROP)
    return Hold(last=_restore(was) if was and value == OFF != was else None)


def _needs_it(case: Case, *, objection: bool) -> bool:
    if case.standing in (Standing.DRAINING, Standing.DRAINED, Standing.GIVEN_UP):
        return True
    return case.move == Move.ORDER and not objection


def _hold(value: str) -> Step:
    return Step(
        kind=StepKind.HOLD_AUTO_DROP,
        target=AUTO_DROP,
        reason="FE shall not drop leaving backends by itself before their pods are gone.",
        reversible=True,
        expects=(("value", value), ("to", OFF)),
    )


def _restore(was: str) -> Step:
    return Step(
        kind=StepKind.RESTORE_AUTO_DROP,
        target=AUTO_DROP,
        reason=f"No backend is leaving any more: FE's setting becomes {was} again.",
        reversible=True,
        expects=(("value", OFF), ("to", was)),
    )
