"""The Kubernetes side: which pods run on which volumes, and what the simulator writes back about them."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import aiohttp
from kubernetes.aio import client, config, watch

from lab.simulator.model.container import Container
from lab.simulator.model.facts import ClusterKey
from lab.simulator.server.manifest import Raw, facts
from lab.simulator.server.simulator import Simulator

_log = logging.getLogger(__name__)
_READY, _RESTARTS = "lab.starrocks.com/ready", "lab.starrocks.com/restarts"
_WRITERS = 4
Handle = Callable[[str, Raw], Awaitable[None]]


class Mirror:
    """Pods, claims and ConfigMaps as they are now, kept fresh by watches."""

    def __init__(self, api: client.CoreV1Api, namespace: str | None, default_version: str) -> None:
        self._api = api
        self._namespace = namespace
        self._version = default_version
        self._config_maps: dict[tuple[str, str], Mapping[str, str]] = {}
        self._claims: dict[tuple[str, str], str] = {}
        self.simulator: Simulator | None = None
        self.write_back = WriteBack(api)

    # -- what the world asks -----------------------------------------------------------------------------------

    def marker(self, cluster: ClusterKey) -> Mapping[str, str]:
        return self._config_maps.get((cluster[0], f"{cluster[1]}-fe-bootstrap"), {})

    async def config_map(self, namespace: str, name: str) -> Mapping[str, str]:
        return self._config_maps.get((namespace, name), {})

    async def secret(self, namespace: str, name: str) -> Mapping[str, str]:
        try:
            found = await self._api.read_namespaced_secret(name, namespace)
        except client.ApiException:
            return {}
        return {key: base64.b64decode(value).decode() for key, value in (found.data or {}).items()}

    async def claim_uid(self, namespace: str, name: str) -> str | None:
        known = self._claims.get((namespace, name))
        if known is None:
            try:
                claim = await self._api.read_namespaced_persistent_volume_claim(name, namespace)
            except client.ApiException:
                return None
            known = self._claims[namespace, name] = claim.metadata.uid
        return known

    # -- watching ----------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Until cancelled. ConfigMaps and claims are listed first: pods refer to them."""
        core, one = self._api, self._namespace
        kinds: list[tuple[str, Handle]] = [
            ("config_map", self._on_config_map),
            ("persistent_volume_claim", self._on_claim),
            ("pod", self._on_pod),
        ]
        async with asyncio.TaskGroup() as group:
            group.create_task(self.write_back.run())
            for kind, handle in kinds:
                name = f"list_namespaced_{kind}" if one else f"list_{kind}_for_all_namespaces"
                arguments: dict[str, Any] = {"namespace": one} if one else {}
                listed = asyncio.Event()
                calls = (getattr(core, f"{name}_without_preload_content"), getattr(core, name))
                group.create_task(self._follow(calls, arguments, handle, listed))
                await listed.wait()

    async def _follow(
        self, calls: tuple[Any, Any], arguments: dict[str, Any], handle: Handle, listed: asyncio.Event
    ) -> None:
        known: dict[str, Raw] = {}
        list_all, watch_all = calls
        while True:
            try:
                version = await self._list(list_all, arguments, handle, known)
                listed.set()
                await self._watch(watch_all, arguments, handle, known, version)
            except (client.ApiException, aiohttp.ClientError, OSError, ValueError, TimeoutError) as error:
                _log.warning("watching again: %s", type(error).__name__)
                await asyncio.sleep(0.5)

    @staticmethod
    async def _list(call: Any, arguments: dict[str, Any], handle: Handle, known: dict[str, Raw]) -> str:
        response = await call(**arguments)
        found = json.loads(await response.read())
        if response.status != 200:
            raise client.ApiException(status=response.status, reason=found.get("message"))
        items = {item["metadata"]["uid"]: item for item in found.get("items") or []}
        for uid in known.keys() - items.keys():
            await handle("DELETED", known.pop(uid))
        for uid, item in items.items():
            known[uid] = item
            await handle("MODIFIED", item)
        return str(found["metadata"]["resourceVersion"])

    @staticmethod
    async def _watch(call: Any, arguments: dict[str, Any], handle: Handle, known: dict[str, Raw], version: str) -> None:
        # The library's own deserialisation is switched off: plain dictionaries are enough and far cheaper.
        watcher = watch.Watch()
        watcher.get_return_type = lambda _func: None
        stream = watcher.stream(
            call, **arguments, resource_version=version, allow_watch_bookmarks=True, timeout_seconds=300
        )
        async with stream:
            async for event in stream:
                if event["type"] not in ("ADDED", "MODIFIED", "DELETED"):
                    continue
                raw = event["raw_object"]
                uid = raw["metadata"]["uid"]
                if event["type"] == "DELETED":
                    known.pop(uid, None)
                else:
                    known[uid] = raw
                await handle(event["type"], raw)

    # -- what comes in -----------------------------------------------------------------------------------------

    async def _on_config_map(self, event: str, raw: Raw) -> None:
        key = (raw["metadata"]["namespace"], raw["metadata"]["name"])
        if event == "DELETED":
            self._config_maps.pop(key, None)
        else:
            self._config_maps[key] = raw.get("data") or {}

    async def _on_claim(self, event: str, raw: Raw) -> None:
        key, uid = (raw["metadata"]["namespace"], raw["metadata"]["name"]), raw["metadata"]["uid"]
        if event != "DELETED":
            self._claims[key] = uid
            return
        if self._claims.get(key) == uid:
            del self._claims[key]
        self._world().volume_deleted(f"claim:{uid}")

    async def _on_pod(self, event: str, raw: Raw) -> None:
        meta = raw["metadata"]
        if event == "DELETED" or meta.get("deletionTimestamp"):
            self._world().pod_stopped(f"{meta['namespace']}/{meta['name']}", meta["uid"])
            self.write_back.forget(meta["uid"])
            return
        if self.write_back.knows(meta["uid"]):
            return
        found = await facts(raw, self, default_version=self._version)
        if found is not None:
            self.write_back.remember(found.uid, meta.get("annotations") or {})
            self._world().pod_started(found)

    def _world(self) -> Simulator:
        assert self.simulator is not None
        return self.simulator


class WriteBack:
    """Readiness and restarts of each pod, as annotations that KWOK's stages turn into its status."""

    def __init__(self, api: client.CoreV1Api) -> None:
        self.enabled = True
        self._api = api
        self._known: dict[str, tuple[bool, int]] = {}  # by pod uid: what Kubernetes shows
        self._wanted: dict[str, Container] = {}
        self._something = asyncio.Event()
        self.writes = 0

    def knows(self, uid: str) -> bool:
        return uid in self._known

    def remember(self, uid: str, annotations: Mapping[str, str]) -> None:
        restarts = annotations.get(_RESTARTS, "0")
        self._known[uid] = (annotations.get(_READY) != "false", int(restarts) if restarts.isdigit() else 0)

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
            while self._wanted:
                await self._write(self._wanted.pop(next(iter(self._wanted))))
            self._something.clear()

    async def _write(self, container: Container) -> None:
        facts, state = container.facts, (container.healthy, container.restarts)
        if container.stopped or self._known.get(facts.uid) in (None, state):
            return
        self._known[facts.uid] = state
        annotations = {_READY: "true" if state[0] else "false", _RESTARTS: str(state[1])}
        body = {"metadata": {"uid": facts.uid, "annotations": annotations}}
        try:
            await self._api.patch_namespaced_pod(
                facts.name, facts.namespace, body, _content_type="application/merge-patch+json"
            )
            self.writes += 1
        except client.ApiException as error:
            if error.status not in (404, 409):  # gone, or another pod of the same name
                _log.warning("pod %s could not be annotated: %s", facts.key, error.reason)


async def connect(kubeconfig: Path) -> client.ApiClient:
    configuration = client.Configuration()
    await config.load_kube_config(config_file=str(kubeconfig), client_configuration=configuration, persist_config=False)
    return client.ApiClient(configuration)
