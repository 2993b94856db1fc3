"""The process in a real pod: started where the official images start a frontend, a backend or a compute node.

    python3 -m lab.simulator.pods.agent fe|be|cn HOME [--helper HOST:PORT] [--host_type FQDN] [--logconsole]

It is nothing by itself: the world (`python -m lab.simulator world`) tells it which ports to open and what to keep on
the volume, and answers whoever connects. The world sees the process die the moment it does. Stdlib only.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from lab.simulator.pods.disk import Disk, directory
from lab.simulator.pods.wire import LINE_LIMIT, Message, keep_alive, receive, send, splice
from lab.simulator.properties import properties

_WORLD = "starrocks-simulator.starrocks-simulator.svc:7000"
_RETRY = 1.0  # seconds between two calls to a world that does not answer yet
_DIAL = 5.0  # seconds for one such call
_PATIENCE = 60.0  # seconds for the world to say that a graceful exit is over
_LOST = 70
# A frontend leaves at its ease when told by SIGUSR1, backends and compute nodes when told by SIGTERM.
_GRACEFUL = {"fe": signal.SIGUSR1, "be": signal.SIGTERM, "cn": signal.SIGTERM}


Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def say(text: str) -> None:
    print(time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime()), text, file=sys.stderr, flush=True)


def log_to(file: Path) -> None:
    """What the process says goes to its own log, as that of the real ones does, unless it was told --logconsole."""
    try:
        sys.stderr = file.open("a")
    except OSError as error:
        say(f"{file} cannot be written ({error.strerror}): logging to the console")


class Agent:
    def __init__(self, component: str, home: Path, options: argparse.Namespace) -> None:
        self._component = component
        self._options = options
        self._home = home
        self._conf = _configuration(home / "conf" / f"{component}.conf")
        self._disk = Disk(component, directory(component, self._conf, home))
        host, _, port = os.environ.get("STARROCKS_SIMULATOR", _WORLD).rpartition(":")
        self._world = (host, int(port))
        self._listen_on = os.environ.get("STARROCKS_SIMULATOR_LISTEN") or None  # tests have many pods on one machine
        self._listeners: dict[int, asyncio.Server] = {}
        self._clients: set[asyncio.StreamWriter] = set()
        self._ended: asyncio.Future[int] | None = None
        self._node = ""

    async def run(self) -> int:
        """Until the process ends; gives its exit code."""
        loop = asyncio.get_running_loop()
        self._ended = loop.create_future()
        reader, writer = await self._dial()
        keep_alive(writer)
        graceful = _GRACEFUL[self._component]
        loop.add_signal_handler(graceful, self._leave, writer)
        if graceful is not signal.SIGTERM:
            loop.add_signal_handler(signal.SIGTERM, self._end, 128 + signal.SIGTERM)
        loop.add_signal_handler(signal.SIGINT, self._end, 128 + signal.SIGINT)
        send(writer, self._hello())
        obeying = asyncio.ensure_future(self._obey(reader))
        try:
            return await self._ended
        finally:
            obeying.cancel()
            self._keep_only({})
            writer.close()

    async def _dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        told = False
        while True:
            try:
                async with asyncio.timeout(_DIAL):
                    return await asyncio.open_connection(*self._world, limit=LINE_LIMIT)
            except OSError as error:  # a TimeoutError is one
                if not told:
                    say(
                        f"the simulator's world does not answer at {self._world[0]}:{self._world[1]} ({error}): waiting"
                    )
                told = True
                await asyncio.sleep(_RETRY)

    def _hello(self) -> Message:
        env, options = os.environ, self._options
        keystore = Path(self._conf.get("ssl_keystore_location") or "/nowhere")
        return {
            "hello": self._component,
            "namespace": env.get("POD_NAMESPACE", "default"),
            "pod": env.get("POD_NAME") or _hostname().partition(".")[0],
            "host": _hostname(),
            "address": env.get("POD_IP", "127.0.0.1"),
            "service": env.get("FE_SERVICE_NAME", ""),
            "version": env.get("STARROCKS_VERSION", ""),
            "observer": env.get("IS_FE_OBSERVER", ""),
            "warehouse": env.get("KUBE_STARROCKS_MULTI_WAREHOUSE", ""),
            "helper": options.helper.rpartition(":")[0] or options.helper,
            "host_type": options.host_type or env.get("HOST_TYPE", "IP"),
            "conf": self._conf,
            "keystore": base64.b64encode(keystore.read_bytes()).decode() if keystore.is_file() else "",
            "volume": self._disk.name(),
            "files": self._disk.files(),
        }

    async def _obey(self, reader: asyncio.StreamReader) -> None:
        while (order := await receive(reader)) is not None:
            if "say" in order:
                say(str(order["say"]))
            if "node" in order:
                self._node = str(order["node"])
            if "files" in order:
                self._disk.write(order["files"])
            if "listen" in order:
                await self._listen({int(port): bool(passed) for port, passed in order["listen"].items()})
            if "exit" in order:
                self._end(int(order["exit"]))
                return
        say("the simulator's world is gone: so is this process")
        self._end(_LOST)

    async def _listen(self, wanted: dict[int, bool]) -> None:
        """wanted: ports, and whether their bytes go to the world; to the others nobody has anything to say."""
        self._keep_only(wanted)
        for port in wanted.keys() - self._listeners.keys():
            serve: Serve = partial(self._pass_on, port) if wanted[port] else self._hold
            self._listeners[port] = await asyncio.start_server(serve, self._listen_on, port)

    def _keep_only(self, wanted: dict[int, bool]) -> None:
        """Close all ports but these, and with them what came in there."""
        for port in self._listeners.keys() - wanted.keys():
            self._listeners.pop(port).close()
        if not wanted:
            for writer in list(self._clients):
                writer.transport.abort()

    async def _pass_on(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._clients.add(writer)
        try:
            world = await asyncio.open_connection(*self._world)
            send(world[1], {"node": self._node, "port": port})
            await splice((reader, writer), world)
        except OSError:
            writer.transport.abort()
        finally:
            self._clients.discard(writer)

    async def _hold(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._clients.add(writer)
        try:
            while await reader.read(4096):
                pass
        except ConnectionError:
            pass
        finally:
            self._clients.discard(writer)
            writer.close()

    def _leave(self, writer: asyncio.StreamWriter) -> None:
        say("leaving at ease")
        send(writer, {"leave": True})
        asyncio.get_running_loop().call_later(_PATIENCE, self._end, 0)

    def _end(self, code: int) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(code)


def _configuration(file: Path) -> dict[str, str]:
    return properties(file.read_text()) if file.is_file() else {}


def _hostname() -> str:
    """As the start scripts find it."""
    return subprocess.run(["hostname", "-f"], capture_output=True, text=True, check=False).stdout.strip()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("component", choices=list(_GRACEFUL))
    parser.add_argument("home", type=Path)
    parser.add_argument("--helper", default="")
    parser.add_argument("--host_type", default="")
    parser.add_argument("--logconsole", action="store_true")
    options, _ = parser.parse_known_args(arguments)
    if not options.logconsole:
        log_to(options.home / "log" / f"{options.component}.out")
    pid_file = options.home / "bin" / f"{options.component}.pid"
    pid_file.write_text(f"{os.getpid()}\n")
    return asyncio.run(Agent(options.component, options.home, options).run())


if __name__ == "__main__":
    sys.exit(main())
