"""Autoscaling of compute nodes: what goes into the HorizontalPodAutoscaler."""

from pydantic import Field

from starrocks_operator.model.base import MAX_ITEMS, Model
from starrocks_operator.model.kubernetes import HPABehavior, Int32, MetricSpec


class HPAPolicy(Model):
    """Metrics and behaviour, as in autoscaling/v2."""

    metrics: tuple[MetricSpec, ...] = Field((), json_schema_extra={"maxItems": MAX_ITEMS})
    """What to scale on."""
    behavior: HPABehavior | None = None
    """How fast to scale up and down."""


class AutoScalingPolicy(Model):
    """With it, the number of compute nodes is the HorizontalPodAutoscaler's, not the manifest's."""

    max_replicas: Int32
    """Most compute nodes."""
    min_replicas: Int32 | None = None
    """Fewest compute nodes; absent: 1."""
    version: str = Field("", json_schema_extra={"maxLength": 16})
    """Version of the autoscaling API asked for by older manifests: v1, v2beta2 or v2. The server's own is used."""
    hpa_policy: HPAPolicy | None = None
    """Metrics and behaviour; absent: Kubernetes' default, 80 % of the requested CPU."""
