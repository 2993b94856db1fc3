"""Users' own configuration files, which change in place: whether pods are restarted for that, or a person is told.

`restart`: the hash of the text goes into the pod template, and pods are replaced as for any other change. `manual`:
the template stays, and it is said which pods still run with an older text. With profile upstream, and where somebody
else puts a hash into the pods' annotations (the official Helm chart does), `manual` is what is done unless told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from starrocks_operator.components import COMPONENTS
from starrocks_operator.config.settled import Settled
from starrocks_operator.decision import Finding
from starrocks_operator.membership import Pod
from starrocks_operator.membership.pods import instant
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.names import stateful_set_name

POLICY = "starrocks.com/config-change"
RESTART, MANUAL = "restart", "manual"
_OTHERS_HASH = "-config-hash"


def policy_of(cluster: StarRocksCluster, component: str, profile: str) -> str:
    """restart or manual."""
    asked = cluster.annotations.get(POLICY, "")
    if asked in (RESTART, MANUAL):
        return asked
    spec = {str(name): each for name, each in cluster.spec.components.items()}.get(component)
    hashed = spec is not None and any(name.endswith(_OTHERS_HASH) for name in spec.annotations)
    return MANUAL if profile == "upstream" or hashed else RESTART


def by_policy(cluster: StarRocksCluster, found: Mapping[str, Settled], profile: str) -> dict[str, Settled]:
    """Nothing is taken over into a template by itself where a person restarts."""
    return {
        name: replace(one, now=one.in_force) if policy_of(cluster, name, profile) == MANUAL else one
        for name, one in found.items()
    }


def file_findings(
    cluster: StarRocksCluster, found: Mapping[str, Settled], pods: Mapping[str, Pod], profile: str
) -> Iterator[Finding]:
    """What is to be restarted by hand, and a policy that there is not."""
    asked = cluster.annotations.get(POLICY)
    if asked is not None and asked not in (RESTART, MANUAL):
        yield Finding(
            reason="UnknownConfigChange",
            message=f"The annotation {POLICY} is {asked[:40]!r}; it may be {RESTART} or {MANUAL}. It is ignored.",
            remark=True,
        )
    for name, one in found.items():
        if one.latest in ("", one.in_force) or one.refusal or policy_of(cluster, name, profile) != MANUAL:
            continue
        if older := _older(cluster, name, one, pods):
            yield Finding(
                reason="RestartPending",
                message=f"The configuration file of the {COMPONENTS[name].title}s was changed, and pods are not "
                f"restarted for that ({MANUAL}): {', '.join(older)} may still run with what it said before. Restart "
                f"them, or set the annotation {POLICY}: {RESTART}.",
                remark=True,
            )


def _older(cluster: StarRocksCluster, name: str, one: Settled, pods: Mapping[str, Pod]) -> list[str]:
    """Pods whose process began before the file was changed."""
    prefix, changed = f"{stateful_set_name(cluster, name)}-", instant(one.changed)
    mine = [pod for pod in pods.values() if pod.name.startswith(prefix) and pod.name.removeprefix(prefix).isdecimal()]
    return sorted(
        pod.name for pod in mine if changed is None or pod.running_since is None or pod.running_since <= changed
    )
