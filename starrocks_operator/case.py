"""Everything worked out about one cluster before anything is decided, put together once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from starrocks_operator.config import Online, Settled, effective, kept_context, online_of, settled_of
from starrocks_operator.decision import Context, Customs
from starrocks_operator.membership import Founding, founding_of
from starrocks_operator.model import StarRocksCluster
from starrocks_operator.objects.names import marker_name
from starrocks_operator.observed import Observed, Outcome
from starrocks_operator.resolve import Workloads, context_of, workloads_of
from starrocks_operator.rollout import Course, Roll
from starrocks_operator.volumes import Growth


@dataclass(frozen=True, kw_only=True)
class Case:
    """context: of all components, whether or not they are held. settled, online: of configuration. disks: of volumes.
    rolls, course: of pods that are replaced."""

    cluster: StarRocksCluster
    observed: Observed
    workloads: Workloads
    founding: Founding
    context: Context
    settled: Mapping[str, Settled]
    online: Online
    disks: Growth = field(default_factory=Growth)
    rolls: Mapping[str, Roll] = field(default_factory=dict)
    course: Course = field(default_factory=Course)

    @property
    def may_be_founded(self) -> bool:
        """Whether there may be a cluster that has something to lose: what is not understood counts as founded."""
        if self.founding.cluster_id:
            return True
        view = self.observed.view
        if view is not None and any(answer.outcome != Outcome.REFUSED for answer in view.answers):
            return True
        return self.observed.children.get("ConfigMap", marker_name(self.cluster)) is None


def case_of(
    cluster: StarRocksCluster, observed: Observed, *, default_profile: str, domain: str, customs: Customs
) -> Case:
    workloads = workloads_of(cluster, observed.children)
    settled = settled_of(cluster, observed.children, observed.configurations)
    observed = replace(observed, configurations=effective(observed.configurations, settled))
    founding = founding_of(cluster, observed.children, observed.view)
    context = context_of(
        cluster,
        observed,
        workloads,
        cluster_id=founding.cluster_id,
        default_profile=default_profile,
        domain=domain,
        customs=customs,
        settled=settled,
    )
    online = online_of(cluster, observed, context, settled, workloads)
    return Case(
        cluster=cluster,
        observed=observed,
        workloads=workloads,
        founding=founding,
        context=kept_context(context, online),
        settled=settled,
        online=online,
    )
