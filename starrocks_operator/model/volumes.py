"""Volumes and mounts of a component: claims, emptyDirs, host paths, and files from ConfigMaps and Secrets."""

from pydantic import Field

from starrocks_operator.model.base import MAX_LENGTH, REQUIRED, Keywords, Model

_NAME: Keywords = {"maxLength": MAX_LENGTH}
_PATH: Keywords = {"maxLength": 1024}


class HostPath(Model):
    """A directory or file of the node."""

    path: str = Field("", json_schema_extra=_PATH | REQUIRED)
    """Path on the node."""
    type: str = Field("", json_schema_extra=_NAME)
    """Kubernetes' hostPath type, e.g. DirectoryOrCreate."""


class StorageVolume(Model):
    """One volume of each pod: a claim of its own unless the storage class says emptyDir or hostPath."""

    name: str = Field("", json_schema_extra=_NAME | REQUIRED)
    """Name of the volume; the claim of pod N is `<name>-<cluster>-<component>-N`."""
    mount_path: str = Field("", json_schema_extra=_PATH | REQUIRED)
    """Where the main container sees it."""
    storage_class_name: str | None = Field(None, json_schema_extra=_NAME)
    """Storage class of the claim; `emptyDir` and `hostPath` are special; absent: the cluster's default class."""
    storage_size: str | None = Field(None, json_schema_extra={"maxLength": 32})
    """Size of the claim, e.g. 100Gi. It may grow and never shrink. A size of 0 leaves the volume out."""
    host_path: HostPath | None = None
    """Used when the storage class is hostPath, or absent."""
    sub_path: str = Field("", json_schema_extra=_PATH)
    """Directory inside the volume to mount instead of its root."""


class MountInfo(Model):
    """A ConfigMap or Secret mounted into the main container."""

    name: str = Field("", json_schema_extra=_NAME | REQUIRED)
    """Name of the ConfigMap or Secret, in the namespace of the cluster."""
    mount_path: str = Field("", json_schema_extra=_PATH)
    """Where the main container sees it."""
    sub_path: str = Field("", json_schema_extra=_PATH)
    """One key of it, mounted as a single file."""


class ConfigMapInfo(Model):
    """The ConfigMap that holds the component's own configuration file."""

    config_map_name: str = Field("", json_schema_extra=_NAME)
    """Name of the ConfigMap."""
    resolve_key: str = Field("", json_schema_extra=_NAME)
    """Key in it that holds the file, e.g. fe.conf."""
