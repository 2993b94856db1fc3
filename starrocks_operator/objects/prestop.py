"""The command that stops a process before its pod goes, by component and release."""

from __future__ import annotations

import re

from starrocks_operator.components import Component

_RELEASE = re.compile(r"(\d+)\.(\d+)\.(\d+)")


def release_of(image: str) -> tuple[int, int, int] | None:
    """The release an image's tag names, for example (3, 3, 19); None if it names none."""
    tag = image.rpartition(":")[2]
    if "latest" in tag:
        return None
    match = _RELEASE.fullmatch(tag.partition("-")[0])
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def stops_gracefully(component: Component, image: str) -> bool:
    """Whether the stop script of this image knows `-g`. In doubt it does."""
    release = release_of(image)
    if release is None:
        return True
    return not any(release[:2] == first[:2] and release < first for first in component.graceful_from)


def stop_command(component: Component, *, image: str, root: str) -> list[str]:
    script = component.stop_script(root)
    return ["/bin/bash", "-c", f"{script} -g" if stops_gracefully(component, image) else script]
