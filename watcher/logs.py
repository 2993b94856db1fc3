"""Logs: one JSON object a line, or readable on a terminal. Values that may be secret are never given to a logger."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog

QUIET = {"kopf": logging.WARNING, "kubernetes": logging.WARNING, "aiohttp": logging.WARNING, "asyncio": logging.WARNING}
HUSHED = ("will retry", "OS signals are ignored")


def configure(*, form: str, level: str) -> None:
    """Send structlog's and the libraries' records to standard error in one form."""
    console = form == "console" or (form == "auto" and sys.stderr.isatty())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last = _console() if console else structlog.processors.JSONRenderer(sort_keys=True)
    tail = [last] if console else [structlog.processors.format_exc_info, last]
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *tail]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    handler.addFilter(_worth_saying)
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    for name, quiet in QUIET.items():
        logging.getLogger(name).setLevel(max(quiet, logging.getLevelName(level.upper())))
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def _console() -> Any:
    """Tracebacks without the values of variables, which structlog would print there: passwords may be among them."""
    return structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)


def _worth_saying(record: logging.LogRecord) -> bool:
    """kopf calls every retry an error, for each watch; what it gives up after the last one is said by us."""
    return not (record.name.startswith("kopf") and any(text in record.getMessage() for text in HUSHED))


def logger(name: str) -> structlog.stdlib.BoundLogger:
    return structlog.stdlib.get_logger(name)
