"""The documentation keeps up: each promise names tests that exist, each step and each reason is explained."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from lab.stack import ROOT
from starrocks_operator.step import StepKind

TROUBLESHOOTING = (ROOT / "docs" / "troubleshooting.md").read_text()
PROMISES = (ROOT / "docs" / "promises.md").read_text()
PAGES = sorted([*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"])
REASON = re.compile(r"[A-Z][a-z]+(?:[A-Z][a-z]*)+|Ready|Recovered|Founded|Healthy|Settled|Stopped|Waiting|Applying")


def promised() -> list[str]:
    """The tests that the page names, each as path::name."""
    found, path = [], ""
    for word in re.findall(r"`((?:tests/[\w/]+\.py|…)::\w+)`", PROMISES):
        here, _, name = word.partition("::")
        path = path if here == "…" else here
        found.append(f"{path}::{name}")
    return found


@cache
def defined_in(path: Path) -> frozenset[str]:
    nodes = ast.parse(path.read_text()).body
    functions = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    machines = {target.id for node in nodes if isinstance(node, ast.Assign) for target in names(node)}
    return frozenset(functions | machines)


def names(node: ast.Assign) -> Iterator[ast.Name]:
    return (target for target in node.targets if isinstance(target, ast.Name))


def reasons() -> set[str]:
    """What findings, conditions and events give as their reason, wherever it is written out."""
    found = set()
    for path in [*(ROOT / "starrocks_operator").rglob("*.py"), *(ROOT / "watcher").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.keyword) and node.arg == "reason" and isinstance(node.value, ast.Constant):
                found.add(str(node.value.value))
    return {reason for reason in found if REASON.fullmatch(reason)}


@pytest.mark.parametrize("test", promised())
def test_each_promise_is_held_by_a_test(test: str) -> None:
    path, _, name = test.partition("::")
    assert (ROOT / path).exists(), f"{path} is not there"
    assert name in defined_in(ROOT / path), f"{path} has no {name}"


def test_all_ten_are_promised() -> None:
    assert [f"| I{number} |" in PROMISES for number in range(1, 11)] == [True] * 10


@pytest.mark.parametrize("kind", StepKind)
def test_every_step_is_explained(kind: StepKind) -> None:
    assert f"| `{kind}` |" in TROUBLESHOOTING


@pytest.mark.parametrize("reason", sorted(reasons()))
def test_every_reason_is_explained(reason: str) -> None:
    assert f"`{reason}`" in TROUBLESHOOTING


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)]+))?\)", page.read_text()):
        other = (page.parent / target).resolve() if target else page
        assert other.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(other), f"{page.name} links to {target}#{anchor}"


@cache
def anchors(page: Path) -> frozenset[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)
