"""What a person should know of annotations that concern the inside of pods: which are debugged, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator

from starrocks_operator.decision import Context, Finding
from starrocks_operator.membership import Pod
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.debugging import DEBUG, can_be_debugged, names_in, not_understood
from starrocks_operator.objects.host_sysctls import ANNOTATION, HostSysctlError, wishes
from starrocks_operator.observed import Observed


def pod_findings(cluster: StarRocksCluster, observed: Observed, context: Context) -> tuple[Finding, ...]:
    """What the annotations that concern the inside of pods come to."""
    return (*_debugged(cluster, observed, context), *_host_sysctls(cluster, context))


def _debugged(cluster: StarRocksCluster, observed: Observed, context: Context) -> Iterator[Finding]:
    if strange := not_understood(cluster):
        yield Finding(
            reason="DebugUnknown",
            message=f"The annotation {DEBUG} names {strange[0][:60]!r}, which is no pod of this cluster. It names pods "
            'like this: "fe-1,be-0".',
            remark=True,
        )
    asked = sorted(names_in(context.debugged))
    pods = {name: observed.children.get("Pod", name) for name in asked}
    unable = [name for name, pod in pods.items() if pod is not None and not can_be_debugged(pod)]
    if unable:
        yield Finding(
            reason="DebugUnavailable",
            message=f"{', '.join(unable)} cannot be debugged: made from a pod template that does not know of it (that "
            "of profile upstream, or of an older release of the operator). It is excluded from rolling changes, and "
            "nothing else.",
            remark=True,
        )
    if able := [name for name in asked if name not in unable]:
        down = [name for name, pod in pods.items() if name in able and pod is not None and not Pod.of(pod).ready]
        yield Finding(
            reason="PodsDebugged",
            message=f"Debugged, as the annotation {DEBUG} asks: {', '.join(able)}. From its next start on such a "
            "container stays up without its process, and its pod is excluded from rolling changes. Take the name out "
            "of the annotation when you are done.",
            remark=not down,
        )


def _host_sysctls(cluster: StarRocksCluster, context: Context) -> Iterator[Finding]:
    text = cluster.annotations.get(ANNOTATION, "")
    if not text.strip():
        return
    problem = "profile upstream does not have it." if context.profile == "upstream" else ""
    try:
        wishes(text)
    except HostSysctlError as error:
        problem = str(error)
    if problem:
        yield Finding(
            reason="HostSysctlsRefused",
            message=f"The annotation {ANNOTATION} is not followed, and what is in force stays: {problem}",
            remark=True,
        )
