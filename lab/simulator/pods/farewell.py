"""Clusters whose owner deletes them. Only he can say so: the world has no eyes on the Kubernetes API.

From then on nothing that is lost is anybody's fault. When the first pod of that name calls in again, it is watched as
before; and if the volumes went, too, nothing of the old cluster is remembered.
"""

from __future__ import annotations

from aiohttp import web

from lab.simulator.model.facts import ClusterKey
from lab.simulator.model.surroundings import FixedSurroundings
from lab.simulator.model.world import World


class Farewells:
    def __init__(self, world: World, surroundings: FixedSurroundings) -> None:
        self._world = world
        self._surroundings = surroundings
        self._emptied: set[ClusterKey] = set()

    def deleted(self, cluster: ClusterKey, *, volumes: bool) -> None:
        self._surroundings.deleted.add(cluster)
        if volumes:
            self._emptied.add(cluster)

    def returns(self, cluster: ClusterKey) -> None:
        """A process of this cluster starts. One that was on its way before the deletion ended changes nothing."""
        if cluster not in self._surroundings.deleted or self._running(cluster):
            return
        if cluster in self._emptied:
            self._forget(cluster)
        self._emptied.discard(cluster)
        self._surroundings.deleted.discard(cluster)

    def _running(self, cluster: ClusterKey) -> bool:
        return any(container.facts.cluster == cluster for container in self._world.pods.values())

    def _forget(self, cluster: ClusterKey) -> None:
        world = self._world
        gone = {number for number, database in world.databases.items() if database.cluster == cluster}
        for number in gone:
            del world.databases[number]
        for key, volume in list(world.volumes.items()):
            if volume.storage_cluster in gone or (volume.meta is not None and volume.meta.cluster_id in gone):
                del world.volumes[key]

    def route(self) -> web.RouteDef:
        """`DELETE /clusters` {"namespace": …, "cluster": …, "volumes": true|false}"""

        async def delete(request: web.Request) -> web.Response:
            body = await request.json()
            self.deleted((body["namespace"], body["cluster"]), volumes=bool(body.get("volumes", True)))
            return web.json_response({})

        return web.delete("/clusters", delete)
