"""What a run brought back for one cluster, as the report that `status` and the next decision need."""

from __future__ import annotations

from datetime import UTC, datetime

from starrocks_operator.run_report import RunReport, StepOutcome
from watcher.job import Job, Result
from watcher.play import Ending, HostRecord

LONGEST_MESSAGE = 600
FAILED_STEP = (StepOutcome.FAILED, StepOutcome.UNKNOWN)


def translate(job: Job, host: HostRecord) -> Result:
    """The result of a job whose host finished."""
    reason, message = _judge(host)
    report = RunReport(
        fingerprint=job.fingerprint,
        finished_at=datetime.now(UTC),
        succeeded=not reason,
        reason=reason,
        message=message[:LONGEST_MESSAGE],
        changed=tuple(f"{item['kind']}/{item['name']}" for item in host.objects if item.get("changed")),
        step=_outcome(host),
        said=host.outcome_message[:LONGEST_MESSAGE],
    )
    versions = {
        (str(item["kind"]), str(item["name"])): str(item["resourceVersion"])
        for item in host.objects
        if item.get("resourceVersion")
    }
    return Result(report=report, versions=versions, seconds=host.seconds)


def unfinished(job: Job, ending: Ending) -> Result:
    """The result of a job that the run did not bring to an end."""
    if ending.status == "timeout":
        return broken(job, "RunTimedOut", "The run took too long and was ended.")
    return broken(job, "RunnerCrashed", f"Ansible ended ({ending.status}) before it was done.")


def broken(job: Job, reason: str, message: str) -> Result:
    """The result of a job that failed without any word from its host."""
    report = RunReport(
        fingerprint=job.fingerprint, finished_at=datetime.now(UTC), succeeded=False, reason=reason, message=message
    )
    return Result(report=report)


def _judge(host: HostRecord) -> tuple[str, str]:
    """The reason and the sentence; empty: it succeeded."""
    if _outcome(host) in FAILED_STEP:
        return "StepFailed", host.outcome_message or "The step failed, and FE did not say why."
    if host.errors:
        return "ApplyRefused", " ".join(host.errors)
    return "", ""


def _outcome(host: HostRecord) -> StepOutcome:
    return StepOutcome(host.outcome) if host.outcome in set(StepOutcome) else StepOutcome.NONE
