"""What the last Ansible run did for one cluster, as the watcher and `status` need it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum


class StepOutcome(StrEnum):
    """What became of the Step that a run was given."""

    DONE = "done"
    STALE = "stale"  # decided afresh, it was no longer the step to take: nothing was done
    UNKNOWN = "unknown"  # the statement was sent and the reply lost: to be resolved by looking
    FAILED = "failed"  # FE refused it; the message says why
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """The outcome of one run for one cluster.

    fingerprint: the Decision's fingerprint that the run carried out.
    reason: CamelCase when it did not succeed: ApplyRefused, StepFailed, RunTimedOut, RunnerCrashed.
    message: a sentence for a person, without secrets.
    changed: the objects that were really changed, as "Kind/name".
    said: what the step itself said about its outcome.
    stale: how many runs in a row found the same step stale.
    """

    fingerprint: str
    finished_at: datetime
    succeeded: bool
    reason: str = ""
    message: str = ""
    changed: tuple[str, ...] = ()
    step: StepOutcome = StepOutcome.NONE
    said: str = ""
    stale: int = 0

    def after(self, before: RunReport | None) -> RunReport:
        """This report, as the one that follows `before`: once stale is the world's way, again and again is a fault."""
        if self.step != StepOutcome.STALE:
            return self
        again = before.stale if before is not None and before.fingerprint == self.fingerprint else 0
        return replace(self, stale=again + 1)
