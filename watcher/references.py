"""What a cluster refers to and does not own: configuration files, Secrets, passwords; read and kept for a while.

Of everything but configuration files and what is needed to log in only the existence is asked for: other secrets never
come here. Secrets are got by name, never listed or watched; so those with passwords are got again every half minute.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starrocks_operator.frontend.endpoints import Credentials
from starrocks_operator.frontend.ladder import Former, Holders, Ladder, holders_of, ladder
from starrocks_operator.frontend.tls import TlsMode
from starrocks_operator.model import Key, StarRocksCluster
from starrocks_operator.objects import References, references
from starrocks_operator.objects.configuration import configuration_of
from starrocks_operator.observed import Accounts, Configuration, Login, Protection
from starrocks_operator.protection import whole
from watcher.kube import METADATA_ONLY, ApiError, Kube
from watcher.protection import Guardian

FRESH, SETTLED = 10.0, 300.0  # seconds that an answer is good for
FILES = 60.0  # the same for configuration files, of which only the version is asked for
PASSWORDS = 30.0  # the same for what is needed to log in, unless told otherwise
PLURALS = {"ConfigMap": "configmaps", "Secret": "secrets"}


@dataclass(frozen=True, kw_only=True)
class Found:
    """What was found. Equal values mean that nothing changed."""

    configurations: dict[str, Configuration] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    credentials: Credentials | None = None
    accounts: Accounts = field(default_factory=Accounts)
    problem: str = ""  # why there are no credentials
    protection: Protection | None = None  # of a cluster that asks for it


@dataclass(frozen=True)
class _Kept:
    uid: str
    generation: int
    annotations: Any
    at: float
    passwords_at: float
    named: bool  # whether there are passwords to be got again
    found: Found
    versions: Mapping[str, str]  # of the ConfigMaps with configuration files
    versions_at: float


class Reader:
    """Reads references, and remembers them per cluster until they are old or the cluster's spec changes."""

    def __init__(
        self,
        kube: Kube,
        *,
        clock: Callable[[], float],
        tls: str = TlsMode.DISABLED,
        passwords: float = PASSWORDS,
        files: float = FILES,
    ) -> None:
        self._kube, self._clock, self._tls, self._passwords, self._files = kube, clock, tls, passwords, files
        self._guardian = Guardian(kube, clock=clock)
        self._kept: dict[Key, _Kept] = {}
        self._proven: dict[Key, Former] = {}

    def forget(self, key: Key) -> None:
        self._kept.pop(key, None)
        self._proven.pop(key, None)

    def doubt(self, key: Key) -> None:
        """Read anew next time; for example after a refused password."""
        if (kept := self._kept.get(key)) and self._clock() - kept.at > FRESH:
            del self._kept[key]

    def due(self, key: Key) -> float | None:
        """In how many seconds passwords or files should be looked at again; None: there are none."""
        if (kept := self._kept.get(key)) is None:
            return None
        times = [kept.passwords_at + self._passwords] if kept.named else []
        times += [kept.versions_at + self._files] if kept.versions else []
        return max(0.0, min(times) - self._clock()) if times else None

    def prove(self, key: Key, login: str) -> None:
        """FE accepted this login: should the Secret change, it is what FE still has."""
        kept = self._kept.get(key)
        one = kept.found.credentials.only(login) if kept and kept.found.credentials else None
        if one is None or not one.password:
            return
        known = self._proven.get(key, Former())
        if login == Login.GIVEN:
            self._proven[key] = dataclasses.replace(known, root=one.password)
        elif login == Login.ACCOUNT:
            self._proven[key] = dataclasses.replace(known, operator=one.password)

    def former(self, key: Key) -> Former:
        """What FE accepted last, as far as this process has seen it."""
        return self._proven.get(key, Former())

    async def read(self, cluster: StarRocksCluster, *, settled: bool) -> Found:
        kept, now = self._kept.get(cluster.key), self._clock()
        same = (cluster.uid, cluster.generation, cluster.annotations)
        if kept is None or (kept.uid, kept.generation, kept.annotations) != same:
            return await self._read(cluster)
        if now - kept.at >= (SETTLED if settled and whole(kept.found.protection) else FRESH):
            return await self._read(cluster)
        if kept.versions and now - kept.versions_at >= self._files:
            if await self._versions(cluster.namespace, kept.versions) != kept.versions:
                return await self._read(cluster)
            kept = self._kept[cluster.key] = dataclasses.replace(kept, versions_at=self._clock())
        if kept.named and now - kept.passwords_at >= self._passwords:
            wanted = references(cluster)
            found = _with(kept.found, self._ladder(cluster, wanted, await self._holders(cluster.namespace, wanted)))
            self._kept[cluster.key] = dataclasses.replace(kept, passwords_at=self._clock(), found=found)
            return found
        return kept.found

    async def _read(self, cluster: StarRocksCluster) -> Found:
        wanted, namespace = references(cluster), cluster.namespace
        files = wanted.configurations
        holders = await self._holders(namespace, wanted)
        full = {file.config_map for file in files.values()}
        names = [("ConfigMap", name) for name in sorted({*wanted.config_maps, *full})]
        names += [("Secret", name) for name in wanted.secrets]
        raws = dict(holders)
        for kind, name in names:
            if (kind, name) not in raws:
                raws[kind, name] = await self._get(namespace, kind, name, full=kind == "ConfigMap" and name in full)
        required = [("ConfigMap", name) for name in wanted.config_maps] + [("Secret", name) for name in wanted.secrets]
        found = Found(
            configurations={
                name: configuration_of(raws["ConfigMap", file.config_map], file) for name, file in files.items()
            },
            missing=tuple(f"{kind} {name}" for kind, name in required if raws[kind, name] is None),
        )
        if cluster.spec.deletion_protection:
            found = dataclasses.replace(found, protection=await self._guardian.look(namespace))
        found, now = _with(found, self._ladder(cluster, wanted, holders)), self._clock()
        identity = (cluster.uid, cluster.generation, cluster.annotations)
        versions = {name: _version(raws["ConfigMap", name]) for name in sorted(full)}
        self._kept[cluster.key] = _Kept(*identity, now, now, bool(holders), found, versions, now)
        return found

    async def _versions(self, namespace: str, names: Iterable[str]) -> dict[str, str]:
        return {name: _version(await self._get(namespace, "ConfigMap", name, full=False)) for name in names}

    def _ladder(self, cluster: StarRocksCluster, wanted: References, holders: Holders) -> Ladder:
        return ladder(cluster, wanted, holders, former=self.former(cluster.key), default_tls=self._tls)

    async def _holders(self, namespace: str, wanted: References) -> dict[tuple[str, str], dict[str, Any] | None]:
        return {(kind, name): await self._get(namespace, kind, name, full=True) for kind, name in holders_of(wanted)}

    async def _get(self, namespace: str, kind: str, name: str, *, full: bool) -> dict[str, Any] | None:
        path = f"/api/v1/namespaces/{namespace}/{PLURALS[kind]}/{name}"
        try:
            return await self._kube.get(path, accept="application/json" if full else METADATA_ONLY)
        except ApiError as error:
            if error.status == 404:
                return None
            raise


def _version(raw: Mapping[str, Any] | None) -> str:
    return str(raw["metadata"].get("resourceVersion", "")) if raw else ""


def _with(found: Found, climbed: Ladder) -> Found:
    return dataclasses.replace(
        found, credentials=climbed.credentials, accounts=climbed.accounts, problem=climbed.problem
    )
