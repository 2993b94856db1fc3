"""What a StarRocksCluster refers to: the ConfigMaps and Secrets its pods need, and where the root password is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from starrocks_operator.components import COMPONENTS
from starrocks_operator.model import ComponentSpec, StarRocksCluster
from starrocks_operator.objects.configuration import ConfigurationSource, configuration_source

OPERATOR_ACCOUNT = "starrocks.com/operator-account"
TLS_MODE = "starrocks.com/fe-ssl-mode"
TLS_CA = "starrocks.com/fe-ssl-ca"

PASSWORD_VARIABLE = "MYSQL_PWD"  # noqa: S105 - the name of the variable, which the images' mysql client reads

Raw = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class PasswordSource:
    """Where the password of FE's user root is: given literally, or a key of a Secret or ConfigMap."""

    value: str = field(default="", repr=False)
    secret: str = ""
    config_map: str = ""
    key: str = ""
    optional: bool = False


@dataclass(frozen=True, kw_only=True)
class TlsSource:
    """What the annotations say about TLS to FE: mode, and kind (Secret or ConfigMap), name and key of a CA."""

    mode: str = ""
    kind: str = ""
    name: str = ""
    key: str = ""
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class References:
    """Names in the cluster's own namespace. Optional ones are left out: a pod starts without them.

    configurations: each component's configuration file, by component, where the user brought one.
    password: None: root has no password.
    operator_account: the Secret with the operator's own account in FE; empty: it works as root.
    """

    configurations: Mapping[str, ConfigurationSource]
    config_maps: tuple[str, ...]
    secrets: tuple[str, ...]
    password: PasswordSource | None
    operator_account: str = ""
    tls: TlsSource = TlsSource()


def references(cluster: StarRocksCluster) -> References:
    """Everything the cluster refers to."""
    specs = cluster.spec.components
    sources = {name: configuration_source(COMPONENTS[name], spec) for name, spec in specs.items()}
    named = {pair for spec in specs.values() for pair in _named(spec)}
    return References(
        configurations={name: source for name, source in sources.items() if source is not None},
        config_maps=tuple(sorted(name for kind, name in named if kind == "configMap" and name)),
        secrets=tuple(sorted(name for kind, name in named if kind == "secret" and name)),
        password=_password(cluster),
        operator_account=cluster.annotations.get(OPERATOR_ACCOUNT, ""),
        tls=_tls(cluster.annotations),
    )


def _named(spec: ComponentSpec) -> Iterator[tuple[str, str]]:
    """(kind, name) of what the pods of a component cannot start without."""
    info = spec.config_map_info
    if info is not None and info.config_map_name and info.resolve_key:
        yield "configMap", info.config_map_name
    yield from (("configMap", mount.name) for mount in spec.config_maps)
    yield from (("secret", mount.name) for mount in spec.secrets)
    yield from _named_in_container({"env": spec.env_vars})
    for container in (*spec.init_containers, *spec.sidecars):
        yield from _named_in_container(container)


def _named_in_container(container: Raw) -> Iterator[tuple[str, str]]:
    for entry in container.get("env") or ():
        source = entry.get("valueFrom") or {}
        yield from _required("configMap", source.get("configMapKeyRef"))
        yield from _required("secret", source.get("secretKeyRef"))
    for entry in container.get("envFrom") or ():
        yield from _required("configMap", entry.get("configMapRef"))
        yield from _required("secret", entry.get("secretRef"))


def _required(kind: str, reference: Raw | None) -> Iterator[tuple[str, str]]:
    if reference and not reference.get("optional"):
        yield kind, reference.get("name", "")


def _password(cluster: StarRocksCluster) -> PasswordSource | None:
    """The frontends' own MYSQL_PWD; of several the last counts."""
    entries = cluster.spec.fe.env_vars if cluster.spec.fe else ()
    found = [entry for entry in entries if entry.get("name") == PASSWORD_VARIABLE]
    if not found:
        return None
    entry = found[-1]
    source = entry.get("valueFrom") or {}
    secret, config_map = source.get("secretKeyRef") or {}, source.get("configMapKeyRef") or {}
    chosen = secret or config_map
    return PasswordSource(
        value=entry.get("value") or "",
        secret=secret.get("name", ""),
        config_map=config_map.get("name", ""),
        key=chosen.get("key", ""),
        optional=bool(chosen.get("optional")),
    )


def _tls(annotations: Mapping[str, str]) -> TlsSource:
    """The CA is written as `secret/<name>/<key>` or `configmap/<name>/<key>`, or without the key: ca.crt."""
    mode, ca = annotations.get(TLS_MODE, "").upper(), annotations.get(TLS_CA, "")
    if not ca:
        return TlsSource(mode=mode)
    kind, _, rest = ca.partition("/")
    name, _, key = rest.partition("/")
    known = {"secret": "Secret", "configmap": "ConfigMap"}.get(kind.lower(), "")
    if not known or not name:
        problem = f"Annotation {TLS_CA} is {ca!r}: write secret/<name>/<key> or configmap/<name>/<key>."
        return TlsSource(mode=mode, problem=problem)
    return TlsSource(mode=mode, kind=known, name=name, key=key or "ca.crt")
