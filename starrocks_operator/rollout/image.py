"""An image of the metadata before frontends change their minor release, as the record remembers it.

`ALTER SYSTEM CREATE IMAGE` ends later than its answer comes, and no statement tells when. The leader's metrics count
the images that it wrote, and those that it handed to others: a count that has grown shows a new one. A lost record
costs one more image.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from starrocks_operator.decision import Decision
from starrocks_operator.membership.pods import instant
from starrocks_operator.observed import FrontendRow, FrontendView
from starrocks_operator.run_report import RunReport, StepOutcome
from starrocks_operator.step import Step, StepKind

PATIENCE = timedelta(minutes=5)
"""So long an image may take until the leader is told once more."""
TRIES = 5


@dataclass(frozen=True, kw_only=True)
class Image:
    """purpose: the leader's minor release, and where it goes. leader: its host and start, in FE's words.

    count: of its images, before it was told; None: this release counts none. tries: how often it was to be told.
    said: when FE took the last statement. done: there is one.
    """

    purpose: str
    leader: str
    count: int | None = None
    tries: int = 1
    said: datetime | None = None
    done: bool = False

    def document(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "purpose": self.purpose,
            "leader": self.leader,
            "count": self.count,
            "tries": self.tries,
            "said": self.said and _written(self.said),
            "done": self.done,
        }
        return {key: value for key, value in found.items() if value is not None and value is not False}

    @classmethod
    def of(cls, told: Any) -> Image | None:
        if not isinstance(told, Mapping):
            return None
        count, tries = told.get("count"), told.get("tries")
        return cls(
            purpose=str(told.get("purpose", "")),
            leader=str(told.get("leader", "")),
            count=count if isinstance(count, int) else None,
            tries=tries if isinstance(tries, int) else 1,
            said=instant(told.get("said")),
            done=told.get("done") is True,
        )

    @property
    def spent(self) -> bool:
        """Whether it was said as often as it will be."""
        return self.said is not None and self.tries >= TRIES

    def late(self, now: datetime) -> bool:
        return self.said is not None and now - self.said >= PATIENCE

    def step(self, leader: FrontendRow) -> Step:
        return Step(
            kind=StepKind.CREATE_IMAGE,
            target=leader.target,
            reason="Between two minor releases the leader first writes an image of the metadata.",
            reversible=True,
            expects=(("leader", self.leader), ("purpose", self.purpose), ("try", str(self.tries))),
        )


def leading(view: FrontendView | None) -> FrontendRow | None:
    """The leader's row."""
    rows = (view.frontends if view else None) or ()
    return next((row for row in rows if view is not None and row.host == view.leader), None)


def process_of(row: FrontendRow) -> str:
    return f"{row.host} {row.start_time}".strip()


def proven(image: Image | None, view: FrontendView | None) -> Image | None:
    """The same, and done if that shows now."""
    leader, health = leading(view), view.health if view else None
    if image is None or image.done or leader is None or health is None or process_of(leader) != image.leader:
        return image
    if image.count is None:
        return replace(image, done=image.said is not None)
    return replace(image, done=health.images is not None and health.images > image.count)


def next_image(image: Image | None, purpose: str, leader: FrontendRow, count: int | None, now: datetime) -> Image:
    """What is to be remembered before the leader is told: the same while it is at it, and another try after that."""
    process, known = process_of(leader), image if image is not None and image.purpose == purpose else None
    if known is None:
        return Image(purpose=purpose, leader=process, count=count)
    if known.spent:
        return replace(known, leader=process, count=count) if known.leader != process else known
    if known.leader != process:
        return replace(known, leader=process, count=count, tries=known.tries + 1, said=None)
    return replace(known, tries=known.tries + 1, said=None) if known.late(now) else known


def remembered(decision: Decision, last_run: RunReport | None) -> dict[str, Any]:
    """The decision's record of the roll, and in it that FE took the statement, if the last run was told so."""
    record, step = dict(decision.rollout), decision.step
    taken = last_run is not None and last_run.step == StepOutcome.DONE and last_run.fingerprint == decision.fingerprint
    if last_run is None or not taken or step is None or step.kind != StepKind.CREATE_IMAGE:
        return record
    return record | {"image": {**record.get("image", {}), "said": _written(last_run.finished_at)}}


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
