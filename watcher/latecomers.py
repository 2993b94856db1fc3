"""Resources whose CRDs need not be installed, and may be while we run: then the watches have to begin anew.

kopf looks at the start for what the API server serves, and never again: `scanning` would watch all CRDs.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from watcher.kinds import Watched
from watcher.kube import ApiError, Kube
from watcher.logs import logger
from watcher.realm import Realm
from watcher.settings import Settings

log = logger(__name__)
PAUSE = 30.0  # seconds, at most, until they are looked for again


class Latecomers:
    """Remembers which of a realm's other resources are served."""

    def __init__(self, kube: Kube, settings: Settings, realm: Realm) -> None:
        self._kube, self._others = kube, realm.others
        self._namespace = next(iter(settings.namespaces), "")
        self._pause = min(PAUSE, settings.settled_interval)
        self._served: frozenset[str] = frozenset()

    async def begin(self) -> None:
        """Before the watches begin: those that are served by now are watched. Others come by `watch`."""
        with contextlib.suppress(ApiError):
            await self.look()
            for kind in self._others:
                if kind.kind not in self._served:
                    log.info(f"{kind.kind}s are not watched until their CRD is installed")

    async def watch(self, renew: Callable[[], None]) -> None:
        """Call `renew` whenever one is served that was not before. Ends only if there is none to look for."""
        while self._others:
            await asyncio.sleep(self._pause)
            try:
                news = await self.look()
            except ApiError as error:
                log.debug("cannot look for optional resources", error=str(error))
                continue
            if news:
                log.info("the watches begin anew, as a CRD was installed", kinds=sorted(news))
                renew()

    async def look(self) -> frozenset[str]:
        """The kinds that are served now and were not at the last look."""
        before = self._served
        self._served = frozenset([kind.kind for kind in self._others if await self._is_served(kind)])
        return self._served - before

    async def _is_served(self, kind: Watched) -> bool:
        try:
            await self._kube.get(f"{kind.path(self._namespace)}?limit=1")
        except ApiError as error:
            if error.status == 404:
                return False
            raise
        return True
