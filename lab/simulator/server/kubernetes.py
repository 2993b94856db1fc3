"""The Kubernetes side: which pods run on which volumes, and what the simulator writes back about them."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from kubernetes.aio import client, config

from lab.simulator.model.container import Container
from lab.simulator.model.facts import ClusterKey, PodFacts
from lab.simulator.model.surroundings import named_loss
from lab.simulator.server.follow import Follower
from lab.simulator.server.manifest import Raw, configuration, facts, password
from lab.simulator.server.simulator import Simulator
from lab.simulator.server.write_back import WriteBack

_STUCK = "lab.starrocks.com/stuck"
_STARROCKS_CLUSTERS = {"group": "starrocks.com", "version": "v1", "plural": "starrocksclusters"}


class Mirror:
    """Pods, claims and ConfigMaps as they are now, kept fresh by watches."""

    def __init__(self, api: client.CoreV1Api, namespace: str | None, default_version: str) -> None:
        self._api = api
        self._namespace = namespace
        self._version = default_version
        self._config_maps: dict[tuple[str, str], Mapping[str, str]] = {}
        self._claims: dict[tuple[str, str], str] = {}
        self._deleted_clusters: set[ClusterKey] = set()
        self._losses_named: dict[ClusterKey, str] = {}
        self._pods: dict[str, Raw] = {}
        self.simulator: Simulator | None = None
        self.write_back = WriteBack(api)

    # -- what the world asks -----------------------------------------------------------------------------------

    def marker(self, cluster: ClusterKey) -> Mapping[str, str]:
        return self._config_maps.get((cluster[0], f"{cluster[1]}-fe-bootstrap"), {})

    def debugged(self, facts: PodFacts) -> bool:
        named = self._config_maps.get((facts.namespace, facts.debug_list), {}) if facts.debug_list else {}
        return facts.name in named.get("pods", "").split()

    def wanted(self, cluster: ClusterKey) -> bool:
        return cluster not in self._deleted_clusters

    def given_up(self, cluster: ClusterKey) -> str:
        return self._losses_named.get(cluster, "")

    async def config_map(self, namespace: str, name: str) -> Mapping[str, str]:
        return self._config_maps.get((namespace, name), {})

    async def secret(self, namespace: str, name: str) -> Mapping[str, str]:
        found = await self._secret(namespace, name)
        return {key: value.decode(errors="replace") for key, value in found.items()}

    async def secret_file(self, namespace: str, name: str, key: str) -> bytes:
        return (await self._secret(namespace, name)).get(key, b"")

    async def _secret(self, namespace: str, name: str) -> Mapping[str, bytes]:
        try:
            found = await self._api.read_namespaced_secret(name, namespace)
        except client.ApiException:
            return {}
        return {key: base64.b64decode(value) for key, value in (found.data or {}).items()}

    async def refresh(self, container: Container) -> None:
        """The kubelet resolves the environment anew at every start of a container, and a process reads its file."""
        if (raw := self._pods.get(container.facts.uid)) is not None:
            facts = container.facts
            conf = await configuration(raw, facts.component, self, known=facts.conf)
            container.facts = replace(facts, password=await password(raw, facts.component, self), conf=conf)

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
        async with asyncio.TaskGroup() as group:
            group.create_task(self.write_back.run())
            group.create_task(self._clusters().run())
            for kind, handle in (
                ("config_map", self._on_config_map),
                ("persistent_volume_claim", self._on_claim),
                ("pod", self._on_pod),
            ):
                name = f"list_namespaced_{kind}" if self._namespace else f"list_{kind}_for_all_namespaces"
                arguments = {"namespace": self._namespace} if self._namespace else {}
                follower = Follower(self._api, name, arguments, handle)
                group.create_task(follower.run())
                await follower.listed.wait()

    def _clusters(self) -> Follower:
        api = client.CustomObjectsApi(self._api.api_client)
        return Follower(api, "list_cluster_custom_object", dict(_STARROCKS_CLUSTERS), self._on_cluster)

    # -- what comes in -----------------------------------------------------------------------------------------

    async def _on_config_map(self, event: str, raw: Raw) -> None:
        key = (raw["metadata"]["namespace"], raw["metadata"]["name"])
        if event == "DELETED":
            self._config_maps.pop(key, None)
        else:
            self._config_maps[key] = raw.get("data") or {}

    async def _on_cluster(self, event: str, raw: Raw) -> None:
        meta = raw["metadata"]
        key = (meta["namespace"], meta["name"])
        if event == "DELETED" or meta.get("deletionTimestamp"):
            self._deleted_clusters.add(key)
        else:
            self._deleted_clusters.discard(key)
        self._losses_named[key] = named_loss(meta.get("annotations") or {}, meta.get("generation", 0))

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
            self._pods.pop(meta["uid"], None)
            return
        if self.write_back.knows(meta["uid"]):
            self._world().hold(f"{meta['namespace']}/{meta['name']}", meta["uid"], held=_stuck(meta))
            return
        found = await facts(raw, self, default_version=self._version)
        if found is not None:
            self._pods[found.uid] = raw
            self.write_back.remember(found.uid, meta.get("annotations") or {})
            self._world().pod_started(found)
            if _stuck(meta):
                self._world().hold(found.key, found.uid, held=True)

    def _world(self) -> Simulator:
        assert self.simulator is not None
        return self.simulator


def _stuck(meta: Raw) -> bool:
    """Its containers wait (an image that does not arrive, a crash loop that a test wants)."""
    return bool((meta.get("annotations") or {}).get(_STUCK))


async def connect(kubeconfig: Path) -> client.ApiClient:
    configuration = client.Configuration()
    await config.load_kube_config(config_file=str(kubeconfig), client_configuration=configuration, persist_config=False)
    return client.ApiClient(configuration)
