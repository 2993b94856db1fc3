"""The kinds that are watched: where they live in the API, and which of them are of interest."""

from __future__ import annotations

from dataclasses import dataclass

from starrocks_operator.model import GROUP, KIND, PLURAL, VERSION, WAREHOUSE_KIND, WAREHOUSE_PLURAL
from watcher.keys import OWNER_LABEL


@dataclass(frozen=True)
class Watched:
    """A kind, and the label that its objects must carry (empty: all of them)."""

    group: str
    version: str
    plural: str
    kind: str
    selector: str = OWNER_LABEL

    def path(self, namespace: str = "") -> str:
        """The collection: of one namespace, or of all."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        return f"{root}/namespaces/{namespace}/{self.plural}" if namespace else f"{root}/{self.plural}"


CLUSTER = Watched(GROUP, VERSION, PLURAL, KIND, selector="")
WAREHOUSE = Watched(GROUP, VERSION, WAREHOUSE_PLURAL, WAREHOUSE_KIND, selector="")
CHILDREN = (
    Watched("apps", "v1", "statefulsets", "StatefulSet"),
    Watched("apps", "v1", "deployments", "Deployment"),
    Watched("", "v1", "pods", "Pod"),
    Watched("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim"),
    Watched("", "v1", "services", "Service"),
    Watched("", "v1", "configmaps", "ConfigMap"),
    Watched("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler"),
    Watched("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"),
)
