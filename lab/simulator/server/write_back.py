"""Tells Kubernetes about its pods: readiness, restarts and crash loops, as annotations that KWOK's stages play."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from kubernetes.aio import client

from lab.simulator.model.container import Container

_log = logging.getLogger(__name__)
_READY, _RESTARTS = "lab.starrocks.com/ready", "lab.starrocks.com/restarts"
_WAITING = "lab.starrocks.com/waiting"
_WRITERS = 4
_Shown = tuple[bool, int, str]  # whether it is ready, how often it has started again, why it waits


class WriteBack:
    """Writes only what differs from what Kubernetes shows, and only the last word."""

    def __init__(self, api: client.CoreV1Api) -> None:
        self.enabled = True
        self._api = api
        self._known: dict[str, _Shown] = {}  # by pod uid: what Kubernetes shows
        self._wanted: dict[str, Container] = {}
        self._busy: set[str] = set()  # two writes about one pod could overtake each other
        self._something = asyncio.Event()
        self.writes = 0

    def knows(self, uid: str) -> bool:
        return uid in self._known

    def remember(self, uid: str, annotations: Mapping[str, str]) -> None:
        restarts = annotations.get(_RESTARTS, "0")
        count = int(restarts) if restarts.isdigit() else 0
        self._known[uid] = (annotations.get(_READY) != "false", count, annotations.get(_WAITING, ""))

    def forget(self, uid: str) -> None:
        self._known.pop(uid, None)
        self._wanted.pop(uid, None)

    def __call__(self, container: Container) -> None:
        if self.enabled and not container.stopped and container.facts.uid in self._known:
            self._wanted[container.facts.uid] = container
            self._something.set()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(_WRITERS):
                group.create_task(self._write_for_ever())

    async def _write_for_ever(self) -> None:
        while True:
            await self._something.wait()
            while (uid := next(iter(self._wanted.keys() - self._busy), None)) is not None:
                self._busy.add(uid)
                try:
                    await self._write(self._wanted.pop(uid))
                finally:
                    self._busy.discard(uid)
            self._something.clear()

    async def _write(self, container: Container) -> None:
        facts, state = container.facts, (container.healthy, container.restarts, _waiting(container))
        if container.stopped or self._known.get(facts.uid) in (None, state):
            return
        self._known[facts.uid] = state
        annotations = {_READY: "true" if state[0] else "false", _RESTARTS: str(state[1]), _WAITING: state[2] or None}
        body = {"metadata": {"uid": facts.uid, "annotations": annotations}}
        try:
            await self._api.patch_namespaced_pod(
                facts.name, facts.namespace, body, _content_type="application/merge-patch+json"
            )
            self.writes += 1
        except client.ApiException as error:
            if error.status not in (404, 409):  # gone, or another pod of the same name
                _log.warning("pod %s could not be annotated: %s", facts.key, error.reason)


def _waiting(container: Container) -> str:
    """The kubelet's word for a container that ends again and again; only where that is what is played."""
    return "CrashLoopBackOff" if container.facts.broken and container.restarts and not container.debugged else ""
