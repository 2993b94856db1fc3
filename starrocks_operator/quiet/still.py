"""A decision of which nothing is carried out, with the sentence that says what would be."""

from __future__ import annotations

from dataclasses import replace

from starrocks_operator.decision import Decision, Finding

LONGEST = 1500


def held_still(decision: Decision, finding: Finding) -> Decision:
    """Nothing is applied, removed, told to FE or replaced. What is waited for goes on only if it needs nobody."""
    return replace(
        decision,
        context=replace(decision.context, components=()),
        apply={},
        prune=(),
        step=None,
        changes=(),
        waits=() if decision.due else decision.waits,
        findings=(*decision.findings, finding),
        fingerprint="still",
    )


def intentions(decision: Decision) -> str:
    """What would be done, as the rest of a sentence; empty: nothing."""
    step = (f"{decision.step.kind} {decision.step.target}: {decision.step.reason}",) if decision.step else ()
    return "; ".join((*decision.changes, *step))[:LONGEST].rstrip(".")
