"""A simulator as a process: how it is told to stop, and how much it may open."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import signal


def stop_signal() -> asyncio.Event:
    """Set when somebody wants this process to end."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


async def until(stop: asyncio.Event, *runs: object) -> None:
    tasks = [asyncio.ensure_future(run) for run in runs]  # type: ignore[call-overload]
    stopped = asyncio.ensure_future(stop.wait())
    done, _ = await asyncio.wait([*tasks, stopped], return_when=asyncio.FIRST_COMPLETED)
    for task in [*tasks, stopped]:
        task.cancel()
    for task in tasks:
        with contextlib.suppress(asyncio.CancelledError):
            await task
    for task in done - {stopped}:
        task.result()


def allow_many_sockets() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
