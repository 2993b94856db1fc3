"""Rules about the external Service: ports and how it is reached."""

from starrocks_operator.model.rules.judges import exposes_traffic_policy, is_port, must
from starrocks_operator.model.rules.rule import Rule
from starrocks_operator.model.rules.shapes import choice, duplicate

_SERVICE = "spec.{workload}.service"
_PORTS = f"{_SERVICE}.ports"
_REACHED = "spec.{group}.service"

RULES: tuple[Rule, ...] = (
    *(
        Rule(
            name="port",
            at=f"{_PORTS}[].{field}",
            cel="self >= 1 && self <= 65535",
            message="is no port: use a number from 1 to 65535",
            judge=must(is_port),
        )
        for field in ("port", "containerPort", "nodePort")
    ),
    *(
        duplicate(
            name=f"duplicate-{field}",
            at=_PORTS,
            key=field,
            message=f"two ports have the same {field}: give each one of its own",
        )
        for field in ("name", "port", "containerPort", "nodePort")
    ),
    choice(name="service-type", at=f"{_REACHED}.type", choices=("ClusterIP", "NodePort", "LoadBalancer")),
    choice(
        name="traffic-policy",
        at=f"{_REACHED}.externalTrafficPolicy",
        choices=("Cluster", "Local"),
    ),
    Rule(
        name="traffic-policy-type",
        at=_REACHED,
        cel="!has(self.externalTrafficPolicy) || self.externalTrafficPolicy == '' || "
        "has(self.type) && self.type in ['NodePort', 'LoadBalancer']",
        message="externalTrafficPolicy is only for types NodePort and LoadBalancer: remove it, or set the type",
        judge=must(exposes_traffic_policy),
    ),
)
