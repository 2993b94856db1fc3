"""A client of the control API, for the command line and for tests."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
from typing import Any


class ControlError(Exception):
    """The simulator refused, in its own words."""


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=30)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Control:
    """`where` is HOST:PORT or the path of a unix socket, as given to `serve --control`."""

    def __init__(self, where: str) -> None:
        self._where = where

    def _connect(self) -> http.client.HTTPConnection:
        host, colon, port = self._where.rpartition(":")
        if colon and port.isdigit():
            return http.client.HTTPConnection(host or "127.0.0.1", int(port), timeout=30)
        return _UnixConnection(self._where)

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        connection = self._connect()
        try:
            connection.request(method, path, json.dumps(body or {}), {"Content-Type": "application/json"})
            response = connection.getresponse()
            answer = json.loads(response.read() or b"null")
        except OSError as error:
            raise ControlError(f"No simulator answers at {self._where}: {error}.") from error
        finally:
            connection.close()
        if response.status >= 400:
            raise ControlError(str(answer.get("error", answer)))
        return answer

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", "/state")
        return found

    def violations(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.call("GET", "/violations")
        return found

    def losses(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.call("GET", "/losses")
        return found

    def lay(self, pod: str, fault: str, namespace: str | None = None, **parameters: Any) -> None:
        query = f"?namespace={namespace}" if namespace else ""
        self.call("POST", f"/nodes/{pod}/{fault}{query}", parameters)

    def create_table(self, cluster: str, name: str, *, replication: int = 3, tablets: int = 1, **more: Any) -> None:
        self.call(
            "POST",
            "/tables",
            {"cluster": cluster, "name": name, "replication": replication, "tablets": tablets, **more},
        )

    def sql(self, pod: str, sql: str, namespace: str | None = None) -> Any:
        return self.call("POST", "/sql", {"pod": pod, "sql": sql, "namespace": namespace})

    def speed(self, speed: float) -> None:
        self.call("POST", "/clock/speed", {"speed": speed})

    def deleted(self, namespace: str, cluster: str, *, volumes: bool = True) -> None:
        """Real pods only: its owner deletes this cluster, and whether with its volumes."""
        self.call("DELETE", "/clusters", {"namespace": namespace, "cluster": cluster, "volumes": volumes})

    def log(self, name: str) -> list[dict[str, Any]]:
        """Real pods only: the lines of the log `truth` or `statements`."""
        with contextlib.closing(self._connect()) as connection:
            connection.request("GET", f"/logs/{name}")
            return [json.loads(line) for line in connection.getresponse().read().splitlines()]
