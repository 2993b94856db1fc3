"""A rehearsal: the operator's own loop against a tiny Kubernetes and the simulator, in one process, on virtual time.

Everything that decides and everything that speaks to FE is the product's own code; only the wires are replaced. All
that the operator does to the world outside passes one gate, where a test may end the operator, lose an answer, let
time pass, or let somebody else act in between.
"""

from lab.rehearsal.gate import Call, CallKind, Dies, Gate, Loses, Meanwhile
from lab.rehearsal.rehearsal import Rehearsal

__all__ = ["Call", "CallKind", "Dies", "Gate", "Loses", "Meanwhile", "Rehearsal"]
