"""Where agents call in: one connection for each process, and one for each client that a pod passes on."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import re
from collections.abc import AsyncIterator

from lab.simulator.model.container import Container
from lab.simulator.model.database import Database
from lab.simulator.model.facts import Component, PodFacts
from lab.simulator.model.faults import lay
from lab.simulator.pods.farewell import Farewells
from lab.simulator.pods.introduction import cluster_of, complaint, facts_of, ports
from lab.simulator.pods.volumes import files_of, mounted
from lab.simulator.pods.wire import LINE_LIMIT, Message, keep_alive, receive, send, splice
from lab.simulator.server.simulator import Simulator

_log = logging.getLogger(__name__)
_EXIT = re.compile(r"exit (\d+)")
_BROKEN = 1


class Member:
    """One process in a real pod, and what it was told last."""

    def __init__(self, facts: PodFacts, writer: asyncio.StreamWriter) -> None:
        self.facts = facts
        self.leaving = False
        self._writer = writer
        self._told: Message = {}

    def tell(self, message: Message) -> None:
        """Only what is new."""
        news = {key: value for key, value in message.items() if self._told.get(key) != value}
        if news and not self._writer.is_closing():
            self._told |= news
            send(self._writer, news)


class Gateway:
    """subnet: 127.N, where the world's own sockets for each process are; nobody but the agents is sent there."""

    def __init__(self, simulator: Simulator, farewells: Farewells, *, subnet: str, default_version: str) -> None:
        self._simulator = simulator
        self._farewells = farewells
        self._subnet = subnet
        self._default_version = default_version
        self._births = itertools.count(1)
        self._members: dict[str, Member] = {}  # by uid
        self._volumes: dict[str, str] = {}  # the last one of each pod
        truth = simulator.world.on_truth

        def changed(database: Database) -> None:
            truth(database)
            self._show_disks(database)

        simulator.world.on_truth = changed
        simulator.world.dns = lambda host: host  # whoever adds a member has a pod with a name, started or not
        simulator.write_back = self.changed

    @contextlib.asynccontextmanager
    async def serving(self, host: str, port: int) -> AsyncIterator[str]:
        server = await asyncio.start_server(self._serve, host, port, limit=LINE_LIMIT)
        try:
            where = server.sockets[0].getsockname()
            yield f"{where[0]}:{where[1]}"
        finally:
            server.close()

    # -- what comes in -----------------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            first = await receive(reader)
            if first is not None and "hello" in first:
                keep_alive(writer)
                await self._play(first, reader, writer)
            elif first is not None:
                await self._pass_on(first, reader, writer)
        except (KeyError, ValueError) as error:
            _log.warning("an agent sent what cannot be read: %r", error)
        except asyncio.CancelledError:
            pass  # the world ends; asyncio's streams would complain about it
        finally:
            writer.transport.abort()

    async def _pass_on(self, first: Message, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        member = self._members.get(first["node"])
        if member is None:
            return
        with contextlib.suppress(OSError):
            inner = await asyncio.open_connection(member.facts.socket_address, int(first["port"]))
            await splice((reader, writer), inner)

    async def _play(self, hello: Message, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The life of one process, which ends with its connection."""
        facts = self._introduce(hello)
        member = self._members[facts.uid] = Member(facts, writer)
        member.tell({"node": facts.uid})
        _log.info("%s %s starts on %s", facts.component, facts.key, facts.volume)
        try:
            if problem := complaint(facts):
                member.tell({"say": problem, "exit": _BROKEN})
                await receive(reader)
                return
            self._simulator.pod_started(facts)
            while (said := await receive(reader)) is not None:
                if said.get("leave"):
                    await self._leave(member)
        finally:
            _log.info("%s %s ended", facts.component, facts.key)
            del self._members[facts.uid]
            self._ended(member)

    def _introduce(self, hello: Message) -> PodFacts:
        """A pod on another volume than before has lost that one."""
        self._simulator.advance()
        number = next(self._births)
        uid = f"{hello['pod']}-{number}"
        component = Component(hello["hello"])
        self._farewells.returns(cluster_of(hello))
        volume = mounted(self._simulator.world, hello["volume"], component, hello["files"])
        facts = facts_of(
            hello,
            uid=uid,
            listen=f"{self._subnet}.{number // 250 % 250}.{number % 250 + 1}",
            volume=volume,
            default_version=self._default_version,
        )
        before = self._volumes.get(facts.key)
        self._volumes[facts.key] = volume
        if before not in (None, volume):
            self._simulator.volume_deleted(str(before))
        return facts

    async def _leave(self, member: Member) -> None:
        container = self._container(member)
        if container is None or member.leaving:
            return
        member.leaving = True
        lay(self._simulator.world, member.facts.key, "leave")
        self._simulator.wake()
        await self._simulator.pause(self._simulator.world.timing.graceful_stop)
        member.tell({"exit": 0})

    def _ended(self, member: Member) -> None:
        if self._container(member) is not None:
            self._simulator.advance()
            self._simulator.world.pod_stopped(member.facts.key, graceful=member.leaving)
            self._simulator.wake()

    # -- what goes out -----------------------------------------------------------------------------------------

    def changed(self, container: Container) -> None:
        member = self._members.get(container.facts.uid)
        if member is None or container.stopped:
            return
        frontend = container.frontend
        serving = frontend is not None and frontend.serving
        member.tell({"files": files_of(container.volume, container.facts.component)})
        member.tell({"listen": ports(container.facts, started=container.process is not None, serving=serving)})
        waiting = frontend.waiting if frontend is not None else ""
        if waiting:
            member.tell({"say": waiting})
        if container.backing_off:
            found = _EXIT.match(container.exit_reason)
            member.tell({"say": container.exit_reason, "exit": int(found[1]) if found else _BROKEN})

    def _show_disks(self, database: Database) -> None:
        """A backend keeps the number of its cluster from its first heartbeat on."""
        for member in self._members.values():
            container = self._container(member)
            if container is not None and member.facts.cluster == database.cluster:
                member.tell({"files": files_of(container.volume, member.facts.component)})

    def _container(self, member: Member) -> Container | None:
        container = self._simulator.world.pods.get(member.facts.key)
        return container if container is not None and container.facts.uid == member.facts.uid else None
