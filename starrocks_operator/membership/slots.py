"""Our places in the cluster: each ordinal of a StatefulSet with its pod, and with the rows by which FE knows it.

Rows that belong to no slot are foreign: nodes that somebody else runs. They are counted in the quorum and otherwise
left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Generic, Protocol, TypeVar

from starrocks_operator.membership.hosts import Group
from starrocks_operator.membership.pods import Pod
from starrocks_operator.objects.names import CLUSTER_DOMAIN


class Row(Protocol):
    """What rows of frontends, backends and compute nodes have in common."""

    @property
    def host(self) -> str: ...
    @property
    def alive(self) -> bool: ...


R = TypeVar("R", bound=Row)

DEFAULT_GRACE = timedelta(seconds=15)
"""How long a running pod may take to register itself before the operator does it."""


@dataclass(frozen=True, kw_only=True)
class Slot(Generic[R]):
    """One ordinal of one component.

    host, port: what it is registered as, or would be.
    wanted: whether the ordinal is within the replicas that the spec asks for.
    placed: whether it is within those that the StatefulSet has, so that Kubernetes keeps a pod for it.
    rows: FE's rows for it: normally none or one.
    """

    component: str
    ordinal: int
    name: str
    host: str
    port: int
    wanted: bool
    placed: bool = True
    pod: Pod | None = None
    rows: tuple[R, ...] = ()

    @property
    def row(self) -> R | None:
        return self.rows[0] if self.rows else None

    @property
    def target(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def runs(self) -> bool:
        """Whether its pod's main container runs."""
        return self.pod is not None and self.pod.running_since is not None

    def overdue(self, now: datetime, *, grace: timedelta, since: datetime | None) -> bool:
        """Whether its pod has run long enough, with a cluster to join, to have registered itself; or never will."""
        if self.pod is None or self.pod.running_since is None or since is None:
            return False
        if not self.pod.registers_itself:
            return True
        return now - max(self.pod.running_since, since) >= grace

    @property
    def pod_words(self) -> str:
        """The state of the pod, as the second half of a sentence about the member."""
        if self.pod is None:
            return "its pod does not exist"
        return f"its pod {self.pod.trouble}" if self.pod.trouble else "its pod is ready"


@dataclass(frozen=True, kw_only=True)
class Roster(Generic[R]):
    """All slots of one component, by ordinal, and the rows that are not ours."""

    component: str
    slots: tuple[Slot[R], ...] = ()
    foreign: tuple[R, ...] = field(default=())
    live: int = 0  # the replicas that its StatefulSet has

    @property
    def wanted(self) -> tuple[Slot[R], ...]:
        return tuple(slot for slot in self.slots if slot.wanted)

    @property
    def leaving(self) -> tuple[Slot[R], ...]:
        """Those that are no longer wanted, the highest ordinal first."""
        return tuple(slot for slot in reversed(self.slots) if not slot.wanted)


def roster(
    *,
    component: str,
    group: Group,
    replicas: int,
    port: int,
    pods: Mapping[str, Pod],
    rows: Iterable[R],
    domain: str = CLUSTER_DOMAIN,
    live: int | None = None,
) -> Roster[R]:
    """Bring ordinals, pods and rows together. A row known by address belongs to the pod that has the address.

    live: the replicas that the StatefulSet has; None: there is none yet.
    """
    live = live or 0
    own_pods = {o: pod for pod in pods.values() if (o := group.ordinal_of_pod(pod.name)) is not None}
    by_address = {pod.address: ordinal for ordinal, pod in own_pods.items() if pod.address}
    own_rows: dict[int, list[R]] = {}
    foreign: list[R] = []
    for row in rows:
        ordinal = group.ordinal_of_host(row.host)
        if ordinal is None:
            ordinal = by_address.get(row.host)
        if ordinal is None:
            foreign.append(row)
        else:
            own_rows.setdefault(ordinal, []).append(row)
    ordinals = sorted({*range(max(replicas, live)), *own_pods, *own_rows})
    slots = tuple(
        Slot(
            component=component,
            ordinal=ordinal,
            name=group.pod(ordinal),
            host=group.host(ordinal, domain=domain),
            port=port,
            wanted=ordinal < replicas,
            placed=ordinal < live,
            pod=own_pods.get(ordinal),
            rows=tuple(own_rows.get(ordinal, ())),
        )
        for ordinal in ordinals
    )
    return Roster(component=component, slots=slots, foreign=tuple(foreign), live=live)
