"""Whose host is it? FE knows members by host name; we know pods. This tells which of our pods a host is, if any.

Only the first three DNS labels count (`<pod>.<service>.<namespace>`), compared as whole labels: the cluster domain
differs between installations, and cluster `a` must never mistake a node of cluster `a-b` for its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address

from starrocks_operator.objects.names import CLUSTER_DOMAIN


@dataclass(frozen=True, kw_only=True)
class Group:
    """The pods of one StatefulSet: all that is needed to name their hosts."""

    namespace: str
    stateful_set: str
    service: str

    def pod(self, ordinal: int) -> str:
        return f"{self.stateful_set}-{ordinal}"

    def host(self, ordinal: int, *, domain: str = CLUSTER_DOMAIN) -> str:
        return f"{self.pod(ordinal)}.{self.service}.{self.namespace}.svc.{domain}"

    def ordinal_of_pod(self, pod: str) -> int | None:
        """The ordinal of a pod of this group, as an integer; None for any other name."""
        prefix, dash, digits = pod.rpartition("-")
        if not dash or prefix != self.stateful_set or not digits.isascii() or not digits.isdecimal():
            return None
        ordinal = int(digits)
        return ordinal if digits == str(ordinal) else None

    def ordinal_of_host(self, host: str) -> int | None:
        """The ordinal of the pod that has this host name; None for a host that is not of this group."""
        labels = host.lower().rstrip(".").split(".")
        if len(labels) < 3 or labels[1:3] != [self.service, self.namespace]:
            return None
        return self.ordinal_of_pod(labels[0])

    def domain_of_host(self, host: str) -> str | None:
        """The cluster domain in a host name of this group, if it is one and has a domain."""
        if self.ordinal_of_host(host) is None:
            return None
        labels = host.lower().rstrip(".").split(".")
        return ".".join(labels[4:]) if len(labels) > 4 and labels[3] == "svc" else None


def is_address(host: str) -> bool:
    """Whether a member is known by an address: when its pod is gone, nothing tells whose it was."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
