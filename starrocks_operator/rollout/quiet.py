"""Before a backend or compute node stops, each frontend is told to send it no new queries; when it is back, to again.

The lists are each frontend's own, and in memory: one that restarts has forgotten them. Whom we put there is written
to the status before, and taken off when the new process is alive or when the pod is not replaced after all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from starrocks_operator.membership import Outlook, Rosters
from starrocks_operator.observed import ComputeRow, FrontendView, Outcome
from starrocks_operator.rollout.rows import Row
from starrocks_operator.step import Step, StepKind

LISTS = {"be": "BACKEND", "cn": "COMPUTE NODE"}
"""What the lists are called in FE's statements, by component."""


@dataclass(frozen=True, kw_only=True)
class Quiet:
    """A backend or compute node that we keep queries from, as the record remembers it: `be/10001`."""

    component: str
    id: str

    @property
    def word(self) -> str:
        return f"{self.component}/{self.id}"

    @classmethod
    def of(cls, words: tuple[str, ...]) -> Iterator[Quiet]:
        for word in words:
            component, _, number = word.partition("/")
            if component in LISTS and number:
                yield cls(component=component, id=number)


def lists_of(view: FrontendView | None, component: str) -> Mapping[str, frozenset[str]] | None:
    """By frontend, whom it sends no queries; empty: this release has no such lists; None: not asked."""
    if view is None:
        return None
    return view.backend_blacklists if component == "be" else view.blacklists


def diversion(component: str, row: Row | None, view: FrontendView | None) -> Outlook | None:
    """What is to be done before this one stops; None: nothing more."""
    if component not in LISTS or not isinstance(row, ComputeRow) or not row.alive:
        return None
    lists = lists_of(view, component)
    name = row.host.split(".")[0]
    if lists is None:
        return Outlook(waits=(f"{name} is to be replaced: the frontends have not been asked for their blacklists yet",))
    if all(row.id in ids for ids in lists.values()):
        return None
    step = _step(
        StepKind.DIVERT_QUERIES, component, row.id, row.target, f"Pod {name} is to be replaced: it gets no new queries."
    )
    return Outlook(step=step, waits=(f"{name} is to be replaced: it gets no new queries",))


def readmission(quiet: tuple[str, ...], rosters: Rosters, view: FrontendView | None, *, but: str) -> Step | None:
    """The next one that gets queries again. but: the pod that is just being replaced."""
    for item in Quiet.of(quiet):
        name, row = _whose(item, rosters)
        lists = lists_of(view, item.component) or {}
        if row is not None and row.alive and name != but and any(item.id in ids for ids in lists.values()):
            reason = f"Pod {name} is not being replaced any more: it gets queries again."
            return _step(StepKind.READMIT_QUERIES, item.component, item.id, row.target, reason)
    return None


def still_quiet(quiet: tuple[str, ...], rosters: Rosters, view: FrontendView | None) -> tuple[str, ...]:
    """Without those whom every frontend sends queries again, and those that FE has forgotten."""
    heard = view is not None and all(answer.outcome == Outcome.ANSWERED for answer in view.answers)
    return tuple(item.word for item in Quiet.of(quiet) if not heard or _is_listed(item, rosters, view))


def _is_listed(item: Quiet, rosters: Rosters, view: FrontendView | None) -> bool:
    lists = lists_of(view, item.component)
    if lists is None:
        return True
    return _whose(item, rosters)[1] is not None and any(item.id in ids for ids in lists.values())


def _whose(item: Quiet, rosters: Rosters) -> tuple[str, ComputeRow | None]:
    for slot in (rosters.be if item.component == "be" else rosters.cn).slots:
        for row in slot.rows:
            if row.id == item.id:
                return slot.name, row
    return "", None


def _step(kind: StepKind, component: str, number: str, target: str, reason: str) -> Step:
    facts = (("id", number), ("list", LISTS[component]))
    return Step(kind=kind, target=target, reason=reason, reversible=True, expects=facts)
