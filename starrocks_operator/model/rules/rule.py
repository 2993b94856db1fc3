"""What a rule is: one CEL expression for the apiserver, and the same judgement in Python.

The apiserver refuses what breaks a rule. Objects stored before the rule existed were never asked, so the operator
asks them again, with the Python half. Both halves are one entry of one table, and the tests feed them the same cases.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

COMPONENT_KEYS = ("starRocksFeSpec", "starRocksBeSpec", "starRocksCnSpec")
WORKLOAD_KEYS = (*COMPONENT_KEYS, "starRocksFeProxySpec")
GROUP_KEYS = (*WORKLOAD_KEYS, "starRocksFeObserverSpec")
_PLACEHOLDERS = {"{component}": COMPONENT_KEYS, "{workload}": WORKLOAD_KEYS, "{group}": GROUP_KEYS}

Judge = Callable[[Any], str | None]
"""Looks at a value: None when the rule holds, else the culprit's name, or nothing in particular ("")."""


@dataclass(frozen=True)
class Violation:
    """A rule that does not hold, and where."""

    rule: str
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule about one node of the schema."""

    name: str
    at: str
    """The node: `spec.{workload}.service.ports[].port`; {component}, {workload} and {group} stand for each of
    them: observers are a group only, since most of what they are is said of the frontends."""
    cel: str
    """Holds when true; `self` is the value at the node."""
    message: str
    """What is wrong and what to do; {culprit} names the offending part."""
    judge: Judge
    """The same as `cel`, in Python."""
    culprit: str = ""
    """CEL that names the offending part, a string."""
    judge_change: Callable[[Any, Any], str | None] | None = None
    """For rules about a change: the same as `cel`, of the new value and the old."""
    spares_old: bool = False
    """A rule about several fields: an old object that already broke it may still be written to."""
    only_at_creation: bool = False

    def nodes(self) -> Iterator[tuple[str, ...]]:
        """The schema nodes that carry the rule, as paths; `[]` steps into a list."""
        for path in self._paths():
            yield tuple(step for step in re.split(r"\.|(?=\[\])", path) if step)

    def _paths(self) -> Iterator[str]:
        for placeholder, keys in _PLACEHOLDERS.items():
            if placeholder in self.at:
                yield from (self.at.replace(placeholder, key) for key in keys)
                return
        yield self.at

    def as_validation(self) -> dict[str, Any]:
        """The entry for `x-kubernetes-validations`."""
        entry: dict[str, Any] = {"rule": self._guarded()}
        if self.culprit:
            before, after = self.message.split("{culprit}")
            entry["messageExpression"] = f"{_quoted(before)} + {self.culprit} + {_quoted(after)}"
        else:
            entry["message"] = self.message
        if self.spares_old or self.only_at_creation:
            entry["optionalOldSelf"] = True
        return entry

    def _guarded(self) -> str:
        if self.only_at_creation:
            return f"oldSelf.hasValue() || ({self.cel})"
        if self.spares_old:
            old = re.sub(r"\bself\b", "old", self.cel)
            return f"({self.cel}) || oldSelf.optMap(old, !({old})).orValue(false)"
        return self.cel

    def violations(self, raw: Mapping[str, Any]) -> Iterator[Violation]:
        """Where an object breaks the rule."""
        for node in self.nodes():
            for path, value in _values(raw, node):
                culprit = self.judge(value)
                if culprit is not None:
                    yield Violation(self.name, path, self._said(culprit))

    def violations_by_change(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Violation]:
        """Where a change from one object to another breaks the rule."""
        if self.judge_change is None:
            return
        for node in self.nodes():
            before = dict(_values(old, node))
            for path, value in _values(new, node):
                culprit = self.judge_change(value, before[path]) if path in before else None
                if culprit is not None:
                    yield Violation(self.name, path, self._said(culprit))

    def _said(self, culprit: str) -> str:
        return self.message.replace("{culprit}", culprit)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _values(value: Any, node: tuple[str, ...], path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of an object at a schema node, with its path."""
    if not node:
        yield path, value
        return
    step, rest = node[0], node[1:]
    if step == "[]":
        for index, item in enumerate(value if isinstance(value, list | tuple) else ()):
            yield from _values(item, rest, f"{path}[{index}]")
    elif isinstance(value, Mapping) and value.get(step) is not None:
        yield from _values(value[step], rest, f"{path}.{step}" if path else step)
