"""Rights as an audit log saw them used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lab.audit import OPERATOR
from lab.rights import Right, denied, granted, unused

ROLE = {
    "metadata": {"name": "work"},
    "rules": [
        {"apiGroups": ["apps"], "resources": ["statefulsets"], "verbs": ["get", "patch"]},
        {"apiGroups": ["starrocks.com"], "resources": ["starrocksclusters/status"], "verbs": ["patch"]},
    ],
}


def event(verb: str, reference: dict[str, str], *, user: str = OPERATOR, decision: str = "allow") -> dict[str, Any]:
    annotations = {"authorization.k8s.io/decision": decision}
    return {"user": {"username": user}, "verb": verb, "objectRef": reference, "annotations": annotations}


SETS = {"resource": "statefulsets", "apiGroup": "apps", "namespace": "a", "name": "x"}
STATUS = {"resource": "starrocksclusters", "subresource": "status", "apiGroup": "starrocks.com", "namespace": "a"}
NODES = {"resource": "nodes"}


def log(directory: Path, *events: dict[str, Any]) -> Path:
    path = directory / "audit.log"
    path.write_text("".join(json.dumps(each) + "\n" for each in events))
    return path


def test_what_nothing_asked_for_is_named(tmp_path: Path) -> None:
    audit = log(tmp_path, event("get", SETS), event("patch", STATUS), event("patch", SETS, user="somebody"))
    assert unused([audit], granted([ROLE])) == [Right(role="work", group="apps", resource="statefulsets", verb="patch")]


def test_what_was_refused_is_named(tmp_path: Path) -> None:
    audit = log(tmp_path, event("list", NODES, decision="forbid"), event("list", NODES, decision="forbid"))
    assert denied(audit) == ["may not list nodes anywhere (2 times)"]


def test_the_roles_in_deploy_are_read() -> None:
    assert Right(role="starrocks-operator", group="", resource="secrets", verb="get") in granted()
