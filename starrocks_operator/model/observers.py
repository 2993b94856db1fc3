"""What can be said about observers: how many, and in what they differ from the other frontends.

An observer is a frontend without a vote. Image, configuration file, password and volumes are those of
starRocksFeSpec, so that the two can never drift apart: frontends of different releases or ports do not work together.
Only what may well differ can be said here, which also keeps the CRD small enough to apply.
"""

from pydantic import Field

from starrocks_operator.model import kubernetes as k8s
from starrocks_operator.model.base import MAX_ITEMS, Keywords, Model
from starrocks_operator.model.component import NUMBER_OF_PODS, FrontendSpec
from starrocks_operator.model.kubernetes import Int32, QuantityMap, StringMap
from starrocks_operator.model.service import ServiceExposure, ServiceSpec

_RESOURCES: Keywords = {"maxProperties": MAX_ITEMS}


class FrontendObserverSpec(Model):
    """Observers: frontends without a vote, for more queries. What is not said is as in starRocksFeSpec."""

    replicas: Int32 = Field(1, json_schema_extra=NUMBER_OF_PODS)
    """How many; any number, also 0."""
    requests: QuantityMap = Field(default_factory=dict, json_schema_extra=_RESOURCES)
    """Resources requested."""
    limits: QuantityMap = Field(default_factory=dict, json_schema_extra=_RESOURCES)
    """Resource limits."""
    env_vars: tuple[k8s.EnvVar, ...] = Field((), alias="feEnvVars")
    """Environment beside that of starRocksFeSpec."""
    annotations: StringMap = Field(default_factory=dict)
    """Annotations of the pods."""
    pod_labels: StringMap = Field(default_factory=dict)
    """Further labels of the pods."""
    node_selector: StringMap = Field(default_factory=dict, json_schema_extra={"x-kubernetes-map-type": "atomic"})
    """Labels a node must have."""
    affinity: k8s.Affinity | None = None
    """Affinity of the pods."""
    tolerations: tuple[k8s.Toleration, ...] = ()
    """Taints the pods tolerate."""
    topology_spread_constraints: tuple[k8s.TopologySpreadConstraint, ...] = ()
    """How the pods spread over zones and nodes."""
    service: ServiceExposure | None = None
    """The external Service `<cluster>-fe-observer-service`; absent: a ClusterIP."""

    def like(self, frontends: FrontendSpec) -> FrontendSpec:
        """The whole spec of the observers' pods.

        A command of starRocksFeSpec is not taken over: only the operator's own start script is known to never found a
        cluster. Nor is its Service, whose address and node ports are its own.
        """
        said = {name: getattr(self, name) for name in self.model_fields_set}
        own = said | {
            "replicas": self.replicas,
            "env_vars": (*frontends.env_vars, *self.env_vars),
            "service": self._service(frontends.service or ServiceSpec()),
            "command": (),
            "args": (),
        }
        return frontends.model_copy(update=own)

    def _service(self, frontends: ServiceSpec) -> ServiceSpec:
        """Of the frontends' Service only what observers and frontends must agree in: the protocol they speak."""
        own = self.service or ServiceExposure()
        families = {
            "ip_families": own.ip_families or frontends.ip_families,
            "ip_family_policy": own.ip_family_policy or frontends.ip_family_policy,
        }
        return ServiceSpec(**dict(own) | families)
