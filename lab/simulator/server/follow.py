"""List and watch one kind of object for ever, as plain dictionaries."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
from kubernetes.aio import client, watch

from lab.simulator.server.manifest import Raw

_log = logging.getLogger(__name__)
_PAUSE = 0.5
Handle = Callable[[str, Raw], Awaitable[None]]  # event type and object


class Follower:
    """`name` is a list call of `api`; `arguments` go into it. `listed` is set when the first list has been handled."""

    def __init__(self, api: Any, name: str, arguments: dict[str, Any], handle: Handle) -> None:
        self._name = name
        # The client's own deserialisation is avoided: plain dictionaries are enough and far cheaper.
        self._list_call = getattr(api, f"{name}_without_preload_content")
        self._watch_call = getattr(api, name)
        self._arguments = arguments
        self._handle = handle
        self._known: dict[str, Raw] = {}
        self.listed = asyncio.Event()

    async def run(self) -> None:
        while True:
            try:
                version = await self._list()
                self.listed.set()
                await self._watch(version)
            except (client.ApiException, aiohttp.ClientError, OSError, ValueError, TimeoutError) as error:
                _log.info("%s again after %s", self._name, type(error).__name__)
                await asyncio.sleep(_PAUSE)

    async def _list(self) -> str:
        response = await self._list_call(**self._arguments)
        found = json.loads(await response.read())
        if response.status != 200:
            raise client.ApiException(status=response.status, reason=found.get("message"))
        items = {item["metadata"]["uid"]: item for item in found.get("items") or []}
        for uid in self._known.keys() - items.keys():
            await self._handle("DELETED", self._known.pop(uid))
        for uid, item in items.items():
            self._known[uid] = item
            await self._handle("MODIFIED", item)
        return str(found["metadata"]["resourceVersion"])

    async def _watch(self, version: str) -> None:
        watcher = watch.Watch()
        watcher.get_return_type = lambda _func: None
        options = {"resource_version": version, "allow_watch_bookmarks": True, "timeout_seconds": 300}
        async with watcher.stream(self._watch_call, **self._arguments, **options) as stream:
            async for event in stream:
                if event["type"] not in ("ADDED", "MODIFIED", "DELETED"):
                    continue
                raw = event["raw_object"]
                uid = raw["metadata"]["uid"]
                if event["type"] == "DELETED":
                    self._known.pop(uid, None)
                else:
                    self._known[uid] = raw
                await self._handle(event["type"], raw)
