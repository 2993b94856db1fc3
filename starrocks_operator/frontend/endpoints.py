"""Where each frontend is asked, and as whom.

Every frontend is asked by itself, at its pod's address: a Service may lead to any of them, also to one that founded
a cluster of its own. The host name is kept beside the address, for TLS and for telling rows apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from starrocks_operator.components import COMPONENTS, FE
from starrocks_operator.frontend.tls import Tls
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.configuration import port_of
from starrocks_operator.objects.metadata import COMPONENT_LABEL
from starrocks_operator.objects.names import CLUSTER_DOMAIN
from starrocks_operator.observed import Children, Login


@dataclass(frozen=True, kw_only=True, order=True)
class Endpoint:
    """One frontend's SQL port."""

    pod: str
    host: str
    address: str
    port: int


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """The account that the operator uses. The password is never part of a text made from this.

    others: tried in this order, each only if those before it were refused for a wrong password.
    edition: where all these come from, with versions; empty: no account is kept of refusals.
    """

    user: str = "root"
    password: str = field(default="", repr=False)
    login: Login = Login.GIVEN
    others: tuple[Credentials, ...] = ()
    edition: str = ""
    tls: Tls = field(default_factory=Tls)

    def only(self, login: str) -> Credentials | None:
        """The one of them with this name, alone; None: there is none."""
        for one in (self, *self.others):
            if one.login == login:
                return replace(one, others=(), edition="", tls=self.tls)
        return None


def endpoints(
    cluster: StarRocksCluster, children: Children, properties: Mapping[str, str] | None = None
) -> tuple[Endpoint, ...]:
    """The frontends that can be asked: pods that have an address and are not on their way out, by ordinal; then the
    observers, which do not lead, but have views, blacklists and cluster ids as the others do.

    properties: fe.conf, for the query port. A warehouse has none of its own: those of its cluster.
    """
    port = port_of(FE, "query", properties or {})
    groups = (component.name for component in COMPONENTS.values() if component.process == "fe")
    return tuple(endpoint for group in groups for endpoint in _endpoints(cluster, children, group, port))


def _endpoints(cluster: StarRocksCluster, children: Children, group: str, port: int) -> tuple[Endpoint, ...]:
    name = f"{cluster.frontends_of}-{group}"
    workload = children.get("StatefulSet", name)
    service = ((workload or {}).get("spec") or {}).get("serviceName") or f"{name}-search"
    prefix = f"{name}-"
    found: list[tuple[int, Endpoint]] = []
    for pod in children.of_kind("Pod"):
        metadata, status = pod["metadata"], pod.get("status") or {}
        ordinal = metadata["name"].removeprefix(prefix)
        if (
            (metadata.get("labels") or {}).get(COMPONENT_LABEL) != group
            or not metadata["name"].startswith(prefix)
            or not (ordinal.isascii() and ordinal.isdecimal())
            or metadata.get("deletionTimestamp")
            or not status.get("podIP")
            or status.get("phase") != "Running"
        ):
            continue
        host = f"{metadata['name']}.{service}.{cluster.namespace}.svc.{CLUSTER_DOMAIN}"
        found.append((int(ordinal), Endpoint(pod=metadata["name"], host=host, address=status["podIP"], port=port)))
    return tuple(endpoint for _, endpoint in sorted(found))
