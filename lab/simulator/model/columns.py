"""The columns of every SHOW, in FE's order. Readers go by name: order and number differ by version."""

from __future__ import annotations

from lab.simulator.model.facts import Component
from lab.simulator.model.version import Features


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_FRONTENDS = _names(
    """
    Id Name IP EditLogPort HttpPort QueryPort RpcPort Role ClusterId Join Alive ReplayedJournalId LastHeartbeat IsHelper
    ErrMsg StartTime Version
    """
)
_BACKENDS = _names(
    """
    BackendId IP HeartbeatPort BePort HttpPort BrpcPort LastStartTime LastHeartbeat Alive SystemDecommissioned
    ClusterDecommissioned TabletNum DataUsedCapacity AvailCapacity TotalCapacity UsedPct MaxDiskUsedPct ErrMsg Version
    Status DataTotalCapacity DataUsedPct CpuCores MemLimit NumRunningQueries MemUsedPct CpuUsedPct DataCacheMetrics
    Location StatusCode
    """
)
_COMPUTE_NODES = _names(
    """
    ComputeNodeId IP HeartbeatPort BePort HttpPort BrpcPort LastStartTime LastHeartbeat Alive SystemDecommissioned
    ClusterDecommissioned ErrMsg Version CpuCores MemLimit NumRunningQueries MemUsedPct CpuUsedPct DataCacheMetrics
    HasStoragePath StatusCode
    """
)
STATISTIC = _names(
    """
    DbId DbName TableNum PartitionNum IndexNum TabletNum ReplicaNum UnhealthyTabletNum InconsistentTabletNum
    CloningTabletNum ErrorStateTabletNum
    """
)
_SINCE_3_3 = {"MemLimit", "DataCacheMetrics", "Location"}


def frontends(features: Features) -> tuple[str, ...]:
    return (*(_FRONTENDS if features.frontend_id else _FRONTENDS[1:]), *features.extra_columns)


def nodes(kind: Component, features: Features, *, shared_data: bool) -> tuple[str, ...]:
    absent = set() if features.mem_limit else set(_SINCE_3_3)
    if not features.status_code:
        absent.add("StatusCode")
    columns = [name for name in (_BACKENDS if kind is Component.BE else _COMPUTE_NODES) if name not in absent]
    if shared_data:
        columns += ["StarletPort", "WorkerId", "WarehouseName"]
        columns += ["TabletNum"] if kind is Component.CN else []
    return (*columns, *features.extra_columns)
