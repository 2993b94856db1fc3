"""The conf files of frontends, backends and compute nodes: `key = value`, keys in lower case."""

from __future__ import annotations


def properties(text: str) -> dict[str, str]:
    found = {}
    for line in text.splitlines():
        stripped = line.strip()
        if stripped and not stripped.startswith(("#", "!")) and "=" in stripped:
            key, _, value = stripped.partition("=")
            found[key.strip().lower()] = value.strip()
    return found
