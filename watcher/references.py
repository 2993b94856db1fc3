"""What a cluster refers to and does not own: configuration files, Secrets, the password; read and kept for a while.

Of everything but configuration files and the password only the existence is asked for: other secrets never come here.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from starrocks_operator.frontend.endpoints import Credentials
from starrocks_operator.model import Key, StarRocksCluster
from starrocks_operator.objects import References, references
from starrocks_operator.objects.configuration import parse_properties
from starrocks_operator.observed import Configuration, Protection
from starrocks_operator.protection import whole
from watcher.kube import METADATA_ONLY, ApiError, Kube
from watcher.protection import Guardian

FRESH, SETTLED = 10.0, 300.0  # seconds that an answer is good for


@dataclass(frozen=True, kw_only=True)
class Found:
    """What was found. Equal values mean that nothing changed."""

    configurations: dict[str, Configuration] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    credentials: Credentials | None = None
    problem: str = ""  # why there are no credentials
    protection: Protection | None = None  # of a cluster that asks for it


@dataclass(frozen=True)
class _Kept:
    uid: str
    generation: int
    at: float
    found: Found


class Reader:
    """Reads references, and remembers them per cluster until they are old or the cluster's spec changes."""

    def __init__(self, kube: Kube, *, clock: Callable[[], float]) -> None:
        self._kube, self._clock = kube, clock
        self._guardian = Guardian(kube, clock=clock)
        self._kept: dict[Key, _Kept] = {}

    def forget(self, key: Key) -> None:
        self._kept.pop(key, None)

    def doubt(self, key: Key) -> None:
        """Read anew next time; for example after a refused password."""
        if (kept := self._kept.get(key)) and self._clock() - kept.at > FRESH:
            del self._kept[key]

    async def read(self, cluster: StarRocksCluster, *, settled: bool) -> Found:
        kept = self._kept.get(cluster.key)
        age = SETTLED if settled and kept and whole(kept.found.protection) else FRESH
        current = kept and (kept.uid, kept.generation) == (cluster.uid, cluster.generation)
        if kept and current and self._clock() - kept.at < age:
            return kept.found
        found = await self._read(cluster.namespace, references(cluster))
        if cluster.spec.deletion_protection:
            found = replace(found, protection=await self._guardian.look(cluster.namespace))
        self._kept[cluster.key] = _Kept(cluster.uid, cluster.generation, self._clock(), found)
        return found

    async def _read(self, namespace: str, wanted: References) -> Found:
        source = wanted.password
        files = wanted.configurations
        full = {file.config_map for file in files.values()}
        full |= {source.config_map} if source and source.config_map else set()
        maps = {
            name: await self._get(namespace, "configmaps", name, full=name in full)
            for name in sorted({*wanted.config_maps, *full})
        }
        secrets = {
            name: await self._get(namespace, "secrets", name, full=bool(source and name == source.secret))
            for name in sorted({*wanted.secrets, *([source.secret] if source and source.secret else [])})
        }
        required = [("ConfigMap", name, maps[name]) for name in wanted.config_maps]
        required += [("Secret", name, secrets[name]) for name in wanted.secrets]
        credentials, problem = _credentials(wanted, maps, secrets)
        return Found(
            configurations={name: _configuration(maps[file.config_map], file) for name, file in files.items()},
            missing=tuple(f"{kind} {name}" for kind, name, raw in required if raw is None),
            credentials=credentials,
            problem=problem,
        )

    async def _get(self, namespace: str, plural: str, name: str, *, full: bool) -> dict[str, Any] | None:
        path = f"/api/v1/namespaces/{namespace}/{plural}/{name}"
        try:
            return await self._kube.get(path, accept="application/json" if full else METADATA_ONLY)
        except ApiError as error:
            if error.status == 404:
                return None
            raise


def _configuration(raw: dict[str, Any] | None, file: Any) -> Configuration:
    if raw is None:
        return Configuration(missing=f"ConfigMap {file.config_map}")
    text = (raw.get("data") or {}).get(file.key)
    if text is None:
        return Configuration(missing=f"key {file.key} in ConfigMap {file.config_map}")
    return Configuration(properties=parse_properties(text))


def _credentials(
    wanted: References, maps: dict[str, dict[str, Any] | None], secrets: dict[str, dict[str, Any] | None]
) -> tuple[Credentials | None, str]:
    """The root account's, or why there are none. An optional source that is absent means no password."""
    source = wanted.password
    if source is None:
        return Credentials(), ""
    if not (source.secret or source.config_map):
        return Credentials(password=source.value), ""
    kind, name = ("Secret", source.secret) if source.secret else ("ConfigMap", source.config_map)
    raw = secrets[name] if source.secret else maps[name]
    value = ((raw or {}).get("data") or {}).get(source.key)
    if value is None:
        if source.optional:
            return Credentials(), ""
        what = f"has no key {source.key}" if raw else "does not exist"
        return None, f"{kind} {name}, which MYSQL_PWD of the frontends refers to, {what}."
    try:
        return Credentials(password=base64.b64decode(value).decode() if source.secret else value), ""
    except (binascii.Error, UnicodeDecodeError):
        return None, f"The password in {kind} {name}, key {source.key}, is no UTF-8 text."
