"""FE's settings that are others while minor releases change.

Tablets are not balanced for the whole roll, and not repaired while a backend is down: its copies are not lost, they
come back with it. In between repair must be on, or copies that missed a load would never be made good. Frontends keep
such settings in memory only: what a restart undid is set again. The values they had are in the status, and in the
marker, before they are changed, and restored whoever is the operator by then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from starrocks_operator.membership.node_ground import ROLLED_SETTINGS
from starrocks_operator.membership.node_table import SCHEDULING
from starrocks_operator.step import Step, StepKind

BALANCE = tuple(key for key in ROLLED_SETTINGS if key != SCHEDULING)
FORCED: Mapping[str, str] = {**dict.fromkeys(BALANCE, "true"), SCHEDULING: "0"}
"""What they are meanwhile."""


def hold(settings: Mapping[str, str] | None, *, backend: bool) -> Step | None:
    """The next setting to be changed before a pod stops. backend: whether it is a backend's."""
    for key in (*BALANCE, *((SCHEDULING,) if backend else ())):
        value = (settings or {}).get(key)
        if value is not None and value.lower() != FORCED[key]:
            what = "are not repaired while a backend is down" if key == SCHEDULING else "are not balanced"
            reason = f"Between two minor releases tablets {what}."
            return _step(StepKind.HOLD_SETTING, key, value, FORCED[key], reason)
    return None


def restore(
    held: Mapping[str, str], settings: Mapping[str, str] | None, *, keys: Iterable[str] = tuple(FORCED)
) -> Step | None:
    """The next setting that becomes what it was. What somebody else has changed meanwhile stays as it is."""
    for key in keys:
        was, value = held.get(key), (settings or {}).get(key)
        if was is not None and value is not None and value.lower() == FORCED[key] != was.lower():
            reason = f"FE's setting is no longer held: it becomes {was} again."
            return _step(StepKind.RESTORE_SETTING, key, value, was, reason)
    return None


def _step(kind: StepKind, key: str, value: str, to: str, reason: str) -> Step:
    return Step(kind=kind, target=key, reason=reason, reversible=True, expects=(("value", value), ("to", to)))
