"""A configuration that stands in the spec itself, as an immutable ConfigMap whose name has the hash of its content.

Another content is another ConfigMap, and so another pod template: it reaches pods only as they are replaced, and a pod
that dies before that comes back with the content it had. Nothing is added to what the user says: without an entry of
its own, a process has the default that is built into it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from starrocks_operator.components import Component
from starrocks_operator.model import ComponentSpec, StarRocksCluster
from starrocks_operator.objects.metadata import Object, content_hash, labels, make_object
from starrocks_operator.objects.names import stateful_set_name
from starrocks_operator.observed import Raw

CONFIGURATION_LABEL = "starrocks.com/configuration"
"""On each of these ConfigMaps, and on those with scripts: the component that it is, or was, for. They are found by it,
and collected when nothing refers to them any more."""

VOLUME = "starrocks-configuration"
KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_ENVIRONMENT = re.compile(r"[A-Z][A-Z0-9_]*")
_HASH_DIGITS = 8


def rendered(component: Component, config: Mapping[str, str]) -> str:
    """The configuration file, keys in order. Upper-case keys are variables of the start script, which is a shell."""
    return "".join(f"{key} = {_value(component, key, value)}\n" for key, value in sorted(config.items()))


def _value(component: Component, key: str, value: str) -> str:
    text = value.strip()
    if _ENVIRONMENT.fullmatch(key):
        quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
        return text if quoted or not re.search(r"\s", text) else f'"{text}"'
    return text.replace("\\", "\\\\") if component.process == "fe" else text  # Java reads escapes, C++ does not


def malformed(config: Mapping[str, str]) -> str:
    """What cannot be written into a configuration file, as a sentence; empty: everything can."""
    for key, value in sorted(config.items()):
        if not KEY.fullmatch(key):
            return f"{key[:60]!r} is no name of a parameter."
        if any(ord(letter) < 32 or letter in "\x7f\x85\u2028\u2029" for letter in value.strip()):
            return f"The value of {key} has more than one line, or characters that no file can have."
    seen: dict[str, str] = {}
    for key in sorted(config):
        if (other := seen.setdefault(key.lower(), key)) != key:
            return f"{other} and {key} differ in nothing but capitals: keep one."
    return ""


def inline_config_map(cluster: StarRocksCluster, component: Component, spec: ComponentSpec) -> Object:
    """The ConfigMap of what the spec says."""
    data = {component.configuration_file: rendered(component, spec.config)}
    digest = content_hash(data)[:_HASH_DIGITS]
    return make_object(
        cluster,
        api_version="v1",
        kind="ConfigMap",
        name=f"{stateful_set_name(cluster, component.name)}-config-{digest}",
        labels={**labels(cluster, component.name), CONFIGURATION_LABEL: component.name},
        data=data,
        immutable=True,
    )


def inline_name(cluster: StarRocksCluster, component: Component, spec: ComponentSpec) -> str:
    """The ConfigMap's name; empty: the spec says nothing, or names a ConfigMap besides."""
    if not spec.config or spec.config_map_info is not None:
        return ""
    return str(inline_config_map(cluster, component, spec)["metadata"]["name"])


def mounted_inline(template: Raw) -> str:
    """The ConfigMap of ours that a pod template, or a pod, mounts; empty: none."""
    volumes: list[dict[str, Any]] = (template.get("spec") or {}).get("volumes") or []
    found = next((volume for volume in volumes if volume.get("name") == VOLUME), {})
    return str((found.get("configMap") or {}).get("name", ""))
