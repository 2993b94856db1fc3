"""What one table of membership says: at most one step, what is waited for, and what a person should know."""

from __future__ import annotations

from dataclasses import dataclass

from starrocks_operator.decision import Finding
from starrocks_operator.step import Step


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """One component's next step (or none), waits and findings.

    pace: if all that is waited for takes its time anyway, after how many seconds it is worth another look.
    """

    step: Step | None = None
    waits: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    pace: float | None = None

    def then(self, other: Outlook) -> Outlook:
        """Both together. The first step goes first: one step at a time, frontends before the rest."""
        return Outlook(
            step=self.step or other.step,
            waits=self.waits + other.waits,
            findings=self.findings + other.findings,
            pace=self._pace_with(other),
        )

    def _pace_with(self, other: Outlook) -> float | None:
        """Whoever waits without a pace is not to be kept waiting."""
        paces = [outlook.pace for outlook in (self, other) if outlook.waits or outlook.step]
        known = [pace for pace in paces if pace is not None]
        return min(known) if known and len(known) == len(paces) else None
