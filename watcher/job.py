"""What a run is given for one cluster, and what it brings back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from starrocks_operator.decision import WAREHOUSE, Decision
from starrocks_operator.frontend.ladder import NOTHING_FORMER, Former
from starrocks_operator.model import WAREHOUSE_KIND, Key
from starrocks_operator.objects.ownership import is_adopted
from starrocks_operator.observed import Children
from starrocks_operator.run_report import RunReport
from starrocks_operator.step import ACCOUNT_STEPS
from watcher.keys import host_name
from watcher.settings import Settings
from watcher.trim import Raw

NEVER_APPLIED = frozenset({"Pod"})
ONLY_MARKED = frozenset({"PersistentVolumeClaim"})  # what others made is looked at before it is taken over


@dataclass(frozen=True, kw_only=True)
class Job:
    """One cluster's part of a run. `document` is the only thing that the play is given."""

    key: Key
    fingerprint: str
    document: Mapping[str, Any] = field(repr=False)

    @property
    def host(self) -> str:
        return host_name(self.key)


@dataclass(frozen=True, kw_only=True)
class Result:
    """What became of a job. versions: the resourceVersions of the objects that were written or confirmed."""

    report: RunReport
    versions: Mapping[tuple[str, str], str] = field(default_factory=dict)
    seconds: float = 0.0


def job(
    key: Key,
    raw: Raw,
    decision: Decision,
    children: Children,
    settings: Settings,
    *,
    former: Former = NOTHING_FORMER,
) -> Job:
    """What the play needs to carry out `decision`. former: handed on only to a step that needs it."""
    lease = {"namespace": settings.lease_namespace, "name": settings.lease_name}
    document = {
        "cluster": raw,
        "context": decision.context.document(),
        "due": _due(raw, decision),
        "prune": [{"kind": item.kind, "name": item.name} for item in decision.prune],
        "step": decision.step.document() if decision.step else None,
        "known": {
            str(name): child["metadata"].get("resourceVersion", "")
            for name, child in children.objects.items()
            if name.kind not in NEVER_APPLIED and (name.kind in ONLY_MARKED or not is_adopted(child))
        },
        "operator": {
            "identity": settings.identity,
            "lease": lease,
            "default_profile": settings.default_profile,
            "dns_domain": settings.dns_domain,
            "fe_ssl_mode": settings.fe_ssl_mode,
        },
    }
    if decision.step is not None and decision.step.kind in ACCOUNT_STEPS:
        document["former"] = asdict(former)
    return Job(key=key, fingerprint=decision.fingerprint, document=document)


def _due(raw: Raw, decision: Decision) -> list[str]:
    """The components whose roles have something to apply; a warehouse has one role for all that it is."""
    due = [component for component, objects in decision.apply.items() if objects]
    return [WAREHOUSE] if due and raw["kind"] == WAREHOUSE_KIND else due
