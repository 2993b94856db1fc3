"""The HorizontalPodAutoscaler of compute nodes. It scales the resource itself, by its scale subresource."""

from __future__ import annotations

from typing import Any

from starrocks_operator.model import AutoScalingPolicy, StarRocksCluster
from starrocks_operator.objects.metadata import Object, kind_of, labels, make_object, without_empty
from starrocks_operator.objects.names import autoscaler_name

_WITHOUT_METRICS = "v1"  # autoscaling/v1 knows none, and manifests that ask for it never got any


def autoscaler(cluster: StarRocksCluster, policy: AutoScalingPolicy) -> Object:
    content: dict[str, Any] = {
        "scaleTargetRef": {**kind_of(cluster), "name": cluster.resource_name},
        "minReplicas": policy.min_replicas,
        "maxReplicas": policy.max_replicas,
    }
    if policy.hpa_policy is not None and policy.version != _WITHOUT_METRICS:
        content["metrics"] = list(policy.hpa_policy.metrics)
        content["behavior"] = policy.hpa_policy.behavior
    return make_object(
        cluster,
        api_version="autoscaling/v2",
        kind="HorizontalPodAutoscaler",
        name=autoscaler_name(cluster),
        labels=labels(cluster, "autoscaler"),
        spec=without_empty(content),
    )
