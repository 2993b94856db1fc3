"""How the tablets are, and what is going on with them, as the leader tells while pods are replaced.

Each question may be unknown to a release, or not be allowed to our account: then that much is not known, and no more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from starrocks_operator.frontend.connection import FrontendConnection, FrontendError
from starrocks_operator.frontend.rows import Record, optional_number, text
from starrocks_operator.frontend.statements import BALANCE, FEWEST_REPLICAS, STATISTIC
from starrocks_operator.observed import Health, Questions

MOVING = ("pending_tablets", "running_tablets")

_JOBS = re.compile(rb"^starrocks_fe_unfinished_(?:backup|restore)_job(?:\{[^}]*\})?\s+(\d+)", re.MULTILINE)
_IMAGES = re.compile(rb"^starrocks_fe_image_(?:write|push)((?:\{[^}]*\})?)\s+(\d+)", re.MULTILINE)


def health_of(connection: FrontendConnection, questions: Questions) -> Health:
    """What this frontend, which leads, tells."""
    statistic, balance = _ask(connection, STATISTIC), _ask(connection, BALANCE)
    fewest = _ask(connection, FEWEST_REPLICAS) if questions.copies else ()
    metrics = connection.metrics(questions.jobs_port) if questions.jobs_port else b""
    total = next((row for row in statistic if text(row, "dbid").lower() == "total"), None)
    return Health(
        unhealthy=optional_number(total, "unhealthytabletnum") if total else None,
        clones=_moving(balance),
        backups=_jobs(metrics),
        images=_images(metrics),
        fewest_copies=next((optional_number(row, "replication") for row in fewest), None),
    )


def _ask(connection: FrontendConnection, question: str) -> tuple[Record, ...]:
    try:
        return tuple(connection.ask(question))
    except FrontendError as failure:
        if failure.lost:
            raise
        return ()


def _moving(rows: Iterable[Record]) -> int | None:
    counts = [optional_number(row, "number") for row in rows if text(row, "item") in MOVING]
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _jobs(metrics: bytes) -> int | None:
    """Only its metrics count the jobs of all databases."""
    counts = _JOBS.findall(metrics)
    return sum(map(int, counts)) if counts else None


def _images(metrics: bytes) -> int | None:
    """Some releases have another frontend write them, and count with the leader only to how many it was handed."""
    counts = [int(count) for labels, count in _IMAGES.findall(metrics) if b"failed" not in labels]
    return sum(counts) if counts else None
