"""What one table of membership says: at most one step, what is waited for, and what a person should know."""

from __future__ import annotations

from dataclasses import dataclass

from starrocks_operator.decision import Finding
from starrocks_operator.step import Step


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """One component's next step (or none), waits and findings."""

    step: Step | None = None
    waits: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    def then(self, other: Outlook) -> Outlook:
        """Both together. The first step goes first: one step at a time, frontends before the rest."""
        return Outlook(
            step=self.step or other.step,
            waits=self.waits + other.waits,
            findings=self.findings + other.findings,
        )
