"""Names of the objects of a cluster. Existing clusters have these names, so they never change."""

from __future__ import annotations

from starrocks_operator.model import StarRocksCluster

CLUSTER_DOMAIN = "cluster.local"


def stateful_set_name(cluster: StarRocksCluster, component: str) -> str:
    return f"{cluster.metadata.name}-{component}"


def headless_service_name(cluster: StarRocksCluster, component: str) -> str:
    return f"{cluster.metadata.name}-{component}-search"


def external_service_name(cluster: StarRocksCluster, component: str) -> str:
    return f"{cluster.metadata.name}-{component}-service"


def autoscaler_name(cluster: StarRocksCluster) -> str:
    return f"{cluster.metadata.name}-cn-autoscaler"


def proxy_name(cluster: StarRocksCluster) -> str:
    """The Deployment of the frontend proxy, and the ConfigMap with its configuration."""
    return f"{cluster.metadata.name}-fe-proxy"


def marker_name(cluster: StarRocksCluster) -> str:
    """The ConfigMap that remembers that the cluster was founded, and its id."""
    return f"{cluster.metadata.name}-fe-bootstrap"


def scripts_name(cluster: StarRocksCluster, component: str, digest: str) -> str:
    """The ConfigMap with the scripts that run inside of pods; digest: of what they are."""
    return f"{stateful_set_name(cluster, component)}-scripts-{digest}"


def debug_name(cluster: StarRocksCluster, component: str) -> str:
    """The ConfigMap that names the pods that their owner debugs."""
    return f"{stateful_set_name(cluster, component)}-debug"


def former_name(cluster: StarRocksCluster, component: str) -> str:
    """The ConfigMap that keeps a StatefulSet while it is made anew."""
    return f"{stateful_set_name(cluster, component)}-former"


def disruption_budget_name(cluster: StarRocksCluster, component: str) -> str:
    return f"{cluster.metadata.name}-{component}"


def pod_name(cluster: StarRocksCluster, component: str, ordinal: int) -> str:
    return f"{stateful_set_name(cluster, component)}-{ordinal}"


def member_host(
    cluster: StarRocksCluster, component: str, ordinal: int, *, service: str = "", domain: str = CLUSTER_DOMAIN
) -> str:
    """The name by which FE knows the member: what `hostname -f` says in its pod.

    service: the governing Service, if an adopted StatefulSet has another than ours.
    """
    governing = service or headless_service_name(cluster, component)
    return f"{pod_name(cluster, component, ordinal)}.{governing}.{cluster.metadata.namespace}.svc.{domain}"


def same_member(host: str, other: str) -> bool:
    """Whether two hosts name the same pod: pod, service and namespace agree, whatever the DNS domain is."""
    return host.lower().split(".")[:3] == other.lower().split(".")[:3]
