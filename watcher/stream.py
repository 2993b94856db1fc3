"""kopf in a thread and an event loop of its own.

kopf cancels, when it stops, every task of its loop that is younger than itself, and it takes over the signals; a run
of ours must survive the one and shutdown must own the other. So they share a process and not a loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import kopf

from watcher.handlers import Sink, kopf_settings, registry
from watcher.logs import logger
from watcher.metrics import FAILURES
from watcher.realm import CLUSTERS, Realm
from watcher.settings import Settings
from watcher.trim import Raw

log = logger(__name__)
RESTART_PAUSE = 2.0


class Stream:
    """The watches. `sink` is called in the loop that started us, in the order of each object's events."""

    def __init__(
        self, settings: Settings, sink: Sink, *, loop: asyncio.AbstractEventLoop, realm: Realm = CLUSTERS
    ) -> None:
        self._settings, self._loop, self._realm = settings, loop, realm
        self._sink: Callable[[str | None, Raw], None] = sink
        self._stop = threading.Event()
        self._kopf_ends = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="watches", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask kopf to end; nobody needs to wait for it, as it holds nothing."""
        self._stop.set()
        self._kopf_ends.set()

    def renew(self) -> None:
        """Begin all watches anew: kopf finds out at the start what there is to watch."""
        self._kopf_ends.set()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def _serve(self) -> None:
        while not self._stop.is_set():
            try:
                asyncio.run(self._operate())
            except Exception as error:
                # for example an error inside a watch, which kopf takes for the end of the world
                FAILURES.labels(reason="WatchFailed").inc()
                log.warning("the watches failed and begin anew", error=f"{type(error).__name__}: {error}"[:300])
            self._stop.wait(RESTART_PAUSE)

    async def _operate(self) -> None:
        scope: dict[str, object] = {"clusterwide": True}
        if self._settings.namespaces:
            scope = {"namespaces": self._settings.namespaces}
        ends = self._kopf_ends = threading.Event()
        if self._stop.is_set():
            return
        try:
            await kopf.operator(
                registry=registry(self._forward, self._realm),
                settings=kopf_settings(self._realm),
                stop_flag=ends,
                **scope,  # type: ignore[arg-type]
            )
        finally:
            ends.set()  # kopf waits for its flag in a thread of the loop, and the loop cannot close before that ends

    def _forward(self, event: str | None, raw: Raw) -> None:
        if not self._stop.is_set():
            self._loop.call_soon_threadsafe(self._sink, event, raw)
