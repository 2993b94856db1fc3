"""From a pod as Kubernetes has it to the facts that decide what its process does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from lab.simulator.model.facts import Component, Entrypoint, PodFacts
from lab.simulator.properties import properties
from lab.simulator.server.keystore import pem_of

Raw = Mapping[str, Any]
_OWNER = "app.starrocks.ownerreference/name"
_GROUP = "starrocks.com/compute-node-group"
_COMPONENT = "app.kubernetes.io/component"
_COMPONENTS = {component.value: component for component in Component} | {"fe-observer": Component.FE}
_DATA_DIRECTORY = {Component.FE: "meta", Component.BE: "storage", Component.CN: "storage"}
_DATA_VOLUMES = {Component.FE: ("-meta",), Component.BE: ("-data", "-storage"), Component.CN: ("-data", "-storage")}


class Lookup(Protocol):
    """Objects that a pod refers to, as they are at this moment; None or empty when they do not exist."""

    async def config_map(self, namespace: str, name: str) -> Mapping[str, str]: ...
    async def secret(self, namespace: str, name: str) -> Mapping[str, str]: ...
    async def secret_file(self, namespace: str, name: str, key: str) -> bytes: ...
    async def claim_uid(self, namespace: str, name: str) -> str | None: ...


@dataclass(frozen=True)
class Identity:
    component: Component
    cluster_name: str


def identity(pod: Raw, container: Raw | None = None) -> Identity | None:
    """Whose pod this is; None: not one of ours."""
    labels = pod["metadata"].get("labels") or {}
    owner, word = labels.get(_OWNER, ""), labels.get(_COMPONENT, "")
    if word == "cn" and labels.get(_GROUP):
        return Identity(Component.CN, labels[_GROUP])
    if word not in _COMPONENTS or not owner:
        return None
    component = _COMPONENTS[word]
    service = _plain_env(container or main_container(pod, component)).get("FE_SERVICE_NAME", "")
    name = service.split(".")[0].removesuffix("-fe-service") if service else owner.removesuffix(f"-{word}")
    return Identity(component, name)


def main_container(pod: Raw, component: Component) -> Raw:
    containers: list[Raw] = pod["spec"]["containers"]
    return next((c for c in containers if c["name"] == component.value), containers[0])


async def facts(pod: Raw, lookup: Lookup, *, default_version: str) -> PodFacts | None:
    """None: not ours, or not running yet, or going."""
    meta, status, known = pod["metadata"], pod.get("status") or {}, identity(pod)
    if known is None or status.get("phase") != "Running" or not status.get("podIP") or meta.get("deletionTimestamp"):
        return None
    container = main_container(pod, known.component)
    namespace = meta["namespace"]
    env = await _environment(container, namespace, lookup)
    conf = await _configuration(pod, container, known.component, lookup)
    volume, dies_with = await _volume(pod, container, known.component, lookup)
    subdomain = pod["spec"].get("subdomain") or f"{meta['name'].rpartition('-')[0]}-search"
    command = " ".join([*(container.get("command") or []), *(container.get("args") or [])])
    return PodFacts(
        namespace=namespace,
        name=meta["name"],
        uid=meta["uid"],
        address=status["podIP"],
        component=known.component,
        cluster_name=known.cluster_name,
        host=f"{meta['name']}.{subdomain}.{namespace}.svc.cluster.local",
        version=_version(container.get("image", ""), default_version),
        entrypoint=_entrypoint(command, env),
        volume=volume,
        volume_dies_with=dies_with,
        password=env.get("MYSQL_PWD", ""),
        certificate=await _certificate(pod, container, conf, lookup),
        host_type=env.get("HOST_TYPE", "IP"),
        warehouse=env.get("KUBE_STARROCKS_MULTI_WAREHOUSE", ""),
        debug_list=_mounted(pod, "/etc/starrocks/debug", container),
        observer=env.get("IS_FE_OBSERVER", "").lower() in ("true", "1"),
        conf=conf,
    )


def _entrypoint(command: str, env: Mapping[str, str]) -> Entrypoint:
    if "fe_start.sh" in command:
        return Entrypoint.SAFE
    if "node_start.sh" in command and env.get("STARROCKS_SELF_REGISTRATION", "").lower() not in ("true", "1"):
        return Entrypoint.BARE
    return Entrypoint.BARE if command.endswith("/bin/start_cn.sh") else Entrypoint.IMAGE


def _mounted(pod: Raw, path: str, container: Raw) -> str:
    """The ConfigMap that is mounted there."""
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or []}
    for mount in container.get("volumeMounts") or []:
        if mount["mountPath"] == path:
            return str((volumes.get(mount["name"], {}).get("configMap") or {}).get("name", ""))
    return ""


async def password(pod: Raw, component: Component, lookup: Lookup) -> str:
    """MYSQL_PWD as a container gets it that starts now."""
    found = await _environment(main_container(pod, component), pod["metadata"]["namespace"], lookup)
    return found.get("MYSQL_PWD", "")


async def configuration(pod: Raw, component: Component, lookup: Lookup, *, known: Mapping[str, str]) -> dict[str, str]:
    """The conf file as a container finds it that starts now: a mounted directory follows its ConfigMap."""
    container = main_container(pod, component)
    follows = any(
        mount["mountPath"].rstrip("/").endswith("/conf") and "subPath" not in mount
        for mount in container.get("volumeMounts") or []
    )
    found = await _configuration(pod, container, component, lookup) if follows else {}
    return found or dict(known)


async def _certificate(pod: Raw, container: Raw, conf: Mapping[str, str], lookup: Lookup) -> str:
    """The keystore that fe.conf names, out of a mounted Secret."""
    path = conf.get("ssl_keystore_location", "")
    directory, _, name = path.rpartition("/")
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or []}
    for mount in container.get("volumeMounts") or []:
        source = volumes.get(mount["name"], {}).get("secret")
        if path and source is not None and mount["mountPath"].rstrip("/") == directory:
            content = await lookup.secret_file(pod["metadata"]["namespace"], source["secretName"], name)
            return pem_of(content, conf.get("ssl_keystore_password", "")) if content else ""
    return ""


def _version(image: str, default: str) -> str:
    tag = image.rpartition("/")[2].partition("@")[0].partition(":")[2]
    return tag if tag[:1].isdigit() and "." in tag else default


def _plain_env(container: Raw) -> dict[str, str]:
    return {item["name"]: item.get("value", "") for item in container.get("env") or [] if "valueFrom" not in item}


async def _environment(container: Raw, namespace: str, lookup: Lookup) -> dict[str, str]:
    env = _plain_env(container)
    for item in container.get("env") or []:
        source = item.get("valueFrom") or {}
        if reference := source.get("secretKeyRef"):
            env[item["name"]] = (await lookup.secret(namespace, reference["name"])).get(reference["key"], "")
        elif reference := source.get("configMapKeyRef"):
            env[item["name"]] = (await lookup.config_map(namespace, reference["name"])).get(reference["key"], "")
    return env


async def _configuration(pod: Raw, container: Raw, component: Component, lookup: Lookup) -> dict[str, str]:
    """The component's conf file, wherever a ConfigMap brings it in."""
    wanted = f"{component.value}.conf"
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or []}
    for mount in container.get("volumeMounts") or []:
        source = volumes.get(mount["name"], {}).get("configMap")
        path = mount["mountPath"].rstrip("/")
        if source is None or not (path.endswith(("/conf", f"/conf/{wanted}"))):
            continue
        data = await lookup.config_map(pod["metadata"]["namespace"], source["name"])
        text = data.get(mount.get("subPath") or wanted)
        if text is not None:
            return properties(text)
    return {}


async def _volume(pod: Raw, container: Raw, component: Component, lookup: Lookup) -> tuple[str, str]:
    """The storage of meta or tablets: a key for it, and with what it dies."""
    uid, namespace = pod["metadata"]["uid"], pod["metadata"]["namespace"]
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or []}
    for mount in container.get("volumeMounts") or []:
        path = mount["mountPath"].rstrip("/")
        if not (path.endswith("/" + _DATA_DIRECTORY[component]) or mount["name"].endswith(_DATA_VOLUMES[component])):
            continue
        volume = volumes.get(mount["name"], {})
        if claim := volume.get("persistentVolumeClaim"):
            claim_uid = await lookup.claim_uid(namespace, claim["claimName"])
            return (f"claim:{claim_uid}", "claim") if claim_uid else (f"pod:{uid}", "pod")
        if path_on_host := volume.get("hostPath"):
            return f"host:{pod['spec'].get('nodeName')}:{path_on_host['path']}:{mount.get('subPath', '')}", "claim"
        return f"pod:{uid}", "pod"
    return "", "container"
