"""Backup and restore jobs, as far as they can be seen: a test begins and ends them through the control API.

FE keeps only the last job of a database, and a restore takes the place of a backup.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lab.simulator.model.outcome import Cell, Rows, SqlError

if TYPE_CHECKING:
    from lab.simulator.model.database import Database

_ENDED = ("FINISHED", "CANCELLED")
_BACKUP = (
    "JobId SnapshotName DbName State BackupObjs CreateTime SnapshotFinishedTime UploadFinishedTime FinishedTime "
    "UnfinishedTasks Progress TaskErrMsg Status Timeout"
)
_RESTORE = (
    "JobId Label Timestamp DbName State AllowLoad ReplicationNum RestoreObjs CreateTime MetaPreparedTime "
    "SnapshotFinishedTime DownloadFinishedTime FinishedTime UnfinishedTasks Progress TaskErrMsg Status Timeout"
)


@dataclass(frozen=True, kw_only=True)
class Job:
    job_id: int
    kind: str  # backup | restore
    db: str
    name: str
    state: str

    @property
    def running(self) -> bool:
        return self.state not in _ENDED


class Backups:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._jobs: dict[str, Job] = {}  # by database name
        self._next_id = 30001

    def begin(self, db: str, name: str, kind: str) -> None:
        if kind not in ("backup", "restore"):
            raise SqlError(f"A job is a backup or a restore, not a {kind}.")
        if self._database.shared_data:
            raise SqlError("Backup and restore are not supported in shared-data clusters.")
        if db in self._jobs and self._jobs[db].running:
            raise SqlError("Can only run one backup or restore job of a database at same time")
        state = "UPLOADING" if kind == "backup" else "DOWNLOADING"
        self._jobs[db] = Job(job_id=self._next_id, kind=kind, db=db, name=name, state=state)
        self._next_id += 1
        self._database.world.on_truth(self._database)

    def end(self, db: str, state: str = "FINISHED") -> None:
        if db not in self._jobs:
            raise SqlError(f"Database {db} has no backup or restore job.")
        self._jobs[db] = replace(self._jobs[db], state=state)
        self._database.world.on_truth(self._database)

    def running(self, kind: str | None = None) -> int:
        return sum(job.running for job in self._jobs.values() if kind in (None, job.kind))

    def show(self, kind: str, db: str) -> Rows:
        """Of one database; without one, of all of them."""
        columns = tuple((_BACKUP if kind == "backup" else _RESTORE).split())
        jobs = [job for job in self._jobs.values() if job.kind == kind and db in ("", job.db)]
        return Rows(columns, tuple(tuple(_cells(job).get(name) for name in columns) for job in jobs))


def _cells(job: Job) -> dict[str, Cell]:
    return {
        "JobId": str(job.job_id),
        "SnapshotName": job.name,
        "Label": job.name,
        "DbName": job.db,
        "State": job.state,
        "AllowLoad": "false",
        "ReplicationNum": "3",
        "BackupObjs": "",
        "RestoreObjs": "",
        "UnfinishedTasks": "1" if job.running else "",
        "Progress": "",
        "TaskErrMsg": "",
        "Status": "[OK]",
        "Timeout": "86400",
    }
