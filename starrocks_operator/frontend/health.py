"""How the tablets are, and what is going on with them, as the leader tells while pods are replaced.

Each question may be unknown to a release, or not be allowed to our account: then that much is not known, and no more.
"""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Iterable
from urllib.error import URLError

from starrocks_operator.frontend.connection import FrontendConnection, FrontendError
from starrocks_operator.frontend.rows import Record, optional_number, text
from starrocks_operator.frontend.statements import BALANCE, FEWEST_REPLICAS, STATISTIC
from starrocks_operator.observed import Health, Questions

METRICS = "/metrics"
SECONDS = 2.0
LONGEST = 4_000_000
MOVING = ("pending_tablets", "running_tablets")

_JOBS = re.compile(rb"^starrocks_fe_unfinished_(?:backup|restore)_job(?:\{[^}]*\})?\s+(\d+)", re.MULTILINE)


def health_of(connection: FrontendConnection, questions: Questions) -> Health:
    """What this frontend, which leads, tells."""
    statistic, balance = _ask(connection, STATISTIC), _ask(connection, BALANCE)
    fewest = _ask(connection, FEWEST_REPLICAS) if questions.copies else ()
    total = next((row for row in statistic if text(row, "dbid").lower() == "total"), None)
    return Health(
        unhealthy=optional_number(total, "unhealthytabletnum") if total else None,
        clones=_moving(balance),
        backups=_jobs(connection.endpoint.address, questions.jobs_port) if questions.jobs_port else None,
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


def _jobs(address: str, port: int) -> int | None:
    """Only its metrics count the jobs of all databases."""
    host = f"[{address}]" if ":" in address else address
    try:
        with urllib.request.urlopen(f"http://{host}:{port}{METRICS}", timeout=SECONDS) as answer:
            counts = _JOBS.findall(answer.read(LONGEST))
    except (URLError, OSError, ValueError):
        return None
    return sum(map(int, counts)) if counts else None
