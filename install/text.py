"""YAML as people like to read it: no references, long texts as blocks, keys in the order in which they were given."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

HEADER = "# Generated from {source}: run `make bundle` after a change.\n"
WIDTH = 120


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        del indentless
        return super().increase_indent(flow, False)


def _string(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    word = len(value) > WIDTH and " " not in value  # on a line of its own
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", value, style="|" if "\n" in value else ">" if word else None
    )


_Dumper.add_representer(str, _string)


def parse(path: Path) -> list[Any]:
    """The documents of a file; by libyaml, as a CRD takes the other parser seconds."""
    return [item for item in yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader) if item]


def documents(items: Iterable[Any], *, source: str) -> str:
    """The text of a file with these documents."""
    texts = (yaml.dump(item, Dumper=_Dumper, sort_keys=False, width=WIDTH) for item in items)
    return HEADER.format(source=source) + "---\n".join(texts)
