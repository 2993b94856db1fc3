"""Keeps the sockets of each pod as its process wants them: open while it serves, closed (refusing) otherwise."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from aiohttp import web

from lab.simulator.model.container import Container
from lab.simulator.model.facts import PodFacts
from lab.simulator.server.mysql import Asked, MysqlListener

_RETRY = 0.2  # seconds, while a former pod's socket lingers on the same address
_log = logging.getLogger(__name__)


class PodSockets:
    """The sockets of one pod."""

    def __init__(self, facts: PodFacts, asked: Asked, web_server: web.Server) -> None:
        self._facts = facts
        self._web_server = web_server
        self._web: asyncio.Server | None = None
        self._mysql = (
            MysqlListener(asked, facts.socket_address, facts.port("query_port")) if facts.component == "fe" else None
        )

    async def open(self) -> None:
        if self._mysql is not None:
            await self._mysql.open()
        if self._web is None:
            loop = asyncio.get_running_loop()
            self._web = await loop.create_server(self._web_server, self._facts.socket_address, self._facts.web_port)

    def close(self) -> None:
        if self._mysql is not None:
            self._mysql.close()
        if self._web is not None:
            self._web.close()
            self._web = None
        for connection in list(self._web_server.connections):
            transport = connection.transport
            if transport is not None and transport.get_extra_info("sockname")[0] == self._facts.socket_address:
                transport.abort()


class Listeners:
    """All pods' sockets. `sync` may be called as often as one likes; it does what is missing."""

    def __init__(
        self,
        asked: Callable[[PodFacts], Asked],
        web_server: web.Server,
        again: Callable[[Container], None],
    ) -> None:
        self._asked = asked
        self._again = again
        self._web_server = web_server
        self._sockets: dict[str, tuple[Container, PodSockets]] = {}

    async def sync(self, container: Container) -> None:
        key = container.facts.uid
        if container.stopped or container.process is None or not self._wanted(container):
            known = self._sockets.pop(key, None)
            if known is not None:
                known[1].close()
            return
        if key in self._sockets:
            return
        sockets = PodSockets(container.facts, self._asked(container.facts), self._web_server)
        try:
            await sockets.open()
        except OSError as error:
            sockets.close()
            _log.warning("%s cannot listen on %s yet: %s", container.facts.key, container.facts.address, error)
            asyncio.get_running_loop().call_later(_RETRY, self._again, container)
            return
        self._sockets[key] = (container, sockets)
        if container.stopped or not self._wanted(container):
            await self.sync(container)

    @staticmethod
    def _wanted(container: Container) -> bool:
        return container.frontend.serving if container.frontend is not None else container.node is not None

    def close(self) -> None:
        for _, sockets in self._sockets.values():
            sockets.close()
        self._sockets.clear()

    def __len__(self) -> int:
        return len(self._sockets)
