"""Rules about one component: image, resources, and words that must be one of a few."""

from starrocks_operator.model.rules.judges import is_positive_count, matches, must, wrong_resource
from starrocks_operator.model.rules.rule import Rule
from starrocks_operator.model.rules.shapes import cel_string, choice, subdomain

_NO_RESOURCE = (
    "!(k in ['cpu', 'memory', 'ephemeral-storage', 'storage'] || k.startsWith('hugepages-') || k.contains('/'))"
)
_RESOLVER = r"^[A-Za-z0-9][-A-Za-z0-9.:=\[\] ]*$"  # it stands in a file of nginx, where a `;` would begin a new order


RULES: tuple[Rule, ...] = (
    Rule(
        name="image",
        at="spec.{component}",
        cel="has(self.image) && self.image != ''",
        message="image is missing: name the container image, e.g. starrocks/fe-ubuntu:3.3.0",
        judge=must(lambda component: bool(component.get("image"))),
        spares_old=True,
    ),
    *(
        Rule(
            name="resource-name",
            at=f"spec.{{group}}.{field}",
            cel=f"!self.exists(k, {_NO_RESOURCE})",
            culprit=f"self.map(k, k).filter(k, {_NO_RESOURCE})[0]",
            message="'{culprit}' is no resource name: write memory, cpu, ephemeral-storage, or a name with a '/'",
            judge=wrong_resource,
        )
        for field in ("requests", "limits")
    ),
    subdomain(
        name="service-account",
        at="spec.{workload}.serviceAccount",
        message="no ServiceAccount can have this name: use lower-case letters, digits and '-', e.g. starrocks-account",
    ),
    Rule(
        name="resolver",
        at="spec.starRocksFeProxySpec.resolver",
        cel=f"self == '' || self.matches({cel_string(_RESOLVER)})",
        message="is no name server: give an address or a name, e.g. 10.96.0.10 or "
        "kube-dns.kube-system.svc.cluster.local",
        judge=lambda text: None if text == "" else matches(_RESOLVER)(text),
    ),
    choice(
        name="image-pull-policy",
        at="spec.{workload}.imagePullPolicy",
        choices=("Always", "IfNotPresent", "Never"),
    ),
    choice(
        name="pod-management-policy",
        at="spec.{component}.podManagementPolicy",
        choices=("Parallel", "OrderedReady"),
    ),
    Rule(
        name="max-unavailable",
        at="spec.{component}.updateStrategy.rollingUpdate.maxUnavailable",
        cel="type(self) == int ? self >= 1 : !string(self).startsWith('0')",
        message="a rolling update in which no pod may be unavailable never moves: use at least 1",
        judge=must(is_positive_count),
    ),
)
