"""Which of the operator's rights were used, and which it lacked, as the API server's audit log has it.

`python -m lab.rights AUDIT_LOG …` after scenarios: rules that nothing used may be taken away, refusals ask for one.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any

import yaml

from lab.audit import OPERATOR, lines
from lab.stack import ROOT

RBAC = ROOT / "deploy" / "rbac.yaml"


@dataclass(frozen=True, order=True, kw_only=True)
class Right:
    """A verb on a resource (with its subresource, as RBAC writes it), and the role that gives it."""

    role: str = ""
    group: str
    resource: str
    verb: str

    def __str__(self) -> str:
        what = f"{self.resource}.{self.group}" if self.group else self.resource
        return " ".join(filter(None, (f"{self.role}:" if self.role else "", self.verb, what)))

    def covers(self, asked: Right) -> bool:
        return (self.group, self.resource, self.verb) == (asked.group, asked.resource, asked.verb)


def granted(documents: Iterable[Mapping[str, Any]] | None = None) -> list[Right]:
    """Each right that the roles give, one by one."""
    roles = documents or [item for item in yaml.safe_load_all(RBAC.read_text()) if item]
    return sorted(
        Right(role=role["metadata"]["name"], group=group, resource=resource, verb=verb)
        for role in roles
        for rule in role.get("rules", ())
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    )


def requests(audit_log: Path, *, user: str = OPERATOR) -> Iterator[tuple[Right, bool, str]]:
    """What that user asked the API server for: the right it takes, whether that was given, and where."""
    for event in lines(audit_log):
        reference = event.get("objectRef")
        if not reference or event["user"]["username"] != user:
            continue
        resource = "/".join(filter(None, (reference.get("resource"), reference.get("subresource"))))
        right = Right(group=reference.get("apiGroup", ""), resource=resource, verb=event["verb"])
        allowed = event.get("annotations", {}).get("authorization.k8s.io/decision") != "forbid"
        where = "/".join(filter(None, (reference.get("namespace"), reference.get("name"))))
        yield right, allowed, where
        if right.verb == "patch" and event.get("responseStatus", {}).get("code") == HTTPStatus.CREATED:
            yield replace(right, verb="create"), allowed, where  # an apply that made the object took both rights


def denied(audit_log: Path, *, user: str = OPERATOR) -> list[str]:
    """Refusals for want of a right, as sentences; what an admission policy refuses is another thing."""
    found = Counter((right, where) for right, allowed, where in requests(audit_log, user=user) if not allowed)
    return [f"may not {right} {where or 'anywhere'} ({times} times)" for (right, where), times in sorted(found.items())]


def used(audit_logs: Iterable[Path], *, user: str = OPERATOR) -> Counter[Right]:
    return Counter(right for log in audit_logs for right, _, _ in requests(log, user=user))


def unused(audit_logs: Iterable[Path], rights: Iterable[Right] | None = None) -> list[Right]:
    """Granted, and asked for in none of these logs."""
    seen = used(audit_logs)
    return [right for right in rights or granted() if not any(right.covers(asked) for asked in seen)]


def main(paths: Iterable[str]) -> int:
    logs = [Path(path) for path in paths]
    for right in unused(logs):
        print(f"never used: {right}")
    refusals = [refusal for log in logs for refusal in denied(log)]
    for refusal in refusals:
        print(f"refused: {refusal}")
    return 1 if refusals else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
