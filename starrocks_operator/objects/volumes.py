"""Volumes, mounts and claims of a component, in the order in which existing clusters have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from starrocks_operator.components import Component, DefaultVolume
from starrocks_operator.model import ComponentSpec, LoadSpec, MountInfo, StorageVolume
from starrocks_operator.objects.environment import root_path
from starrocks_operator.objects.inline_configuration import VOLUME as INLINE_VOLUME
from starrocks_operator.objects.metadata import without_empty

_FNV_OFFSET, _FNV_PRIME = 2166136261, 16777619
_SUFFIX_DIGITS = 4
_EXECUTABLE = 0o755


@dataclass
class Volumes:
    """The volumes of a pod and where its main container mounts them."""

    volumes: list[dict[str, Any]] = field(default_factory=list)
    mounts: list[dict[str, Any]] = field(default_factory=list)

    def add(self, name: str, source: dict[str, Any], *, path: str, sub_path: str = "") -> None:
        self.volumes.append({"name": name, **source})
        self.mounts.append({"name": name, "mountPath": path} | ({"subPath": sub_path} if sub_path else {}))


def volumes_of(
    component: Component, spec: ComponentSpec, *, plain_names: bool = False, configuration: str = ""
) -> Volumes:
    """The user's storage, default emptyDirs, the configuration, then other ConfigMaps and Secrets.

    configuration: the operator's ConfigMap that takes the place of the user's.
    """

    def named(mount: MountInfo) -> str:
        return mount.name if plain_names else volume_name(mount)

    made = storage_of(spec)
    storage = [volume for volume in spec.storage_volumes if not _left_out(volume)]
    home = component.home(root_path(spec))
    for default in component.default_volumes:
        path = f"{home}/{default.path}"
        if not any(_serves(volume, default, path) for volume in storage):
            made.add(default.name, {"emptyDir": {}}, path=path)
    info = spec.config_map_info
    if configuration:
        made.add(INLINE_VOLUME, {"configMap": {"name": configuration}}, path=component.configuration_mount)
    elif info is not None and info.config_map_name and info.resolve_key:
        source = {"configMap": {"name": info.config_map_name}}
        made.add(info.config_map_name, source, path=component.configuration_mount)
    own_start = bool(spec.command or spec.args)
    for mount in spec.config_maps:
        config_map: dict[str, Any] = {"name": mount.name}
        if mount.sub_path and own_start:
            config_map["defaultMode"] = _EXECUTABLE  # such a file may be the user's own start script
        made.add(named(mount), {"configMap": config_map}, path=mount.mount_path, sub_path=mount.sub_path)
    for mount in spec.secrets:
        secret = {"secret": {"secretName": mount.name}}
        made.add(named(mount), secret, path=mount.mount_path, sub_path=mount.sub_path)
    return made


def storage_of(spec: LoadSpec) -> Volumes:
    """The user's storage alone."""
    made = Volumes()
    for volume in spec.storage_volumes:
        if not _left_out(volume):
            made.add(volume.name, _source(volume), path=volume.mount_path, sub_path=volume.sub_path)
    return made


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A volume of its own: what is asked for each pod. storage_class: None is the default class."""

    name: str
    size: str
    storage_class: str | None

    @classmethod
    def of(cls, template: Mapping[str, Any]) -> Claim:
        """The claim that a template of a StatefulSet asks for."""
        spec = template.get("spec") or {}
        size = ((spec.get("resources") or {}).get("requests") or {}).get("storage", "")
        return cls(name=template["metadata"]["name"], size=str(size), storage_class=spec.get("storageClassName"))


def claims_of(spec: ComponentSpec) -> tuple[Claim, ...]:
    """The claims that a component asks for: its storage volumes that are neither emptyDirs nor paths of the node."""
    return tuple(
        Claim(name=volume.name, size=volume.storage_size or "", storage_class=volume.storage_class_name)
        for volume in spec.storage_volumes
        if not _left_out(volume) and storage_kind(volume) == "claim"
    )


def claim_templates(spec: ComponentSpec, sizes: Mapping[str, str]) -> list[dict[str, Any]]:
    """One claim template per claim; `sizes` are those that an existing StatefulSet was made with and keeps."""
    return [
        {
            "metadata": {"name": claim.name},
            "spec": without_empty(
                {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": size}}
                    if (size := sizes.get(claim.name, claim.size))
                    else None,
                }
            )
            # An empty class is a wish of its own: no dynamic provisioning.
            | ({} if claim.storage_class is None else {"storageClassName": claim.storage_class}),
        }
        for claim in claims_of(spec)
    ]


def storage_kind(volume: StorageVolume) -> Literal["claim", "emptyDir", "hostPath"]:
    """What a storage volume really is: two storage classes are names for something else."""
    storage_class = (volume.storage_class_name or "").lower()
    if storage_class == "emptydir":
        return "emptyDir"
    if storage_class == "hostpath" or (volume.storage_class_name is None and volume.host_path is not None):
        return "hostPath"
    return "claim"


def mount_hash(mount: MountInfo) -> str:
    """FNV-1a, 32 bits, in decimal, over the mount as the official operator prints it: part of the volume's name."""
    printed = (
        f"(v1.MountInfo){{Name:(string){mount.name} MountPath:(string){mount.mount_path} "
        f"SubPath:(string){mount.sub_path}}}"
    )
    value = _FNV_OFFSET
    for byte in printed.encode():
        value = ((value ^ byte) * _FNV_PRIME) & 0xFFFFFFFF
    return str(value)


def _serves(volume: StorageVolume, default: DefaultVolume, path: str) -> bool:
    """Whether the user's volume takes the place of a default one."""
    return path in volume.mount_path or any(volume.name.endswith(f"-{suffix}") for suffix in default.suffixes)


def volume_name(mount: MountInfo) -> str:
    """The name of the volume of a mounted ConfigMap or Secret."""
    return f"{mount.name}-{mount_hash(mount)[:_SUFFIX_DIGITS]}"


def _left_out(volume: StorageVolume) -> bool:
    return (volume.storage_size or "").startswith("0")


def _source(volume: StorageVolume) -> dict[str, Any]:
    match storage_kind(volume):
        case "emptyDir":
            return {"emptyDir": {}}
        case "hostPath":
            host = volume.host_path
            return {"hostPath": without_empty({"path": host.path, "type": host.type}) if host else {"path": ""}}
        case _:
            return {"persistentVolumeClaim": {"claimName": volume.name}}
