"""The index against the API: is everything in it that should be, and nothing that is gone?

Needed once at the start, because a decision on half an index would be a wrong one, and then every ten minutes,
because a watch that breaks can lose a deletion.
"""

from __future__ import annotations

import asyncio

from starrocks_operator.model import Key
from watcher.index import Index
from watcher.kinds import Watched
from watcher.kube import ApiError, Kube
from watcher.logs import logger
from watcher.metrics import FAILURES
from watcher.realm import CLUSTERS, Realm
from watcher.settings import Settings

log = logger(__name__)
OPTIONAL_PAUSE = 30.0  # seconds until a resource that need not be there is looked for again


class Resync:
    """Compares index and API by names and uids alone."""

    def __init__(self, kube: Kube, index: Index, settings: Settings, realm: Realm = CLUSTERS) -> None:
        self._kube, self._index, self._settings, self._realm = kube, index, settings, realm
        self.filled = False

    async def wait_for_crd(self) -> None:
        """Returns once the resource is served: watches begun earlier would never see one."""
        path = self._realm.resource.path(next(iter(self._settings.namespaces), ""))
        told = self._realm.optional
        while True:
            try:
                await self._kube.get(f"{path}?limit=1")
                return
            except ApiError as error:
                if not told:
                    log.warning(f"{self._realm.kind}s cannot be listed yet: are the CRDs installed?", error=str(error))
                told = True
            await asyncio.sleep(OPTIONAL_PAUSE if self._realm.optional else 1.0)

    async def wait_until_filled(self) -> None:
        """Returns once the watches have shown everything that there is."""
        pause, told = 0.1, ""
        while True:
            try:
                _, missing = await self.compare()
                if missing == 0:
                    break
            except ApiError as error:
                if str(error) != told:
                    told = str(error)
                    log.warning("cannot compare index and API yet", error=told)
            await asyncio.sleep(pause)
            pause = min(5.0, pause * 2)
        self.filled = True
        log.info("index filled", objects=len(self._index), clusters=len(self._index.clusters()))

    async def compare(self) -> tuple[frozenset[Key], int]:
        """The clusters that lost an object unnoticed, and how many objects the index lacks."""
        self._index.begin_sweep()
        gone: set[Key] = set()
        lacking = 0
        for kind in self._realm.watched:
            lost, missing = self._index.sweep(kind.kind, await self._listed_if_served(kind))
            gone |= lost
            lacking += missing
        if gone and self.filled:
            FAILURES.labels(reason="DeletionMissed").inc(len(gone))
            log.warning("the watches had missed deletions", clusters=len(gone))
        return frozenset(gone), lacking

    async def _listed_if_served(self, kind: Watched) -> dict[tuple[str, str], str]:
        """Nothing of a kind that the API server does not know, if it need not know it."""
        try:
            return await self._listed(kind)
        except ApiError as error:
            if error.status == 404 and kind in self._realm.others:
                return {}
            raise

    async def _listed(self, kind: Watched) -> dict[tuple[str, str], str]:
        listed = {}
        for namespace in self._settings.namespaces or ("",):
            async for item in self._kube.list(kind.path(namespace), selector=kind.selector.replace("/", "%2F")):
                metadata = item["metadata"]
                listed[metadata["namespace"], metadata["name"]] = metadata["uid"]
        return listed
