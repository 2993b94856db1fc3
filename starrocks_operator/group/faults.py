"""What a person should know about a group: the frontends' answers, and pods that do not get to run."""

from __future__ import annotations

from collections.abc import Iterator

from starrocks_operator.decision import Finding
from starrocks_operator.group.cases import pods_of
from starrocks_operator.model import ComputeNodeGroup
from starrocks_operator.observed import Observed, Outcome, Raw

NO_SCRIPT = ("no such file or directory", "executable file not found", "not found in $path", "permission denied")
RESTARTS = 3  # of a container that count as a fault

_OUTCOMES = {
    Outcome.DENIED: ("PasswordRefused", "refused the account of feInfo.accountSecret"),
    Outcome.HUNG: ("FrontendsUnreachable", "connected and did not answer"),
    Outcome.REFUSED: ("FrontendsUnreachable", "cannot be reached: check feInfo.addresses (host:query_port)"),
    Outcome.FAILED: ("FrontendsUnreachable", "answered with an error"),
    Outcome.UNTRUSTED: ("FrontendsUnreachable", "is not trusted: check TLS"),
}


def standing(group: ComputeNodeGroup, observed: Observed) -> tuple[Finding, ...]:
    """All of them, the frontends first."""
    return (*_frontends(group, observed), *_pods(group, observed))


def _frontends(group: ComputeNodeGroup, observed: Observed) -> Iterator[Finding]:
    way_out = ""
    if group.is_deleted:
        way_out = (
            " It is deleted and cannot be removed from FE; if FE is gone for good, remove the finalizer: kubectl -n "
            f"{group.namespace} patch computenodegroup {group.name} --type=merge -p "
            '\'{"metadata":{"finalizers":null}}\'.'
        )
    if observed.credentials_problem:
        yield Finding(
            reason="AccountUnusable", message=observed.credentials_problem + way_out, blocks="membership", degraded=True
        )
        return
    view = observed.view
    if view is None or view.compute_nodes is not None:
        return
    for answer in view.answers:
        if answer.outcome in _OUTCOMES:
            reason, words = _OUTCOMES[answer.outcome]
            said = f" ({answer.error})" if answer.error else ""
            message = f"Frontend {answer.pod} {words}{said}.{way_out}"
            yield Finding(reason=reason, message=message, blocks="membership", degraded=True)
            return


def _pods(group: ComputeNodeGroup, observed: Observed) -> Iterator[Finding]:
    """One pod speaks for all: they have the same template."""
    for pod in pods_of(group, observed).values():
        for state in (pod.get("status") or {}).get("containerStatuses") or ():
            finding = _container(pod, state)
            if finding is not None:
                yield finding
                return


def _container(pod: Raw, state: Raw) -> Finding | None:
    name = pod["metadata"]["name"]
    waiting = (state.get("state") or {}).get("waiting") or {}
    ended = (state.get("lastState") or {}).get("terminated") or (state.get("state") or {}).get("terminated") or {}
    said = f"{waiting.get('message', '')} {ended.get('message', '')}".strip()
    if any(phrase in said.lower() for phrase in NO_SCRIPT):
        return Finding(
            reason="StartScriptMissing",
            message=f"Pod {name} cannot start its command ({said[:300]}): correct spec.command, an absolute path in "
            "cnImage such as /opt/starrocks/cn/bin/start_cn.sh.",
            degraded=True,
        )
    if waiting.get("reason") in ("ErrImagePull", "ImagePullBackOff", "InvalidImageName"):
        message = f"Pod {name} does not get its image: correct spec.cnImage ({said[:300]})."
        return Finding(reason="ImageUnavailable", message=message, degraded=True)
    if int(state.get("restartCount") or 0) >= RESTARTS and not state.get("ready"):
        return Finding(
            reason="ComputeNodesUnhealthy",
            message=f"Pod {name} was restarted {state['restartCount']} times and is not healthy: see its log, and "
            "check spec.command and cn.conf (the probe asks webserver_port for /api/health).",
            degraded=True,
        )
    return None
