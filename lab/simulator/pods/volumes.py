"""Files on a real volume, and what the model keeps of it: the one is read from, and written as, the other."""

from __future__ import annotations

from collections.abc import Mapping

from lab.simulator.model import World
from lab.simulator.model.facts import Component
from lab.simulator.model.volume import Meta, Volume
from lab.simulator.properties import properties

Files = Mapping[str, str]


def files_of(volume: Volume, component: Component) -> dict[str, str]:
    """What lies on the volume, in the order in which it is to be written."""
    if component is not Component.FE:
        return {} if volume.storage_cluster is None else {"cluster_id": f"{volume.storage_cluster}\n"}
    meta = volume.meta
    if meta is None:
        return {}
    image = {} if meta.half_made else {"image/image.0": "0\n"}
    return {
        "bdb/00000000.jdb": f"{meta.name}\n",
        **image,
        "image/VERSION": f"clusterId={meta.cluster_id}\nrunMode={meta.run_mode}\n",
        "image/ROLE": f"role={meta.role}\nname={meta.name}\n",
    }


def meta_in(files: Files) -> Meta | None:
    """The metadata that a frontend's files are; None: it has none."""
    role, version = properties(files.get("image/ROLE", "")), properties(files.get("image/VERSION", ""))
    if not role or not version:
        return None
    host, port, _ = role["name"].rsplit("_", 2)
    return Meta(
        cluster_id=int(version["clusterid"]),
        name=role["name"],
        host=host,
        edit_log_port=int(port),
        role=role["role"],
        run_mode=version["runmode"],
        half_made="image/image.0" not in files,
    )


def mounted(world: World, name: str, component: Component, files: Files) -> str:
    """The key of the volume with this name, as its files say it is. What was deleted from it is gone for ever."""
    key = f"volume:{name}"
    volume = world.volumes.setdefault(key, Volume(key=key))
    if component is Component.FE:
        found = meta_in(files)
        if volume.meta is not None and found is None:
            world.wipe_volume(volume)
        volume.meta = found
    else:
        storage = int(files["cluster_id"]) if "cluster_id" in files else None
        if volume.storage_cluster is not None and storage is None:
            world.wipe_volume(volume)
        volume.storage_cluster = storage
    return key
