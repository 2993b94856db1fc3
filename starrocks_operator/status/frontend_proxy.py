"""The frontend proxy as its Deployment and its pods show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starrocks_operator.components import FE_PROXY
from starrocks_operator.membership import Pod
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.metadata import selector
from starrocks_operator.objects.names import external_service_name, proxy_name
from starrocks_operator.observed import Children, Raw
from starrocks_operator.status.standing import Standing, told


@dataclass(frozen=True, kw_only=True)
class Proxy(Standing):
    """Its pods serve without being anybody's members."""

    @property
    def phase(self) -> str:
        if self.failed:
            return "failed"
        return "reconciling" if self.reason else "running"

    @property
    def reason(self) -> str:
        """Why it is not running, in a sentence; empty if it is."""
        if self.failed:
            return self.trouble
        if not self.present:
            return "it has no Deployment yet"
        if len(self.ready) < self.wanted:
            return f"{len(self.ready)} pods of {self.wanted} are ready"
        return "" if self.rolled_out else "pods are being replaced by new ones"


def proxy_of(cluster: StarRocksCluster, children: Children) -> Proxy | None:
    """None: the spec has none."""
    spec = cluster.spec.fe_proxy
    if spec is None:
        return None
    live = children.get("Deployment", proxy_name(cluster))
    wanted = selector(cluster, FE_PROXY.name).items()
    own = (raw for raw in children.of_kind("Pod") if wanted <= (raw["metadata"].get("labels") or {}).items())
    return Proxy(
        wanted=spec.replicas,
        present=live is not None,
        rolled_out=live is not None and _rolled_out(live),
        pods=tuple(Pod.of(raw) for raw in own),
    )


def _rolled_out(live: Raw) -> bool:
    status, replicas = live.get("status") or {}, (live.get("spec") or {}).get("replicas", 1)
    noted = status.get("observedGeneration", 0) >= live["metadata"].get("generation", 0)
    return bool(noted and status.get("updatedReplicas", 0) == status.get("replicas", 0) == replicas)


def proxy_status(proxy: Proxy | None, cluster: StarRocksCluster) -> dict[str, Any]:
    """starRocksFeProxyStatus; empty without a proxy."""
    if proxy is None:
        return {}
    status: dict[str, Any] = {
        "phase": proxy.phase,
        "reason": proxy.reason,
        "serviceName": external_service_name(cluster, FE_PROXY.name),
        "resourceNames": [proxy_name(cluster)] if proxy.present else [],
        **proxy.instances,
    }
    return told(status)
