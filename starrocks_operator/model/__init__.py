"""The typed StarRocksCluster: parsing, its rules, and the CRDs generated from it."""

from starrocks_operator.model.autoscaling import AutoScalingPolicy, HPAPolicy
from starrocks_operator.model.cluster import (
    COMPONENT_NAMES,
    GROUP,
    KIND,
    PLURAL,
    VERSION,
    ComponentName,
    Key,
    MalformedClusterError,
    Metadata,
    StarRocksCluster,
    StarRocksClusterSpec,
)
from starrocks_operator.model.component import (
    BackendSpec,
    ComponentSpec,
    ComputeNodeSpec,
    FrontendProxySpec,
    FrontendSpec,
    LoadSpec,
)
from starrocks_operator.model.observers import FrontendObserverSpec
from starrocks_operator.model.resource import parse
from starrocks_operator.model.service import ServicePort, ServiceSpec
from starrocks_operator.model.status import (
    Bootstrap,
    ComponentStatus,
    ComputeNodeStatus,
    Condition,
    HorizontalScaler,
    Member,
    NextStep,
    Reconcile,
    StarRocksClusterStatus,
)
from starrocks_operator.model.volumes import ConfigMapInfo, HostPath, MountInfo, StorageVolume
from starrocks_operator.model.warehouse import WAREHOUSE_KIND, WAREHOUSE_PLURAL, Warehouse

__all__ = [
    "COMPONENT_NAMES",
    "GROUP",
    "KIND",
    "PLURAL",
    "VERSION",
    "WAREHOUSE_KIND",
    "WAREHOUSE_PLURAL",
    "AutoScalingPolicy",
    "BackendSpec",
    "Bootstrap",
    "ComponentName",
    "ComponentSpec",
    "ComponentStatus",
    "ComputeNodeSpec",
    "ComputeNodeStatus",
    "Condition",
    "ConfigMapInfo",
    "FrontendObserverSpec",
    "FrontendProxySpec",
    "FrontendSpec",
    "HPAPolicy",
    "HorizontalScaler",
    "HostPath",
    "Key",
    "LoadSpec",
    "MalformedClusterError",
    "Member",
    "Metadata",
    "MountInfo",
    "NextStep",
    "Reconcile",
    "ServicePort",
    "ServiceSpec",
    "StarRocksCluster",
    "StarRocksClusterSpec",
    "StarRocksClusterStatus",
    "StorageVolume",
    "Warehouse",
    "parse",
]
