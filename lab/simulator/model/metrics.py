"""What a frontend says of itself on /metrics: the few lines that tell of work under way."""

from __future__ import annotations

from lab.simulator.model.process import FrontendProcess


def frontend_metrics(process: FrontendProcess) -> str:
    """In the Prometheus text format; nothing before it serves."""
    database = process.database
    if database is None or not process.serving:
        return ""
    waiting, running = database.tablets.clones.queue() if process is database.leader else (0, 0)
    gauges = {
        "unfinished_backup_job": database.backups.running("backup"),
        "unfinished_restore_job": database.backups.running("restore"),
        "max_journal_id": database.journal_id(database.seen_at(process)),
        "scheduled_tablet_num": waiting + running,
        "image_write": process.images,
    }
    lines = [
        line
        for name, value in gauges.items()
        for line in (f"# TYPE starrocks_fe_{name} gauge", f"starrocks_fe_{name} {value}")
    ]
    return "\n".join(lines) + "\n"
