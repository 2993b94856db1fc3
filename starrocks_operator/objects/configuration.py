"""A component's configuration file as the operator reads it: Java properties, and the ports in them.

Only ports and `meta_dir` are ever looked at; the file itself reaches the process by its mount.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from starrocks_operator.components import COMPONENTS, Component
from starrocks_operator.model import ComponentSpec
from starrocks_operator.objects.environment import root_path
from starrocks_operator.objects.metadata import content_hash
from starrocks_operator.observed import Configuration, Raw

_REFERENCE = re.compile(r"\$\{([^{}]+)\}")
_ENTRY = re.compile(r"((?:[^\\:=\s]|\\.)+)\s*[:=]?\s*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


@dataclass(frozen=True)
class ConfigurationSource:
    """Where a component's configuration file is: a key of a ConfigMap."""

    config_map: str
    key: str


def configuration_source(component: Component, spec: ComponentSpec) -> ConfigurationSource | None:
    """The ConfigMap that holds the component's configuration file, if the user brought one."""
    info = spec.config_map_info
    if spec.config and info is None:
        return None
    if info is not None and info.config_map_name and info.resolve_key:
        return ConfigurationSource(info.config_map_name, info.resolve_key)
    file = component.configuration_file
    directory = f"{component.home(root_path(spec))}/conf"
    for mount in spec.config_maps:
        if mount.sub_path == file and mount.mount_path == f"{directory}/{file}":
            return ConfigurationSource(mount.name, file)
    for mount in spec.config_maps:
        if not mount.sub_path and mount.mount_path.rstrip("/") == directory:
            return ConfigurationSource(mount.name, file)
    return None


def configuration_of(raw: Raw | None, source: ConfigurationSource) -> Configuration:
    """The file in a ConfigMap as it was read; None: there is no such ConfigMap."""
    if raw is None:
        return Configuration(missing=f"ConfigMap {source.config_map}")
    text = (raw.get("data") or {}).get(source.key)
    if text is None:
        return Configuration(missing=f"key {source.key} in ConfigMap {source.config_map}")
    entries = raw["metadata"].get("managedFields") or ()
    times = (str(entry.get("time", "")) for entry in entries if "f:data" in (entry.get("fieldsV1") or {}))
    return Configuration(
        properties=parse_properties(text),
        digest=content_hash({source.key: text}),
        changed=max(times, default=str(raw["metadata"].get("creationTimestamp") or "")),
    )


def parse_properties(text: str) -> dict[str, str]:
    """Read a properties file: keys in lower case, the last of equal keys counts, `${key}` is replaced."""
    entries: dict[str, str] = {}
    for line in _logical_lines(text):
        if match := _ENTRY.match(line):
            key, value = match.groups()
            entries[_unescape(key).lower()] = _unescape(value.rstrip())
    return {key: _expanded(value, entries) for key, value in entries.items()}


def _logical_lines(text: str) -> Iterator[str]:
    """Lines without comments and blanks, continued lines joined."""
    pending = ""
    for raw in text.splitlines():
        line = raw.lstrip()
        if not pending and (not line or line[0] in "#!"):
            continue
        trailing = len(line) - len(line.rstrip("\\"))
        if trailing % 2:
            pending += line[:-1]
            continue
        yield pending + line
        pending = ""
    if pending:
        yield pending


def _unescape(text: str) -> str:
    def replaced(match: re.Match[str]) -> str:
        code = match.group(1)
        return chr(int(code[1:], 16)) if len(code) > 1 else _CONTROL.get(code, code)

    return _ESCAPE.sub(replaced, text)


def _expanded(value: str, entries: Mapping[str, str]) -> str:
    """References replaced, at most as deep as there are entries; unknown ones stay as they are."""
    for _ in range(min(len(entries), 10)):
        expanded = _REFERENCE.sub(lambda match: entries.get(match.group(1).lower(), match.group(0)), value)
        if expanded == value or len(expanded) > 65536:
            break
        value = expanded
    return value


def port_of(component: Component, port: str, properties: Mapping[str, str]) -> int:
    """The number of a port: what the configuration file says, else the default. 0: not open."""
    entry = component.ports[port]
    for key in entry.keys:
        number = properties.get(key, "").strip()
        if number.isascii() and number.isdigit() and 0 < int(number) < 65536:
            return int(number)
    return entry.default


def ports_of(component: str, properties: Mapping[str, str]) -> dict[str, int]:
    """All ports of a component by name, for example {"query": 9030, …}."""
    entry = COMPONENTS[component]
    return {port: port_of(entry, port, properties) for port in entry.ports}
